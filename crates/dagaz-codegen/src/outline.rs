//! Parallel loops become functions of their own, which threads can call.
//!
//! ```text
//! parallel [from, to) of n by grain {          static i32 task_0(dz_ctx *ctx, const void *env, i64 from, i64 to) {
//!   for (i = from; i < to; i++)                  const struct env_0 *outside = env;
//!     ys[i] = xs[i] + a;                  ==>    f64 *ys = outside->ys; …
//! }                                              for (i = from; i < to; i++) ys[i] = xs[i] + a;
//!                                                return 0;
//!                                              }
//!                                              struct env_0 env = {ys, xs, a};
//!                                              if (dz_parallel(ctx, task_0, &env, n, grain)) return 1;
//! ```
//!
//! What the function needs from outside are the variables in scope whose names occur in the body, in the order in which
//! they do. Where something can go wrong, it looks up the number of the place in a table from outside.
//!
//! Loops that are the same but for the names of their variables share a function: an objective and its derivative have
//! many in common, and the C compiler takes most of the time.

use std::collections::{HashMap, HashSet};

use crate::imp::{Function, Module, Stm, Variable, site_number};
use crate::print_c::statements;

/// A function that runs one piece of a loop.
#[derive(Clone, Debug)]
pub(crate) struct Task {
    pub(crate) number: usize,
    pub(crate) outside: Vec<Variable>,
    /// Whether there is a table of places where something can go wrong.
    pub(crate) has_sites: bool,
    pub(crate) from: String,
    pub(crate) to: String,
    pub(crate) body: Vec<Stm>,
}

/// A module without parallel loops, and the tasks that each function is the first one to need.
pub(crate) fn outline(module: &Module) -> Vec<(Function, Vec<Task>)> {
    let mut outliner = Outliner::default();
    let mut outlined = Vec::new();
    for function in &module.functions {
        function.params.iter().for_each(|param| outliner.bind(param));
        let body = outliner.stms(&function.body);
        let body = body.iter().map(|stm| with_words(stm, &|word| site_number(word).map(str::to_string)));
        outlined.push((Function { body: body.collect(), ..function.clone() }, outliner.tasks.split_off(0)));
        outliner.scope.clear();
    }
    outlined
}

#[derive(Default)]
struct Outliner {
    /// The variables that can be seen, the latest last.
    scope: Vec<Variable>,
    /// How many parallel loops there are around.
    depth: usize,
    tasks: Vec<Task>,
    /// The numbers of all tasks by what they do.
    known: HashMap<String, usize>,
}

impl Outliner {
    fn bind(&mut self, var: &Variable) {
        self.scope.push(var.clone());
    }

    fn counter(&mut self, name: &str) {
        self.bind(&Variable { ty: "i64".to_string(), name: name.to_string() });
    }

    fn stms(&mut self, stms: &[Stm]) -> Vec<Stm> {
        let outside = self.scope.len();
        let outlined = stms.iter().map(|stm| self.stm(stm)).collect();
        self.scope.truncate(outside);
        outlined
    }

    fn stm(&mut self, stm: &Stm) -> Stm {
        match stm {
            Stm::Declare { var, .. } => {
                self.bind(var);
                stm.clone()
            }
            Stm::Line(_) => stm.clone(),
            Stm::Block(body) => Stm::Block(self.stms(body)),
            Stm::Loop { kind, var, from, to, note, body } => {
                self.counter(var);
                let body = self.stms(body);
                self.scope.pop();
                let (kind, var, note) = (kind.clone(), var.clone(), note.clone());
                Stm::Loop { kind, var, from: from.clone(), to: to.clone(), note, body }
            }
            Stm::Forever { note, body } => Stm::Forever { note: note.clone(), body: self.stms(body) },
            Stm::If { cond, then, otherwise } => {
                Stm::If { cond: cond.clone(), then: self.stms(then), otherwise: self.stms(otherwise) }
            }
            Stm::Parallel { count, grain, in_order, from, to, note, body } => {
                let visible = self.scope.len();
                self.counter(from);
                self.counter(to);
                self.depth += 1;
                let body = self.stms(body);
                self.depth -= 1;
                self.scope.truncate(visible);
                let (number, setup) = self.task(from, to, body, note);
                let run = if *in_order { "dz_parallel_in_order" } else { "dz_parallel" };
                let run =
                    format!("if ({run}(ctx, task_{number}, &env_{number}, {count}, {grain})) return 1;");
                Stm::Block(setup.into_iter().chain([run]).map(Stm::Line).collect())
            }
        }
    }

    /// The number of the task with this body, and what makes its environment.
    fn task(&mut self, from: &str, to: &str, body: Vec<Stm>, note: &str) -> (usize, Vec<String>) {
        let words = words_of(&body);
        let visible = |word: &&String| self.scope.iter().rev().find(|var| var.name == **word).cloned();
        let outside: Vec<Variable> =
            words.iter().filter(|word| *word != "ctx").filter_map(|word| visible(&word)).collect();
        let sites: Vec<&String> = words.iter().filter(|word| site_number(word).is_some()).collect();
        let places: HashMap<&str, String> = sites
            .iter()
            .enumerate()
            .map(|(i, word)| (word.as_str(), format!("outside->sites[{i}]")))
            .collect();
        let body: Vec<Stm> =
            body.iter().map(|stm| with_words(stm, &|word| places.get(word).cloned())).collect();

        let count = self.known.len();
        let number = *self.known.entry(meaning(&outside, from, to, &body)).or_insert(count);
        let mut fields: Vec<String> = outside.iter().map(|var| var.name.clone()).collect();
        let mut setup = Vec::new();
        if !sites.is_empty() {
            let kept = if self.depth == 0 { "static " } else { "" };
            let sites: Vec<&str> = sites.iter().map(|word| word.as_str()).collect();
            setup.push(format!("{kept}const i32 sites_{number}[] = {{{}}};", sites.join(", ")));
            fields.push(format!("sites_{number}"));
        }
        let fields = if fields.is_empty() { "0".to_string() } else { fields.join(", ") };
        setup.push(format!("struct env_{number} env_{number} = {{{fields}}};{note}"));
        if number == count {
            let (from, to, has_sites) = (from.to_string(), to.to_string(), !sites.is_empty());
            self.tasks.push(Task { number, outside, has_sites, from, to, body });
        }
        (number, setup)
    }
}

/// The text of a task without comments and with numbers for variables, so that it is the same for tasks that do the same.
fn meaning(outside: &[Variable], from: &str, to: &str, body: &[Stm]) -> String {
    let mut own: HashSet<&str> = outside.iter().map(|var| var.name.as_str()).chain([from, to]).collect();
    body.iter().for_each(|stm| declared(stm, &mut own));
    let mut all: String = outside.iter().map(|var| format!("{} {};\n", var.ty, var.name)).collect();
    all.push_str(&format!("{from} {to}\n"));
    statements(&mut all, body, 0);
    let mut numbers: HashMap<&str, usize> = HashMap::new();
    let mut meaning = String::new();
    for line in all.lines() {
        let code = line.split("//").next().unwrap_or_default().trim();
        for (word, rest) in pieces(code) {
            // Arrays on the stack have a name that belongs to that of the variable.
            let is_own = own.contains(word.strip_suffix("_room").unwrap_or(word)) || is_temporary(word);
            if is_own {
                let count = numbers.len();
                meaning.push_str(&format!("${}", numbers.entry(word).or_insert(count)));
            } else {
                meaning.push_str(word);
            }
            meaning.push_str(rest);
        }
        meaning.push('\n');
    }
    meaning
}

/// Whether a variable has no name in Core; some of these are declared in the midst of a line.
fn is_temporary(word: &str) -> bool {
    let number = word.rsplit_once("_t").map_or("", |(_, number)| number);
    !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit())
}

/// The variables that a statement declares, also inside.
fn declared<'a>(stm: &'a Stm, names: &mut HashSet<&'a str>) {
    match stm {
        Stm::Declare { var, .. } => drop(names.insert(&var.name)),
        Stm::Loop { var, .. } => drop(names.insert(var)),
        Stm::Parallel { from, to, .. } => names.extend([from.as_str(), to]),
        Stm::Line(_) | Stm::Block(_) | Stm::Forever { .. } | Stm::If { .. } => {}
    }
    bodies(stm).into_iter().flatten().for_each(|stm| declared(stm, names));
}

fn bodies(stm: &Stm) -> [&[Stm]; 2] {
    match stm {
        Stm::Declare { .. } | Stm::Line(_) => [&[], &[]],
        Stm::Block(body)
        | Stm::Loop { body, .. }
        | Stm::Parallel { body, .. }
        | Stm::Forever { body, .. } => [body, &[]],
        Stm::If { then, otherwise, .. } => [then, otherwise],
    }
}

/// All words in statements, each once, in the order in which they occur.
fn words_of(body: &[Stm]) -> Vec<String> {
    let (mut text, mut seen, mut words) = (String::new(), HashSet::new(), Vec::new());
    body.iter().for_each(|stm| mentioned(stm, &mut text));
    for (word, _) in pieces(&text) {
        if seen.insert(word) {
            words.push(word.to_string());
        }
    }
    words
}

/// The text of a statement, with what else is in it that variables can occur in.
fn mentioned(stm: &Stm, text: &mut String) {
    let mut add = |part: &str| {
        text.push_str(part);
        text.push('\n');
    };
    match stm {
        Stm::Declare { value, .. } => add(value.as_deref().unwrap_or_default()),
        Stm::Line(line) => add(line),
        Stm::Loop { from, to, .. } => [from, to].into_iter().for_each(|part| add(part)),
        Stm::Parallel { count, grain, .. } => [count, grain].into_iter().for_each(|part| add(part)),
        Stm::If { cond, .. } => add(cond),
        Stm::Block(_) | Stm::Forever { .. } => {}
    }
    bodies(stm).into_iter().flatten().for_each(|stm| mentioned(stm, text));
}

/// A statement with other words.
fn with_words(stm: &Stm, other: &dyn Fn(&str) -> Option<String>) -> Stm {
    let text = |text: &String| -> String {
        pieces(text).map(|(word, rest)| other(word).unwrap_or_else(|| word.to_string()) + rest).collect()
    };
    let all = |body: &[Stm]| body.iter().map(|stm| with_words(stm, other)).collect();
    match stm {
        Stm::Declare { var, value } => Stm::Declare { var: var.clone(), value: value.as_ref().map(text) },
        Stm::Line(line) => Stm::Line(text(line)),
        Stm::Block(body) => Stm::Block(all(body)),
        Stm::Loop { kind, var, from, to, note, body } => {
            let (kind, var, note) = (kind.clone(), var.clone(), note.clone());
            Stm::Loop { kind, var, from: text(from), to: text(to), note, body: all(body) }
        }
        Stm::Parallel { count, grain, in_order, from, to, note, body } => {
            let (from, to, note, in_order) = (from.clone(), to.clone(), note.clone(), *in_order);
            Stm::Parallel {
                count: text(count),
                grain: text(grain),
                in_order,
                from,
                to,
                note,
                body: all(body),
            }
        }
        Stm::Forever { note, body } => Stm::Forever { note: note.clone(), body: all(body) },
        Stm::If { cond, then, otherwise } => {
            Stm::If { cond: text(cond), then: all(then), otherwise: all(otherwise) }
        }
    }
}

/// The words of a text, and what stands between each and the next. The first word can be empty.
fn pieces(text: &str) -> impl Iterator<Item = (&str, &str)> {
    let is_of_word = |c: char| c.is_ascii_alphanumeric() || c == '_';
    let mut left = text;
    std::iter::from_fn(move || {
        if left.is_empty() {
            return None;
        }
        let (word, after) = left.split_at(left.find(|c| !is_of_word(c)).unwrap_or(left.len()));
        let (rest, after) = after.split_at(after.find(is_of_word).unwrap_or(after.len()));
        left = after;
        Some((word, rest))
    })
}
