//! Patterns: every `match` covers all cases, and patterns elsewhere cannot fail.
//!
//! ```text
//! match (x: #foo i32 | #bar)          error: Unmatched cases in match expression: #foo _
//! case #bar -> 0
//! ```
//!
//! The method is Maranget's ("Warnings for pattern matching", 2007): a row of patterns is *useful* with respect to a
//! matrix of earlier rows if some value matches it and none of those. A `match` is exhaustive if a wildcard is not useful
//! after all its cases, and the value that shows otherwise is the example reported. A case that is not useful is never
//! reached.

use dagaz_syntax::{Diagnostic, Name, Span};

use super::walk::{each_child, each_pattern};
use crate::typed::{Case, Def, Exp, ExpKind, Pat, PatKind};
use crate::types::Type;

/// Check all patterns of a definition.
pub(super) fn check(def: &Def) -> Vec<Diagnostic> {
    let mut checker = Checker { found: Vec::new() };
    for p in &def.params {
        checker.irrefutable(p);
    }
    checker.exp(&def.body);
    checker.found
}

struct Checker {
    found: Vec<Diagnostic>,
}

impl Checker {
    fn exp(&mut self, e: &Exp) {
        each_pattern(e, &mut |p| self.irrefutable(p));
        if let ExpKind::Match { scrutinee, cases } = &e.kind {
            self.cases(&scrutinee.ty, cases, e.span);
        }
        each_child(e, &mut |child| self.exp(child));
    }

    fn irrefutable(&mut self, pat: &Pat) {
        let Some(example) = unmatched(&pat.ty, &[Row::from(pat)]) else { return };
        let example = example.show(false);
        self.found.push(
            Diagnostic::error("refutable-pattern", pat.span, "Refutable pattern not allowed here")
                .at(format!("does not match {example}"))
                .help("use \"match\" to say what happens otherwise"),
        );
    }

    fn cases(&mut self, ty: &Type, cases: &[Case], span: Span) {
        let rows: Vec<Row> = cases.iter().map(|c| Row::from(&c.pat)).collect();
        if let Some(example) = unmatched(ty, &rows) {
            let example = example.show(false);
            let help = match example.as_str() {
                "_" => "add a last case \"case _ -> …\"".to_owned(),
                _ => format!("add \"case {example} -> …\", or a last case \"case _ -> …\""),
            };
            self.found.push(
                Diagnostic::error(
                    "unmatched-cases",
                    span,
                    format!("Unmatched cases in match expression: {example}"),
                )
                .help(help),
            );
            return;
        }
        for (i, case) in cases.iter().enumerate() {
            let mut width = vec![Column { ty: ty.clone() }];
            if useful(&rows[..i], &rows[i].0, &mut width).is_none() {
                self.found.push(Diagnostic::warning(
                    "unreachable-case",
                    case.pat.span,
                    "This case is never reached, because the cases before it match everything that it does",
                ));
            }
        }
    }
}

/// What matters about a pattern.
#[derive(Clone, Debug)]
enum Match {
    Any,
    Literal(Literal),
    Record(Vec<(Name, Match)>),
    Constr(Name, Vec<Match>),
}

#[derive(Clone, PartialEq, Debug)]
enum Literal {
    Int(i128),
    Float(f64),
    Bool(bool),
}

/// Patterns side by side.
#[derive(Clone, Debug)]
struct Row(Vec<Match>);

struct Column {
    ty: Type,
}

impl From<&Pat> for Row {
    fn from(pat: &Pat) -> Row {
        Row(vec![Match::of(pat)])
    }
}

impl Match {
    fn of(pat: &Pat) -> Match {
        match &pat.kind {
            PatKind::Var(..) | PatKind::Wildcard => Match::Any,
            PatKind::Int(n) => Match::Literal(Literal::Int(*n)),
            PatKind::Float(x) => Match::Literal(Literal::Float(*x)),
            PatKind::Bool(b) => Match::Literal(Literal::Bool(*b)),
            PatKind::Record(fields) => {
                let mut fields: Vec<_> = fields.iter().map(|(f, p)| (*f, Match::of(p))).collect();
                fields.sort_by_key(|x| x.0);
                Match::Record(fields)
            }
            PatKind::Constr(c, args) => Match::Constr(*c, args.iter().map(Match::of).collect()),
        }
    }

    /// As source.
    fn show(&self, atom: bool) -> String {
        match self {
            Match::Any => "_".to_owned(),
            Match::Literal(Literal::Int(n)) => n.to_string(),
            Match::Literal(Literal::Float(x)) => format!("{x:?}"),
            Match::Literal(Literal::Bool(b)) => b.to_string(),
            Match::Record(fields) => {
                let tuple = fields.len() != 1
                    && fields.iter().enumerate().all(|(i, (f, _))| *f == Name::tuple_field(i));
                let parts: Vec<_> = fields
                    .iter()
                    .map(|(f, m)| {
                        let part = m.show(false);
                        if tuple { part } else { format!("{f} = {part}") }
                    })
                    .collect();
                let parts = parts.join(", ");
                if tuple { format!("({parts})") } else { format!("{{{parts}}}") }
            }
            Match::Constr(c, args) if args.is_empty() => format!("#{c}"),
            Match::Constr(c, args) => {
                let args: Vec<_> = args.iter().map(|a| a.show(true)).collect();
                let text = format!("#{c} {}", args.join(" "));
                if atom { format!("({text})") } else { text }
            }
        }
    }
}

/// An example of a value that no row matches.
fn unmatched(ty: &Type, rows: &[Row]) -> Option<Match> {
    let mut columns = vec![Column { ty: ty.clone() }];
    useful(rows, &[Match::Any], &mut columns).and_then(|mut example| example.pop())
}

/// What the first column of a row is made of: the head of a pattern, with the types of its parts.
#[derive(Clone)]
enum Head {
    Literal(Literal),
    Record(Vec<Name>),
    Constr(Name),
}

/// A list of patterns that some value matches which matches `row`, but none of `rows`.
fn useful(rows: &[Row], row: &[Match], columns: &mut Vec<Column>) -> Option<Vec<Match>> {
    let Some((first, rest)) = row.split_first() else {
        return rows.is_empty().then(Vec::new);
    };
    let ty = columns[0].ty.clone();
    match first {
        Match::Literal(l) => useful_with(rows, row, columns, &Head::Literal(l.clone())),
        Match::Record(fields) => {
            let names = fields.iter().map(|(f, _)| *f).collect();
            useful_with(rows, row, columns, &Head::Record(names))
        }
        Match::Constr(c, _) => useful_with(rows, row, columns, &Head::Constr(*c)),
        Match::Any => {
            let missing = match all_heads(&ty, rows) {
                Ok(heads) => {
                    return heads.iter().find_map(|head| useful_with(rows, row, columns, head));
                }
                Err(missing) => missing,
            };
            // Some head occurs in no row: only rows that take anything stand in the way.
            let rest_rows: Vec<Row> = rows
                .iter()
                .filter(|r| matches!(r.0[0], Match::Any))
                .map(|r| Row(r.0[1..].to_vec()))
                .collect();
            let column = columns.remove(0);
            let result = useful(&rest_rows, rest, columns);
            columns.insert(0, column);
            result.map(|mut example| {
                example.insert(0, missing);
                example
            })
        }
    }
}

/// As [`useful`], for values whose first part has the given head.
fn useful_with(rows: &[Row], row: &[Match], columns: &mut [Column], head: &Head) -> Option<Vec<Match>> {
    let types = part_types(&columns[0].ty, head);
    let arity = types.len();
    let rows: Vec<Row> = rows.iter().filter_map(|r| specialise(&r.0, head, arity)).map(Row).collect();
    let row = specialise(row, head, arity)?;
    let rest = columns[1..].iter().map(|c| Column { ty: c.ty.clone() });
    let mut columns: Vec<Column> = types.into_iter().map(|ty| Column { ty }).chain(rest).collect();
    let mut example = useful(&rows, &row, &mut columns)?;
    let parts: Vec<Match> = example.drain(..arity).collect();
    example.insert(0, rebuild(head, parts));
    Some(example)
}

fn rebuild(head: &Head, parts: Vec<Match>) -> Match {
    match head {
        Head::Literal(l) => Match::Literal(l.clone()),
        Head::Record(names) => Match::Record(names.iter().copied().zip(parts).collect()),
        Head::Constr(c) => Match::Constr(*c, parts),
    }
}

/// Replace the first pattern of a row by its parts, if it can match the head.
fn specialise(row: &[Match], head: &Head, arity: usize) -> Option<Vec<Match>> {
    let (first, rest) = row.split_first()?;
    let mut parts = match (first, head) {
        (Match::Any, _) => vec![Match::Any; arity],
        (Match::Literal(l), Head::Literal(k)) if l == k => Vec::new(),
        (Match::Record(fields), Head::Record(_)) => fields.iter().map(|(_, m)| m.clone()).collect(),
        (Match::Constr(c, args), Head::Constr(d)) if c == d => args.clone(),
        (Match::Literal(_) | Match::Record(_) | Match::Constr(..), _) => return None,
    };
    parts.extend_from_slice(rest);
    Some(parts)
}

fn part_types(ty: &Type, head: &Head) -> Vec<Type> {
    match (head, ty) {
        (Head::Record(_), Type::Record(fields)) => fields.iter().map(|(_, t)| t.clone()).collect(),
        (Head::Constr(c), Type::Sum(cs)) => {
            cs.iter().find(|(d, _)| c == d).map_or(Vec::new(), |(_, ts)| ts.clone())
        }
        (Head::Literal(_) | Head::Record(_) | Head::Constr(_), _) => Vec::new(),
    }
}

/// If the first patterns of the rows have every possible head: those heads. Otherwise an example that has none of them.
fn all_heads(ty: &Type, rows: &[Row]) -> Result<Vec<Head>, Match> {
    let firsts: Vec<&Match> = rows.iter().map(|r| &r.0[0]).filter(|m| !matches!(m, Match::Any)).collect();
    if firsts.is_empty() {
        return Err(Match::Any);
    }
    match ty {
        Type::Record(fields) => Ok(vec![Head::Record(fields.iter().map(|(f, _)| *f).collect())]),
        Type::Sum(cs) => {
            let there = |c: &Name| firsts.iter().any(|m| matches!(m, Match::Constr(d, _) if c == d));
            match cs.iter().find(|(c, _)| !there(c)) {
                None => Ok(cs.iter().map(|(c, _)| Head::Constr(*c)).collect()),
                Some((c, args)) => Err(Match::Constr(*c, vec![Match::Any; args.len()])),
            }
        }
        Type::Prim(_) | Type::Meta(_) | Type::Array { .. } | Type::Arrow(_) | Type::Named { .. } => {
            let there =
                |b: bool| firsts.iter().any(|m| matches!(m, Match::Literal(Literal::Bool(c)) if b == *c));
            if matches!(firsts[0], Match::Literal(Literal::Bool(_))) {
                return match [true, false].into_iter().find(|b| !there(*b)) {
                    None => Ok(vec![Head::Literal(Literal::Bool(true)), Head::Literal(Literal::Bool(false))]),
                    Some(b) => Err(Match::Literal(Literal::Bool(b))),
                };
            }
            Err(Match::Any)
        }
    }
}
