//! Parallel loops become functions of their own, which threads can call.
//!
//! ```text
//! parallel [from, to) of n by grain {          static i32 task_0(dz_ctx *ctx, const void *env, i64 from, i64 to) {
//!   for (i = from; i < to; i++)                  const struct env_0 *outside = env;
//!     ys[i] = xs[i] + a;                  ==>    f64 *ys = outside->ys; …
//! }                                              for (i = from; i < to; i++) ys[i] = xs[i] + a;
//!                                                return 0;
//!                                              }
//!                                              struct env_0 env = {.ys = ys, …};
//!                                              if (dz_parallel(ctx, task_0, &env, n, grain)) return 1;
//! ```
//!
//! What the function needs from outside are the variables in scope whose names occur in the body.

use std::collections::BTreeSet;

use crate::imp::{Function, Module, Stm, Variable};

/// A function that runs one piece of a loop.
#[derive(Clone, Debug)]
pub(crate) struct Task {
    pub(crate) number: usize,
    pub(crate) outside: Vec<Variable>,
    pub(crate) from: String,
    pub(crate) to: String,
    pub(crate) body: Vec<Stm>,
}

/// A module without parallel loops, and the tasks of each function.
pub(crate) fn outline(module: &Module) -> Vec<(Function, Vec<Task>)> {
    let mut count = 0;
    let mut outlined = Vec::new();
    for function in &module.functions {
        let mut outliner = Outliner { scope: Vec::new(), tasks: Vec::new(), count };
        function.params.iter().for_each(|param| outliner.bind(param));
        let body = outliner.stms(&function.body);
        count = outliner.count;
        outlined.push((Function { body, ..function.clone() }, outliner.tasks));
    }
    outlined
}

struct Outliner {
    /// The variables that can be seen, the latest last.
    scope: Vec<Variable>,
    tasks: Vec<Task>,
    count: usize,
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
            Stm::Parallel { count, grain, from, to, note, body } => {
                let visible = self.scope.len();
                self.counter(from);
                self.counter(to);
                let body = self.stms(body);
                self.scope.truncate(visible);
                let mut names = BTreeSet::new();
                body.iter().for_each(|stm| mentioned(stm, &mut names));
                names.remove("ctx");
                let outside: Vec<Variable> =
                    self.scope.iter().filter(|var| names.contains(&var.name)).cloned().collect();
                let number = self.count;
                self.count += 1;
                let call = call(number, &outside, count, grain, note);
                self.tasks.push(Task { number, outside, from: from.clone(), to: to.clone(), body });
                call
            }
        }
    }
}

fn call(number: usize, outside: &[Variable], count: &str, grain: &str, note: &str) -> Stm {
    let fields: Vec<String> = outside.iter().map(|var| format!(".{0} = {0}", var.name)).collect();
    let fields = if fields.is_empty() { "0".to_string() } else { fields.join(", ") };
    Stm::Block(vec![
        Stm::Line(format!("struct env_{number} env_{number} = {{{fields}}};{note}")),
        Stm::Line(format!("if (dz_parallel(ctx, task_{number}, &env_{number}, {count}, {grain})) return 1;")),
    ])
}

/// All words in a statement.
fn mentioned(stm: &Stm, names: &mut BTreeSet<String>) {
    let mut words = |text: &str| {
        let parts = text.split(|c: char| !c.is_ascii_alphanumeric() && c != '_');
        names.extend(parts.filter(|word| !word.is_empty()).map(str::to_string));
    };
    match stm {
        Stm::Declare { value, .. } => words(value.as_deref().unwrap_or_default()),
        Stm::Line(line) => words(line),
        Stm::Block(body) | Stm::Forever { body, .. } => body.iter().for_each(|stm| mentioned(stm, names)),
        Stm::Loop { from, to, body, .. } => {
            words(from);
            words(to);
            body.iter().for_each(|stm| mentioned(stm, names));
        }
        Stm::If { cond, then, otherwise } => {
            words(cond);
            then.iter().chain(otherwise).for_each(|stm| mentioned(stm, names));
        }
        Stm::Parallel { count, grain, body, .. } => {
            words(count);
            words(grain);
            body.iter().for_each(|stm| mentioned(stm, names));
        }
    }
}
