//! A test for each of several definitions: derivatives keep their laws.

mod judge;
mod native;

use judge::{Place, Verdict, judge_source};

fn place() -> Place {
    Place { point: vec![0.7, -1.2, 0.3, 1.9], tangent: vec![0.5, 0.25, -1.0, 0.75] }
}

/// Checks all laws for a definition of `f`, a function from `[4]f64` to an array of `f64`.
pub fn check(definition: &str) {
    match judge_source(definition, &place()) {
        Verdict::Holds => {}
        Verdict::NotSmooth(why) | Verdict::Broken(why) => panic!("{why}"),
    }
}

/// Checks that machine code computes first derivatives of all of these, too. Definitions can use what is before them.
pub fn check_machine_code(before: &str, definitions: &[(&str, &str)]) {
    let owned = |(name, text): &(&str, &str)| ((*name).to_owned(), format!("{before}{text}"));
    let definitions: Vec<(String, String)> = definitions.iter().map(owned).collect();
    native::agree(&definitions, &["fwd", "rev"], &place()).unwrap_or_else(|why| panic!("{why}"));
}

/// A test for each definition, and one for the machine code of all.
#[macro_export]
macro_rules! laws {
    ($($name:ident: $definition:literal;)*) => {
        $(#[test]
        fn $name() {
            laws::check($definition);
        })*

        #[test]
        fn machine_code() {
            laws::check_machine_code("", &[$((stringify!($name), $definition)),*]);
        }
    };
}
