//! No number stands for an index unchecked, in random programs. Many more are tried by the example `indices`.

mod smuggling;

use smuggling::{Tally, check_share, try_seed};

#[test]
fn no_random_program_smuggles_an_index() {
    let mut tally = Tally::default();
    for seed in 0..600 {
        if let Err(why) = try_seed(seed, &mut tally) {
            panic!("{why}");
        }
    }
    check_share(&tally).unwrap_or_else(|why| panic!("{why}"));
}
