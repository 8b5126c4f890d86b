//! Derivatives of random programs keep their laws. Many more programs are judged by the example `derivatives`.

mod random;

use random::{Tally, check_share, compare_machine_code, judge_seed};

/// Judges the programs of some seeds.
fn check(seeds: std::ops::Range<u64>) {
    let mut tally = Tally::default();
    for seed in seeds {
        judge_seed(seed, &mut tally).unwrap_or_else(|why| panic!("{why}"));
    }
    check_share(&tally).unwrap_or_else(|why| panic!("{why}"));
}

#[test]
fn programs_with_even_hundreds() {
    check(0..150);
}

#[test]
fn programs_with_odd_hundreds() {
    check(150..300);
}

/// Compares machine code with the interpreter, for the programs of ten seeds at a time.
fn check_machine_code(seeds: std::ops::Range<u64>) {
    for first in seeds.step_by(10) {
        let compared = compare_machine_code(first..first + 10, &["fwd", "rev"]);
        assert_eq!(compared.unwrap_or_else(|why| panic!("{why}")), 30);
    }
}

#[test]
fn machine_code_of_some_programs() {
    check_machine_code(1000..1050);
}

#[test]
fn machine_code_of_other_programs() {
    check_machine_code(1050..1100);
}
