//! Random programs that put derivatives to the test; see [`judge`] for the laws that are checked.

mod dice;
#[path = "../laws/judge.rs"]
mod judge;
#[path = "../laws/native.rs"]
mod native;
mod source;
mod tree;

use dice::Dice;
use judge::{Place, Verdict, judge_source};
use tree::Node;

/// How many programs were judged, how many of those were not smooth, and why the last of these was not.
#[derive(Default)]
pub struct Tally {
    pub judged: usize,
    pub not_smooth: usize,
    why: String,
}

/// How often a program that breaks a law is judged again to make it smaller.
const ATTEMPTS: usize = 300;

/// Judges the program of a seed. If it breaks a law, a small program that breaks the same law and a description of that
/// come back.
pub fn judge_seed(seed: u64, tally: &mut Tally) -> Result<(), String> {
    let tree = source::program(seed);
    let place = place(seed);
    tally.judged += 1;
    match judge_source(&source::program_text(&tree), &place) {
        Verdict::Holds => Ok(()),
        Verdict::NotSmooth(why) => {
            tally.not_smooth += 1;
            tally.why = why;
            Ok(())
        }
        Verdict::Broken(why) => {
            let (small, why) = shrink(tree, why, &place);
            Err(format!(
                "seed {seed}: {why}\nat {:?} along {:?}\n{}",
                place.point,
                place.tangent,
                source::program_text(&small)
            ))
        }
    }
}

/// Compares machine code with the interpreter for the programs of some seeds, and for those of their derivatives that are
/// wanted. Gives the number of results compared.
pub fn compare_machine_code(seeds: std::ops::Range<u64>, wanted: &[&str]) -> Result<usize, String> {
    let place = place(seeds.start);
    let text = |seed: u64| source::program_text(&source::program(seed));
    let definitions: Vec<_> = seeds.map(|seed| (format!("seed {seed}"), text(seed))).collect();
    native::agree(&definitions, wanted, &place)
}

/// Most programs must be smooth, or failures could hide among the others.
pub fn check_share(tally: &Tally) -> Result<(), String> {
    let Tally { judged, not_smooth, why } = tally;
    if not_smooth * 10 <= *judged {
        Ok(())
    } else {
        Err(format!("{not_smooth} of {judged} are not smooth: {why}"))
    }
}

/// A number with four digits between -2 and 2, and not near zero.
fn number(dice: &mut Dice) -> f64 {
    let size = (1000 + dice.below(19000)) as f64 / 10000.0;
    if dice.once_in(2) { size } else { -size }
}

fn place(seed: u64) -> Place {
    let mut dice = Dice::new(!seed);
    let mut four = || (0..4).map(|_| number(&mut dice)).collect();
    Place { point: four(), tangent: four() }
}

/// A smaller program that breaks the same law.
fn shrink(mut tree: Node, mut why: String, place: &Place) -> (Node, String) {
    let law = |why: &str| why.split([':', '(']).next().unwrap_or("").to_owned();
    let mut attempts = 0;
    'again: loop {
        for smaller in tree.smaller() {
            if attempts == ATTEMPTS {
                return (tree, why);
            }
            attempts += 1;
            match judge_source(&source::program_text(&smaller), place) {
                Verdict::Broken(now) if law(&now) == law(&why) => {
                    (tree, why) = (smaller, now);
                    continue 'again;
                }
                Verdict::Broken(_) | Verdict::Holds | Verdict::NotSmooth(_) => {}
            }
        }
        return (tree, why);
    }
}
