//! Programs with random damage, each of which is told by a number.

use dagaz_syntax::{FileId, token_spans};

use super::dice::Dice;

/// Spellings that no program of a corpus needs to have, and that are likely to be where nobody expects them.
const ODD: [&str; 24] = [
    "0",
    "-1",
    "9223372036854775807",
    "1e400",
    "f64.nan",
    "[]",
    "()",
    "{}",
    "[n]",
    "?[k].",
    "*",
    "'a",
    "\\",
    "->",
    ":>",
    "..<",
    "with",
    "loop",
    "match",
    "#a",
    "@",
    "\u{fe}",
    "\"",
    "for i ->",
];

/// The program of a number: a program of the corpus with one to four damages. Gives its place in the corpus and its text.
pub fn damaged(corpus: &[String], seed: u64) -> (usize, String) {
    let mut dice = Dice::new(seed);
    let chosen = dice.below(corpus.len());
    let mut text = corpus[chosen].clone();
    let damages = if dice.once_in(2) { 1 } else { 1 + dice.below(4) };
    for _ in 0..damages {
        let other = &corpus[dice.below(corpus.len())];
        text = match dice.below(10) {
            0 => change_character(&mut dice, &text),
            1 => change_line(&mut dice, &text),
            2 => splice_line(&mut dice, &text, other),
            3 | 4 => splice_token(&mut dice, &text, other),
            _ => change_token(&mut dice, &text),
        };
    }
    (chosen, text)
}

/// Puts something instead of a part of a text.
fn replaced(text: &str, (start, end): (usize, usize), new: &str) -> String {
    format!("{}{new}{}", &text[..start], &text[end..])
}

/// A token of a text: where it begins and ends.
fn token(dice: &mut Dice, text: &str) -> Option<(usize, usize)> {
    let tokens = token_spans(FileId(0), text);
    tokens.get(dice.below(tokens.len())).map(|token| (token.start as usize, token.end as usize))
}

/// A token is left out, written twice, or gives way to another one of the program or to an odd one.
fn change_token(dice: &mut Dice, text: &str) -> String {
    let (Some(place), Some((start, end))) = (token(dice, text), token(dice, text)) else {
        return text.to_owned();
    };
    let itself = &text[place.0..place.1];
    match dice.below(5) {
        0 => replaced(text, place, ""),
        1 => replaced(text, place, &format!("{itself} {itself}")),
        2 => replaced(text, place, dice.one_of(&ODD)),
        3 => replaced(text, (place.0, place.0), &format!(" {} ", &text[start..end])),
        _ => replaced(text, place, &text[start..end]),
    }
}

fn splice_token(dice: &mut Dice, text: &str, other: &str) -> String {
    let (Some(place), Some((start, end))) = (token(dice, text), token(dice, other)) else {
        return text.to_owned();
    };
    replaced(text, place, &other[start..end])
}

/// A character is left out, written twice, or gives way to a printable one.
fn change_character(dice: &mut Dice, text: &str) -> String {
    let places: Vec<(usize, char)> = text.char_indices().collect();
    let Some(&(at, c)) = places.get(dice.below(places.len())) else { return text.to_owned() };
    let place = (at, at + c.len_utf8());
    match dice.below(3) {
        0 => replaced(text, place, ""),
        1 => replaced(text, place, &format!("{c}{c}")),
        _ => replaced(text, place, &char::from(b' ' + dice.below(95) as u8).to_string()),
    }
}

/// The place of a line, with its end.
fn line(dice: &mut Dice, text: &str) -> (usize, usize) {
    let starts: Vec<usize> =
        std::iter::once(0).chain(text.match_indices('\n').map(|(at, _)| at + 1)).collect();
    let i = dice.below(starts.len());
    (starts[i], starts.get(i + 1).copied().unwrap_or(text.len()))
}

/// A line is left out, written twice, or comes once more at another place.
fn change_line(dice: &mut Dice, text: &str) -> String {
    let (place, (there, _)) = (line(dice, text), line(dice, text));
    let itself = &text[place.0..place.1];
    match dice.below(3) {
        0 => replaced(text, place, ""),
        1 => replaced(text, (place.0, place.0), itself),
        _ => replaced(text, (there, there), itself),
    }
}

fn splice_line(dice: &mut Dice, text: &str, other: &str) -> String {
    let ((here, _), (start, end)) = (line(dice, text), line(dice, other));
    replaced(text, (here, here), &other[start..end])
}
