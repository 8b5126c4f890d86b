//! Puts the maps and reps that were found into a definition.
//!
//! ```text
//! def f xs = sqrt xs + 1        ==>        def f xs = map (+ 1) (map sqrt xs)
//! ```
//!
//! The tree is changed in place, and for the text a list of edits is kept: the place of an application and what stands
//! there now. Where nothing is lifted, tree and text stay as they are.

use std::collections::HashSet;

use dagaz_syntax::ast::{Comment, Exp, ExpKind, Ident, NodeId, QualName, SliceIndex, ValBind};
use dagaz_syntax::{FileId, Name, SourceMap, Span};

use super::children::{Place, Shape, shape, visit_children};
use super::nest::{Arg, Head, Maker, Piece, write_nest, write_pipe, write_section};
use super::ranks::{RankProblem, Site};
use super::solve::Ranks;
use crate::infer::has_frame;

/// A part of the source and what is to stand there.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Edit {
    pub span: Span,
    pub text: String,
}

/// A definition with all maps and reps written out.
pub(crate) struct Elaborated {
    pub bind: ValBind,
    pub edits: Vec<Edit>,
    /// Where names of the prelude were put in.
    pub used: Vec<(NodeId, Name)>,
}

/// Where a definition comes from.
#[derive(Clone, Copy)]
pub(crate) struct Origin<'a> {
    pub sources: &'a SourceMap,
    pub comments: &'a [Comment],
    /// Above all numbers of nodes in the file.
    pub node_count: u32,
}

/// How reps that follow from maps are written.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Reps {
    /// Not at all: the value is captured.
    Fused,
    /// As `rep`, which shows best what was chosen.
    Written,
}

/// Write out the maps and reps of a solution. None if they cannot be written.
pub(crate) fn elaborate(
    bind: &ValBind,
    problem: &RankProblem,
    ranks: &Ranks,
    origin: Origin<'_>,
    reps: Reps,
) -> Option<Elaborated> {
    let mut bind = bind.clone();
    let text = origin.sources.snippet(bind.name.span.to(bind.body.span));
    let is_letter = |c: char| c.is_alphanumeric() || c == '_' || c == '\'';
    let taken: HashSet<String> = text.split(|c| !is_letter(c)).map(str::to_owned).collect();
    let maker = Maker { taken, next_node: origin.node_count, next_binder: 0, used: Vec::new() };
    let mut elaborator = Elaborator { problem, ranks, origin, reps, maker, edits: Vec::new(), failed: false };
    elaborator.exp(&mut bind.body, Place::Anything);
    let Elaborator { maker, edits, failed, .. } = elaborator;
    (!failed).then_some(Elaborated { bind, edits, used: maker.used })
}

/// The text of a file with edits applied to it.
pub fn edited_file(sources: &SourceMap, file: FileId, edits: &[Edit]) -> String {
    let length = sources.get(file).map_or(0, |file| file.text.len());
    edited(sources, Span::new(file, 0, length), edits)
}

/// A part of the source with edits applied to it.
pub(crate) fn edited(sources: &SourceMap, span: Span, edits: &[Edit]) -> String {
    let mut inside: Vec<&Edit> = edits.iter().filter(|edit| covers(span, edit.span)).collect();
    inside.sort_by_key(|edit| edit.span.start);
    let mut result = String::new();
    let mut at = span.start;
    for edit in inside {
        result.push_str(sources.snippet(Span { start: at, end: edit.span.start, ..span }));
        result.push_str(&edit.text);
        at = edit.span.end;
    }
    result.push_str(sources.snippet(Span { start: at, ..span }));
    result
}

pub(crate) fn covers(outer: Span, inner: Span) -> bool {
    outer.file == inner.file && outer.start <= inner.start && inner.end <= outer.end
}

struct Elaborator<'a> {
    problem: &'a RankProblem,
    ranks: &'a Ranks,
    origin: Origin<'a>,
    reps: Reps,
    maker: Maker,
    edits: Vec<Edit>,
    failed: bool,
}

/// An application with all its arguments: `(f a) b` has both.
struct Call {
    head: CallHead,
    /// The operator, if the application is written with a pipe.
    pipe: Option<QualName>,
    args: Vec<(Exp, Lifting)>,
}

enum CallHead {
    Op(QualName),
    Neg,
    Not,
    Fun(Exp),
    Project(Ident),
    If,
    Index,
}

#[derive(Clone, Copy)]
struct Lifting {
    maps: i64,
    reps: i64,
    frame: i64,
}

impl Elaborator<'_> {
    /// Lift what is to be lifted in an expression. Gives the shape of the new text, if the expression itself is lifted.
    fn exp(&mut self, e: &mut Exp, place: Place) -> Option<Shape> {
        if !self.is_lifted(e) {
            visit_children(e, &mut |child, place| {
                self.exp(child, place);
            });
            return None;
        }
        let mark = self.edits.len();
        let (piece, kept) = match &e.kind {
            ExpKind::SectionLeft { op, lhs: operand } | ExpKind::SectionRight { op, rhs: operand } => {
                let is_left = matches!(e.kind, ExpKind::SectionLeft { .. });
                (self.section(e, op.clone(), (**operand).clone(), is_left, mark), vec![bare(operand).span])
            }
            ExpKind::BinOp { op, lhs, rhs }
                if self.problem.pipes.contains(&e.id) && matches!(op.name.as_str(), ">->" | "<-<") =>
            {
                let kept = vec![bare(lhs).span, bare(rhs).span];
                (self.composition(e, op.clone(), (**lhs).clone(), (**rhs).clone(), mark), kept)
            }
            ExpKind::Var(name) => (self.fields(e, name.clone()), Vec::new()),
            _ => match self.call(e.clone()) {
                Some(call) => {
                    let kept = call.spans();
                    (self.lifted(call, e.span, mark), kept)
                }
                None => (None, Vec::new()),
            },
        };
        match piece {
            Some(piece) => {
                let text = self.with_comments(piece.text_at(place), e.span, &kept);
                self.edits.truncate(mark);
                self.edits.push(Edit { span: e.span, text });
                *e = piece.exp;
                Some(piece.shape)
            }
            None => {
                self.failed = true;
                None
            }
        }
    }

    fn liftings(&self, e: &Exp) -> Vec<Lifting> {
        let value = |site: &Site| {
            let of = |linear: &super::ranks::Linear| linear.value(&|var| self.ranks[var.0 as usize]);
            Lifting { maps: of(&site.maps), reps: of(&site.reps), frame: of(&site.frame) }
        };
        self.problem.sites.get(&e.id).map(|sites| sites.iter().map(value).collect()).unwrap_or_default()
    }

    fn is_lifted(&self, e: &Exp) -> bool {
        self.liftings(e).iter().any(|l| l.maps > 0 || l.reps > 0 || l.frame > 0)
    }

    /// The arguments of an application. If its function has a frame, it is an application itself, and its arguments
    /// come first.
    fn call(&self, e: Exp) -> Option<Call> {
        let liftings = self.liftings(&e);
        let frame = liftings.first().map_or(0, |lifting| lifting.frame);
        let is_pipe = self.problem.pipes.contains(&e.id);
        let (head, args, pipe) = match e.kind {
            ExpKind::App { fun, args } => (CallHead::Fun(*fun), args, None),
            ExpKind::BinOp { op, lhs, rhs } => match (is_pipe, op.name.as_str()) {
                (true, "|>") => (CallHead::Fun(*rhs), vec![*lhs], Some(op)),
                (true, _) => (CallHead::Fun(*lhs), vec![*rhs], Some(op)),
                (false, _) => (CallHead::Op(op), vec![*lhs, *rhs], None),
            },
            ExpKind::Neg(operand) => (CallHead::Neg, vec![*operand], None),
            ExpKind::Not(operand) => (CallHead::Not, vec![*operand], None),
            ExpKind::Project(inner, field) => (CallHead::Project(field), vec![*inner], None),
            ExpKind::If { cond, then, otherwise } => (CallHead::If, vec![*cond, *then, *otherwise], None),
            ExpKind::Index(array, slice) => {
                let indices = slice.into_iter().filter_map(|index| match index {
                    SliceIndex::Index(index) => Some(index),
                    SliceIndex::Slice { .. } => None,
                });
                (CallHead::Index, std::iter::once(*array).chain(indices).collect(), None)
            }
            ExpKind::Paren(inner) | ExpKind::Attr(_, inner) => return self.call(*inner),
            _ => return None,
        };
        if args.len() != liftings.len() {
            return None;
        }
        let mut args: Vec<(Exp, Lifting)> = args.into_iter().zip(liftings).collect();
        match head {
            CallHead::Fun(fun) if frame > 0 && has_frame(&fun) => {
                let mut inner = self.call(fun)?;
                inner.args.append(&mut args);
                Some(Call { pipe, ..inner })
            }
            head => Some(Call { head, pipe, args }),
        }
    }

    fn lifted(&mut self, call: Call, span: Span, mark: usize) -> Option<Piece> {
        // What is read or chosen from is taken again without a word, as nothing else is possible.
        let reps = match call.head {
            CallHead::If | CallHead::Index | CallHead::Project(_) => Reps::Fused,
            CallHead::Op(_) | CallHead::Neg | CallHead::Not | CallHead::Fun(_) => self.reps,
        };
        let head = match call.head {
            CallHead::Project(field) => Head::Project(field),
            CallHead::If => Head::If,
            CallHead::Index => Head::Index,
            CallHead::Op(op) => Head::Op(op),
            CallHead::Neg => Head::Neg,
            CallHead::Not => Head::Not,
            CallHead::Fun(fun) => Head::Fun(Box::new(self.piece(fun, mark))),
        };
        let levels: i64 = call.args.iter().map(|(_, lifting)| lifting.maps).sum();
        let mut frame = 0;
        let mut args = Vec::new();
        for (arg, lifting) in call.args {
            // A frame that does not come from maps is an array of functions, which has no maps to be written.
            if lifting.frame != frame {
                return None;
            }
            frame += lifting.maps;
            // Reps take the place of outer maps; those beyond are written out.
            let depth = (frame - lifting.reps).max(0);
            let written = match reps {
                Reps::Fused => (lifting.reps - frame).max(0),
                Reps::Written => levels - depth + (lifting.reps - frame).max(0),
            };
            let depth = if reps == Reps::Fused { depth } else { levels };
            let piece = self.piece(arg, mark);
            let piece = self.maker.replicated(piece, written as usize);
            args.push(Arg { piece, depth: depth as usize });
        }
        match call.pipe {
            Some(op) => write_pipe(&mut self.maker, &op, head, args, levels as usize, span),
            None => write_nest(&mut self.maker, head, args, levels as usize, span),
        }
    }

    fn section(&mut self, e: &Exp, op: QualName, operand: Exp, is_left: bool, mark: usize) -> Option<Piece> {
        let lifting = *self.liftings(e).first()?;
        let operand = self.piece(operand, mark);
        let operand = self.maker.replicated(operand, lifting.reps as usize);
        write_section(&mut self.maker, op, operand, lifting.maps as usize, is_left, e.span)
    }

    /// `a.b.c`, where `a` is an array of records.
    fn fields(&mut self, e: &Exp, name: QualName) -> Option<Piece> {
        let liftings = self.liftings(e);
        let mut names = name.quals;
        names.push(Ident { name: name.name, span: name.span });
        let fields = names.split_off(names.len().checked_sub(liftings.len())?);
        let last = names.pop()?;
        let texts: Vec<String> = names.iter().chain([&last]).map(|part| part.name.to_string()).collect();
        let kind = ExpKind::Var(QualName { quals: names, name: last.name, span: name.span });
        let exp = self.maker.make(kind, e.span);
        let mut piece = Piece { exp, text: texts.join("."), shape: Shape::Atom };
        for (field, lifting) in fields.into_iter().zip(liftings) {
            let depth = usize::try_from(lifting.maps).ok()?;
            let args = vec![Arg { piece, depth }];
            piece = write_nest(&mut self.maker, Head::Project(field), args, depth, e.span)?;
        }
        Some(piece)
    }

    /// `f >-> g`, with `g` lifted.
    fn composition(&mut self, e: &Exp, op: QualName, lhs: Exp, rhs: Exp, mark: usize) -> Option<Piece> {
        let lifting = *self.liftings(e).first()?;
        let (maps, reps) = (lifting.maps as usize, lifting.reps as usize);
        let (mut lhs, mut rhs) = (self.piece(lhs, mark), self.piece(rhs, mark));
        let is_right = op.name.as_str() == ">->";
        let second = if is_right { &mut rhs } else { &mut lhs };
        *second = self.maker.mapped(second.clone(), maps);
        for _ in 0..reps {
            let rep = self.maker.prelude("rep", e.span);
            let (left, right) = if is_right { (rep, second.clone()) } else { (second.clone(), rep) };
            *second = self.maker.operation(&op, &left, &right, e.span);
        }
        Some(self.maker.operation(&op, &lhs, &rhs, e.span))
    }

    /// A part of the source that is kept, but for what is lifted inside of it.
    fn piece(&mut self, mut e: Exp, mark: usize) -> Piece {
        while let ExpKind::Paren(inner) = e.kind {
            e = *inner;
        }
        let span = e.span;
        let lifted = self.exp(&mut e, Place::Anything);
        let text = edited(self.origin.sources, span, &self.edits[mark..]);
        let shape = lifted.unwrap_or_else(|| shape(&e));
        Piece { exp: e, text, shape }
    }

    /// Comments that were between the parts of an expression come before it.
    fn with_comments(&self, text: String, span: Span, kept: &[Span]) -> String {
        let lost = self.origin.comments.iter().filter(|comment| {
            covers(span, comment.span) && !kept.iter().any(|kept| covers(*kept, comment.span))
        });
        let column = self.origin.sources.line_col(span).map_or(0, |(_, column)| column - 1);
        let lines: String = lost.map(|c| format!("{}\n{:column$}", c.text, "")).collect();
        format!("{lines}{text}")
    }
}

impl Call {
    /// Where the parts of the source are that stay.
    fn spans(&self) -> Vec<Span> {
        let head = match &self.head {
            CallHead::Fun(fun) => Some(bare(fun).span),
            CallHead::Op(_)
            | CallHead::Neg
            | CallHead::Not
            | CallHead::Project(_)
            | CallHead::If
            | CallHead::Index => None,
        };
        self.args.iter().map(|(arg, _)| bare(arg).span).chain(head).collect()
    }
}

/// An expression without the parentheses around it.
fn bare(e: &Exp) -> &Exp {
    match &e.kind {
        ExpKind::Paren(inner) => bare(inner),
        _ => e,
    }
}
