//! No number stands for an index unchecked, in random programs. Many more are tried by the example `indices`.

mod smuggling;

use dagaz::Backend;
use smuggling::{Accepted, Tally, call, check_share, try_seed};

/// One in so many accepted programs is compiled.
const COMPILED: usize = 40;

#[test]
fn no_random_program_smuggles_an_index() {
    let mut tally = Tally::default();
    for seed in 0..600 {
        match try_seed(seed, &mut tally) {
            Ok(Some(program)) if tally.accepted % COMPILED == 0 => machine_code_agrees(&program),
            Ok(_) => {}
            Err(why) => panic!("{why}"),
        }
    }
    check_share(&tally).unwrap_or_else(|why| panic!("{why}"));
}

fn machine_code_agrees(program: &Accepted) {
    let compiled =
        dagaz::compile_source("smuggling.dz", &program.text).expect("a program that was compiled before");
    let mut session = compiled.session_on(Backend::C);
    for (args, expected) in &program.results {
        let found = call(&mut session, args).unwrap_or_else(|why| panic!("{why}\n{}", program.text));
        assert_eq!(&found, expected, "{args}\n{}", program.text);
    }
}
