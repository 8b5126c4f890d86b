//! Read the test blocks of a program.
//!
//! A block starts with the line `-- ==` and goes on as long as lines start with `--`. The first block of a file may
//! have tags, and may say that the program must be rejected.

use std::path::PathBuf;

use super::random::{self, Generator};
use crate::script;

/// All that a program's test blocks say.
#[derive(Clone, Debug)]
pub struct Spec {
    pub tags: Vec<String>,
    pub expectation: Expectation,
}

#[derive(Clone, Debug)]
pub enum Expectation {
    /// The program must be rejected, with a message that matches.
    Rejected(Pattern),
    /// The program must be accepted, with such warnings, and the cases must run as they say.
    Accepted { cases: Vec<Case>, warnings: Vec<Pattern> },
}

/// A regular expression; nothing in particular if it is empty.
pub type Pattern = String;

/// One call and what is to come of it.
#[derive(Clone, Debug)]
pub struct Case {
    pub entry: String,
    pub tags: Vec<String>,
    pub input: Input,
    pub outcome: Outcome,
    /// By how much floats may differ from those expected, relative to them, if the block says so.
    pub tolerance: Option<f64>,
}

#[derive(Clone, Debug)]
pub enum Input {
    /// Values as text, which are read when the types that are wanted are known.
    Values(String),
    File(PathBuf),
    Random(Vec<Generator>),
    Script(script::Exp),
    ScriptFile(PathBuf),
    /// Any values: the entry point is a property, and must give true.
    Property,
}

#[derive(Clone, Debug)]
pub enum Outcome {
    /// The call succeeds, whatever its results are.
    Success,
    Values(String),
    File(PathBuf),
    /// The call fails at run time, with a message that matches.
    Failure(Pattern),
}

/// The tests of a program; none if it has no test blocks.
pub fn parse(text: &str) -> Result<Option<Spec>, String> {
    let mut spec: Option<Spec> = None;
    for (line, block) in blocks(text) {
        let parsed = BlockParser { text: &block, at: 0 }.block(spec.is_none());
        let block = parsed.map_err(|error| format!("test block at line {line}: {error}"))?;
        match (&mut spec, block) {
            (None, block) => spec = Some(block),
            (
                Some(Spec { expectation: Expectation::Accepted { cases, warnings }, .. }),
                Spec { expectation: Expectation::Accepted { cases: more, warnings: more_warnings }, .. },
            ) => {
                cases.extend(more);
                warnings.extend(more_warnings);
            }
            (Some(_), _) => {
                return Err(format!(
                    "test block at line {line}: a program that must be rejected has one test block"
                ));
            }
        }
    }
    Ok(spec)
}

/// The text of every block, without the comment marks, and the number of its first line.
fn blocks(text: &str) -> Vec<(usize, String)> {
    let mut blocks: Vec<(usize, String)> = Vec::new();
    let mut inside = false;
    for (number, line) in text.lines().enumerate() {
        match line.strip_prefix("--") {
            Some(rest) if rest.trim_end() == " ==" => {
                inside = true;
                blocks.push((number + 1, String::new()));
            }
            Some(rest) if inside => {
                if let Some((_, block)) = blocks.last_mut() {
                    block.push_str(rest);
                    block.push('\n');
                }
            }
            Some(_) | None => inside = false,
        }
    }
    blocks
}

struct BlockParser<'t> {
    text: &'t str,
    at: usize,
}

fn is_tag_part(c: char) -> bool {
    c.is_alphanumeric() || c == '_' || c == '-'
}

impl<'t> BlockParser<'t> {
    fn rest(&self) -> &'t str {
        &self.text[self.at..]
    }

    fn skip_blanks(&mut self) {
        self.at = self.text.len() - self.rest().trim_start().len();
    }

    fn peek_word(&mut self) -> &'t str {
        self.skip_blanks();
        let rest = self.rest();
        &rest[..rest.find(|c| !is_tag_part(c)).unwrap_or(rest.len())]
    }

    fn eat(&mut self, prefix: &str) -> bool {
        self.skip_blanks();
        let found = self.rest().starts_with(prefix);
        if found {
            self.at += prefix.len();
        }
        found
    }

    fn rest_of_line(&mut self) -> &'t str {
        let rest = self.rest();
        let end = rest.find('\n').unwrap_or(rest.len());
        self.at += end;
        rest[..end].trim()
    }

    fn until_blank(&mut self) -> &'t str {
        self.skip_blanks();
        let rest = self.rest();
        let end = rest.find(char::is_whitespace).unwrap_or(rest.len());
        self.at += end;
        &rest[..end]
    }

    /// The text between braces, which may contain braces, and strings with any.
    fn braces(&mut self) -> Result<&'t str, String> {
        if !self.eat("{") {
            return Err(format!("'{{' is expected at '{}'", self.rest().lines().next().unwrap_or("")));
        }
        let rest = self.rest();
        let mut depth = 1;
        let mut in_string = false;
        let mut escaped = false;
        for (i, c) in rest.char_indices() {
            match c {
                _ if escaped => escaped = false,
                '\\' if in_string => escaped = true,
                '"' => in_string = !in_string,
                '{' if !in_string => depth += 1,
                '}' if !in_string => depth -= 1,
                _ => {}
            }
            if depth == 0 {
                self.at += i + 1;
                return Ok(&rest[..i]);
            }
        }
        Err("a brace is not closed".to_owned())
    }

    fn block(&mut self, first: bool) -> Result<Spec, String> {
        let mut tags = Vec::new();
        if first && self.peek_word() == "tags" {
            self.eat("tags");
            tags = self.braces()?.split_whitespace().map(str::to_owned).collect();
        }
        if self.eat("error:") {
            let pattern = self.rest_of_line().to_owned();
            return Ok(Spec { tags, expectation: Expectation::Rejected(pattern) });
        }
        let mut cases = Vec::new();
        let mut warnings = Vec::new();
        let mut entries = vec!["main".to_owned()];
        let mut tolerance = None;
        loop {
            self.skip_blanks();
            if self.rest().is_empty() {
                return Ok(Spec { tags, expectation: Expectation::Accepted { cases, warnings } });
            }
            if self.eat("entry:") {
                entries = self.rest_of_line().split_whitespace().map(str::to_owned).collect();
            } else if self.eat("property:") {
                cases.extend(self.rest_of_line().split_whitespace().map(|name| Case {
                    entry: name.to_owned(),
                    tags: Vec::new(),
                    input: Input::Property,
                    outcome: Outcome::Success,
                    tolerance: None,
                }));
            } else if self.eat("tolerance:") {
                tolerance = Some(parse_tolerance(self.rest_of_line())?);
            } else if self.eat("warning:") {
                warnings.push(self.rest_of_line().to_owned());
            } else if self.peek_word() == "structure" {
                self.structure()?;
            } else {
                let (tags, input, outcome) = self.case()?;
                cases.extend(entries.iter().map(|entry| Case {
                    entry: entry.clone(),
                    tags: tags.clone(),
                    input: input.clone(),
                    outcome: outcome.clone(),
                    tolerance,
                }));
            }
        }
    }

    /// What the program looks like after passes of another compiler, which means nothing here.
    fn structure(&mut self) -> Result<(), String> {
        self.eat("structure");
        while !self.peek_word().is_empty() {
            self.at += self.peek_word().len();
        }
        self.braces().map(|_| ())
    }

    fn case(&mut self) -> Result<(Vec<String>, Input, Outcome), String> {
        if self.eat("\"") {
            let end = self.rest().find('"').ok_or("the name of a case is not closed")?;
            self.at += end + 1;
        }
        let mut tags = Vec::new();
        loop {
            match self.peek_word() {
                "" => {
                    return Err(format!(
                        "'input' is expected at '{}'",
                        self.rest().lines().next().unwrap_or("")
                    ));
                }
                "input" => break,
                tag => {
                    self.at += tag.len();
                    tags.push(tag.to_owned());
                }
            }
        }
        self.eat("input");
        let input = self.input(&tags)?;
        Ok((tags, input, self.outcome()?))
    }

    fn input(&mut self, tags: &[String]) -> Result<Input, String> {
        let has = |tag: &str| tags.iter().any(|known| known == tag);
        if self.eat("@") {
            let path = PathBuf::from(self.until_blank());
            return Ok(if has("script") { Input::ScriptFile(path) } else { Input::File(path) });
        }
        let text = self.braces()?;
        if has("random") {
            random::parse(text).map(Input::Random)
        } else if has("script") {
            script::parse(text).map(Input::Script)
        } else {
            Ok(Input::Values(text.to_owned()))
        }
    }

    fn outcome(&mut self) -> Result<Outcome, String> {
        if self.eat("error:") {
            return Ok(Outcome::Failure(self.rest_of_line().to_owned()));
        }
        if self.peek_word() == "auto" {
            self.eat("auto");
            return match self.eat("output") {
                true => Ok(Outcome::Success),
                false => Err("'output' is expected after 'auto'".to_owned()),
            };
        }
        if self.peek_word() != "output" {
            return Ok(Outcome::Success);
        }
        self.eat("output");
        if self.eat("@") {
            return Ok(Outcome::File(PathBuf::from(self.until_blank())));
        }
        Ok(Outcome::Values(self.braces()?.to_owned()))
    }
}

fn parse_tolerance(text: &str) -> Result<f64, String> {
    let tolerance = text.parse().ok().filter(|tolerance: &f64| tolerance.is_finite() && *tolerance >= 0.0);
    tolerance.ok_or_else(|| format!("'{text}' is no tolerance: a number such as 1e-6 is wanted, or 0"))
}
