//! Parallel loops become functions of their own, which threads can call.
//!
//! ```text
//! parallel [from, to) of n by grain {          task 0 (ys, xs, a) [from, to) {
//!   for (i = from; i < to; i++)          ==>     for (i = from; i < to; i++) ys[i] = xs[i] + a;
//!     ys[i] = xs[i] + a;                       }
//! }                                            launch task 0 (ys, xs, a) of n by grain
//! ```
//!
//! What the function needs from outside are the variables in scope that occur in the body, in the order in which they do.
//! Where something can go wrong, it looks up the number of the place in a table from outside.
//!
//! Loops that are the same but for the names of their variables share a function: an objective and its derivative have
//! many in common, and the C compiler takes most of the time.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use crate::imp::{Function, Launch, Parallel, Part, Site, Stm, Var};

/// A function that runs one piece of a loop.
#[derive(Clone, Debug)]
pub(crate) struct Task {
    pub(crate) number: usize,
    pub(crate) outside: Vec<Var>,
    /// Whether there is a table of places where something can go wrong.
    pub(crate) has_sites: bool,
    pub(crate) from: Var,
    pub(crate) to: Var,
    pub(crate) body: Vec<Stm>,
}

/// A function without parallel loops, and the tasks that it is the first one to need.
pub(crate) struct Outlined {
    pub(crate) function: Function,
    pub(crate) tasks: Vec<Task>,
}

pub(crate) fn outline(functions: Vec<Function>) -> Vec<Outlined> {
    let mut outliner = Outliner::default();
    let outlined = |mut function: Function| {
        outliner.scope = function.signature.vars().cloned().collect();
        outliner.stms(&mut function.body);
        Outlined { function, tasks: std::mem::take(&mut outliner.tasks) }
    };
    functions.into_iter().map(outlined).collect()
}

#[derive(Default)]
struct Outliner {
    /// The variables that can be seen, the latest last.
    scope: Vec<Var>,
    tasks: Vec<Task>,
    /// The numbers of all tasks by what they do.
    known: HashMap<Meaning, usize>,
}

impl Outliner {
    fn stms(&mut self, stms: &mut [Stm]) {
        let outside = self.scope.len();
        stms.iter_mut().for_each(|stm| self.stm(stm));
        self.scope.truncate(outside);
    }

    fn stm(&mut self, stm: &mut Stm) {
        let outside = self.scope.len();
        match stm {
            Stm::Declare { var, .. } => return self.scope.push(var.clone()),
            Stm::StackArray(array) => return self.scope.push(array.var.clone()),
            Stm::Loop { var, .. } => self.scope.push(var.clone()),
            Stm::Parallel(parallel) => self.scope.extend([parallel.from.clone(), parallel.to.clone()]),
            _ => {}
        }
        stm.bodies_mut().into_iter().for_each(|body| self.stms(body));
        self.scope.truncate(outside);
        if let Stm::Parallel(parallel) = stm {
            *stm = Stm::Launch(Box::new(self.launch(parallel)));
        }
    }

    /// Makes a task of the body of a loop, unless there is one that does the same.
    fn launch(&mut self, parallel: &mut Parallel) -> Launch {
        let Parallel { count, grain, in_order, from, to, note, body } = parallel;
        let mut body = std::mem::take(body);
        let (outside, sites) = self.needs(&mut body);
        let meaning = Meaning::of(&outside, [from, to], &body);
        let new = self.known.len();
        let task = *self.known.entry(meaning).or_insert(new);
        if task == new {
            let (from, to, has_sites) = (from.clone(), to.clone(), !sites.is_empty());
            self.tasks.push(Task { number: task, outside: outside.clone(), has_sites, from, to, body });
        }
        Launch {
            task,
            outside,
            sites,
            count: count.clone(),
            grain: grain.clone(),
            in_order: *in_order,
            note: note.clone(),
        }
    }

    /// What a body needs from outside: variables, and the table of sites, whose numbers it takes from there from now on.
    fn needs(&self, body: &mut [Stm]) -> (Vec<Var>, Vec<Site>) {
        let visible: HashMap<&str, &Var> = self.scope.iter().map(|var| (&*var.name, var)).collect();
        let (mut outside, mut seen, mut sites) = (Vec::new(), HashSet::new(), Vec::new());
        each_part(body, &mut |part| match part {
            Part::Used(var) => {
                if let Some(var) = visible.get(&*var.name)
                    && seen.insert(&*var.name)
                {
                    outside.push((*var).clone());
                }
            }
            Part::Site(site) => {
                let known = sites.iter().position(|known| known == site);
                let place = known.unwrap_or(sites.len());
                if known.is_none() {
                    sites.push(*site);
                }
                *site = Site::OfTask(place);
            }
            Part::Declared(_) => {}
        });
        (outside, sites)
    }
}

fn each_part(body: &mut [Stm], visit: &mut dyn FnMut(Part<'_>)) {
    body.iter_mut().for_each(|stm| stm.parts(visit));
}

/// A task without notes and with numbers for variables, so that it is the same for tasks that do the same.
#[derive(PartialEq, Eq, Hash)]
struct Meaning {
    outside: Vec<Var>,
    borders: [Var; 2],
    body: Vec<Stm>,
}

impl Meaning {
    fn of(outside: &[Var], borders: [&Var; 2], body: &[Stm]) -> Meaning {
        let mut numbers: HashMap<Arc<str>, usize> = HashMap::new();
        let mut number = |var: &Var| {
            let count = numbers.len();
            let number = *numbers.entry(var.name.clone()).or_insert(count);
            // Variables are told apart by their names.
            Var::new(var.repr, format!("{number}: {:?}", var.repr))
        };
        let outside = outside.iter().map(&mut number).collect();
        let borders = borders.map(&mut number);
        let mut body = body.to_vec();
        each_part(&mut body, &mut |part| match part {
            Part::Declared(var) | Part::Used(var) => *var = number(var),
            Part::Site(_) => {}
        });
        body.iter_mut().for_each(Stm::remove_notes);
        Meaning { outside, borders, body }
    }
}
