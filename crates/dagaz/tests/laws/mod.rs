//! A test for each of several definitions: derivatives keep their laws.

mod judge;

use judge::{Place, Verdict, judge_source};

/// Checks all laws for a definition of `f`, a function from `[4]f64` to an array of `f64`.
pub fn check(definition: &str) {
    let place = Place { point: vec![0.7, -1.2, 0.3, 1.9], tangent: vec![0.5, 0.25, -1.0, 0.75] };
    match judge_source(definition, &place) {
        Verdict::Holds => {}
        Verdict::NotSmooth(why) | Verdict::Broken(why) => panic!("{why}"),
    }
}

/// A test for each definition.
#[macro_export]
macro_rules! laws {
    ($($name:ident: $definition:literal;)*) => {
        $(#[test]
        fn $name() {
            laws::check($definition);
        })*
    };
}
