//! Derivatives of random programs keep their laws. Many more programs are judged by the example `derivatives`.

mod random;

use random::{Tally, check_share, judge_seed};

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
