//! Random programs of Core give the same results on the interpreter, as machine code, and as bulk operations. Many more programs are compared by
//! the example `core_programs`.

mod random_core;

#[test]
fn machine_code_of_random_core() {
    let mut results = 0;
    for first in [0, 20] {
        results += random_core::compare(first..first + 20).unwrap_or_else(|why| panic!("{why}")).results;
    }
    assert!(results > 400, "only {results} results");
}

#[test]
fn bulk_operations_of_random_core() {
    let compared = random_core::bulk::compare(0..160).unwrap_or_else(|why| panic!("{why}"));
    assert!(compared.transformed >= 300, "{compared:#?}");
}
