//! Writes a lifted application as a nest of maps.
//!
//! ```text
//! kx * m        with `kx` mapped over once, `m` twice        ==>        map (map2 (*) kx) m
//! m * kx                                                     ==>        map (\x -> map2 (*) x kx) m
//! ```
//!
//! An argument that has fewer dimensions than the nest is deep is not replicated but captured by the functions that
//! are mapped: 001 calls that rep fusion (4.8.2 and 4.8.4). Everything is made twice, as a tree for the checker and as
//! text for people, and reading the text gives the tree.

use dagaz_syntax::ast::{Access, Exp, ExpKind, Ident, NodeId, Pat, PatKind, QualName, SliceIndex};
use dagaz_syntax::{Name, Span};

use super::children::{Place, Shape, is_cheap};

/// A piece of the program: a tree, and how it is written.
#[derive(Clone, Debug)]
pub(super) struct Piece {
    pub exp: Exp,
    pub text: String,
    pub shape: Shape,
}

impl Piece {
    pub fn text_at(&self, place: Place) -> String {
        if place.fits(self.shape) { self.text.clone() } else { format!("({})", self.text) }
    }
}

/// The prelude has `map2` up to this number.
const MAP_FUNCTIONS: usize = 5;

/// What is applied.
#[derive(Clone, Debug)]
pub(super) enum Head {
    Op(QualName),
    Neg,
    Not,
    Fun(Box<Piece>),
    /// `x.field`
    Project(Ident),
    If,
    /// The first argument read at all others.
    Index,
}

/// An argument, and how many of the innermost maps go over it.
#[derive(Clone, Debug)]
pub(super) struct Arg {
    pub piece: Piece,
    pub depth: usize,
}

/// Makes nodes and names that are new to a definition.
pub(super) struct Maker {
    /// Names that occur in the definition.
    pub taken: std::collections::HashSet<String>,
    pub next_node: u32,
    pub next_binder: u32,
    /// Uses of functions of the prelude.
    pub used: Vec<(NodeId, Name)>,
}

impl Maker {
    pub fn make(&mut self, kind: ExpKind, span: Span) -> Exp {
        self.next_node += 1;
        Exp { id: NodeId(self.next_node - 1), kind, span }
    }

    fn variable(&mut self, name: Name, span: Span) -> Piece {
        let kind = ExpKind::Var(QualName { quals: Vec::new(), name, span });
        Piece { exp: self.make(kind, span), text: name.to_string(), shape: Shape::Atom }
    }

    pub fn prelude(&mut self, name: &str, span: Span) -> Piece {
        let name = Name::new(name);
        let piece = self.variable(name, span);
        self.used.push((piece.exp.id, name));
        piece
    }

    fn apply(&mut self, fun: &Piece, args: &[Piece], span: Span) -> Piece {
        let mut text = fun.text_at(Place::Atom);
        for arg in args {
            text.push(' ');
            text.push_str(&arg.text_at(Place::Atom));
        }
        let fun = Box::new(fun.exp.clone());
        let kind = ExpKind::App { fun, args: args.iter().map(|arg| arg.exp.clone()).collect() };
        Piece { exp: self.make(kind, span), text, shape: Shape::Application }
    }

    /// `rep (… piece)`
    pub fn replicated(&mut self, piece: Piece, times: usize) -> Piece {
        (0..times).fold(piece, |piece, _| {
            let span = piece.exp.span;
            let rep = self.prelude("rep", span);
            self.apply(&rep, &[piece], span)
        })
    }

    /// `map (… piece)`
    pub fn mapped(&mut self, piece: Piece, times: usize) -> Piece {
        (0..times).fold(piece, |piece, _| {
            let span = piece.exp.span;
            let map = self.prelude("map", span);
            self.apply(&map, &[piece], span)
        })
    }

    /// `lhs op rhs`
    pub fn operation(&mut self, op: &QualName, lhs: &Piece, rhs: &Piece, span: Span) -> Piece {
        let is_pipe = op.name.as_str() == "|>";
        let left = lhs.text_at(if is_pipe { Place::Chain } else { Place::Operand });
        let text = format!("{left} {} {}", infix(op), rhs.text_at(Place::Operand));
        let shape = if is_pipe { Shape::Pipe } else { Shape::Other };
        let (op, lhs, rhs) = (op.clone(), Box::new(lhs.exp.clone()), Box::new(rhs.exp.clone()));
        Piece { exp: self.make(ExpKind::BinOp { op, lhs, rhs }, span), text, shape }
    }

    /// A binder that clashes with nothing: its place is in no file, and no other binder has it.
    fn binder(&mut self, name: Name) -> Ident {
        self.next_binder += 1;
        let place = Span { start: self.next_binder, end: self.next_binder, ..Span::NONE };
        Ident { name, span: place }
    }

    fn pattern(&mut self, name: Name) -> Pat {
        let ident = self.binder(name);
        self.next_node += 1;
        Pat { id: NodeId(self.next_node - 1), kind: PatKind::Var(ident), span: ident.span }
    }

    fn pair(&mut self, first: Pat, second: Pat) -> Pat {
        self.next_node += 1;
        let span = first.span;
        Pat { id: NodeId(self.next_node - 1), kind: PatKind::Tuple(vec![first, second]), span }
    }

    /// `map`, `map2`, … of a function over some arrays, or waiting for them.
    fn map_function(&mut self, arity: usize, span: Span) -> Option<Piece> {
        match arity {
            1 => Some(self.prelude("map", span)),
            2..=MAP_FUNCTIONS => Some(self.prelude(&format!("map{arity}"), span)),
            _ => None,
        }
    }
}

/// A lifted application on its way.
pub(super) struct Nest<'a> {
    pub maker: &'a mut Maker,
    pub head: Head,
    pub span: Span,
    /// Names bound so far in this nest.
    names: usize,
    has_lambda: bool,
}

/// The application of a head to arguments under `levels` maps. None if there are more arrays to map over at once than
/// there are map functions for.
pub(super) fn write_nest(
    maker: &mut Maker,
    head: Head,
    args: Vec<Arg>,
    levels: usize,
    span: Span,
) -> Option<Piece> {
    let mut nest = Nest { maker, head, span, names: 0, has_lambda: false };
    let piece = nest.level(&args, levels)?;
    if !nest.has_lambda {
        return Some(piece);
    }
    nest.with_names(args, |nest, args| nest.level(args, levels), levels)
}

/// As [`write_nest`], for a pipe: the last argument stands on its own side of the operator, if the rest can be written as a
/// function without a lambda.
pub(super) fn write_pipe(
    maker: &mut Maker,
    op: &QualName,
    head: Head,
    args: Vec<Arg>,
    levels: usize,
    span: Span,
) -> Option<Piece> {
    let last = args.len().checked_sub(1)?;
    let mut nest = Nest { maker, head: head.clone(), span, names: 0, has_lambda: false };
    let fun = nest.function(&args, &[last], levels)?;
    if nest.has_lambda || args[last].depth < levels {
        return write_nest(maker, head, args, levels, span);
    }
    let arg = &args[last].piece;
    Some(match op.name.as_str() {
        "|>" => maker.operation(op, arg, &fun, span),
        _ => maker.operation(op, &fun, arg, span),
    })
}

/// A section whose operand is lifted: a function of the other operand.
pub(super) fn write_section(
    maker: &mut Maker,
    op: QualName,
    operand: Piece,
    levels: usize,
    is_left: bool,
    span: Span,
) -> Option<Piece> {
    let mut nest = Nest { maker, head: Head::Op(op), span, names: 0, has_lambda: false };
    let missing = nest.maker.variable(Name::new("_"), span);
    let (operand, missing) = (Arg { piece: operand, depth: levels }, Arg { piece: missing, depth: levels });
    let (args, open) = if is_left { (vec![operand, missing], 1) } else { (vec![missing, operand], 0) };
    let piece = nest.function(&args, &[open], levels)?;
    if !nest.has_lambda {
        return Some(piece);
    }
    nest.with_names(args, |nest, args| nest.function(args, &[open], levels), levels + 1)
}

impl Nest<'_> {
    /// Arguments that would be computed again and again inside of a lambda get a name outside.
    fn with_names(
        &mut self,
        mut args: Vec<Arg>,
        write: impl FnOnce(&mut Self, &[Arg]) -> Option<Piece>,
        levels: usize,
    ) -> Option<Piece> {
        self.names = 0;
        let mut named = Vec::new();
        for arg in args.iter_mut().filter(|arg| arg.depth < levels && !is_cheap(&arg.piece.exp)) {
            let name = self.fresh_name();
            let variable = self.maker.variable(name, arg.piece.exp.span);
            named.push((name, std::mem::replace(&mut arg.piece, variable)));
        }
        let body = write(self, &args)?;
        Some(named.into_iter().rev().fold(body, |body, (name, value)| {
            let text = format!("let {name} = {} in {}", value.text, body.text);
            let pat = self.maker.pattern(name);
            let (value, body) = (Box::new(value.exp), Box::new(body.exp));
            let exp = self.maker.make(ExpKind::Let { sizes: Vec::new(), pat, value, body }, self.span);
            Piece { exp, text, shape: Shape::Other }
        }))
    }

    fn fresh_name(&mut self) -> Name {
        loop {
            self.names += 1;
            let name = match self.names {
                n @ 1..=3 => ["x", "y", "z"][n - 1].to_owned(),
                n => format!("x{}", n - 3),
            };
            if !self.maker.taken.contains(&name) {
                return Name::new(&name);
            }
        }
    }

    /// The application under `level` maps.
    fn level(&mut self, args: &[Arg], level: usize) -> Option<Piece> {
        if level == 0 {
            return self.direct(args);
        }
        let mapped: Vec<usize> = (0..args.len()).filter(|i| args[*i].depth >= level).collect();
        if mapped.len() > MAP_FUNCTIONS {
            return self.zipped(args, &mapped, level);
        }
        let fun = self.function(args, &mapped, level - 1)?;
        let arrays: Vec<Piece> =
            std::iter::once(fun).chain(mapped.iter().map(|i| args[*i].piece.clone())).collect();
        let map = self.maker.map_function(mapped.len(), self.span)?;
        Some(self.maker.apply(&map, &arrays, self.span))
    }

    /// One map over more arrays than there are map functions for: `map (\((x, y), z) -> …) (zip (zip xs ys) zs)`.
    fn zipped(&mut self, args: &[Arg], mapped: &[usize], level: usize) -> Option<Piece> {
        self.has_lambda = true;
        let (span, mut args) = (self.span, args.to_vec());
        let mut elements: Option<(Pat, String)> = None;
        let mut arrays: Option<Piece> = None;
        for i in mapped {
            let name = self.fresh_name();
            let variable = self.maker.variable(name, args[*i].piece.exp.span);
            let array = std::mem::replace(&mut args[*i].piece, variable);
            let binder = self.maker.pattern(name);
            elements = Some(match elements {
                None => (binder, name.to_string()),
                Some((pat, text)) => (self.maker.pair(pat, binder), format!("({text}, {name})")),
            });
            arrays = Some(match arrays {
                None => array,
                Some(arrays) => {
                    let zip = self.maker.prelude("zip", span);
                    self.maker.apply(&zip, &[arrays, array], span)
                }
            });
        }
        let ((pat, text), arrays) = (elements?, arrays?);
        let body = self.level(&args, level - 1)?;
        let kind = ExpKind::Lambda { params: vec![pat], ret: None, body: Box::new(body.exp) };
        let text = format!("\\{text} -> {}", body.text);
        let fun = Piece { exp: self.maker.make(kind, span), text, shape: Shape::Other };
        let map = self.maker.prelude("map", span);
        Some(self.maker.apply(&map, &[fun, arrays], span))
    }

    /// The application under `level` maps, as a function of the arguments in `open`; the others are captured.
    fn function(&mut self, args: &[Arg], open: &[usize], level: usize) -> Option<Piece> {
        let captured: Vec<usize> = (0..args.len()).filter(|i| !open.contains(i)).collect();
        if level == 0 {
            if let Some(piece) = self.bare_function(args, open, &captured) {
                return Some(piece);
            }
        } else {
            // A map function that waits for its last arguments, if the open ones come last.
            let mapped: Vec<usize> = (0..args.len()).filter(|i| args[*i].depth >= level).collect();
            let early: Vec<usize> = mapped.iter().copied().filter(|i| captured.contains(i)).collect();
            if mapped.len() <= MAP_FUNCTIONS && early.iter().all(|e| open.iter().all(|o| e < o)) {
                let fun = self.function(args, &mapped, level - 1)?;
                let first: Vec<Piece> =
                    std::iter::once(fun).chain(early.iter().map(|i| args[*i].piece.clone())).collect();
                let map = self.maker.map_function(mapped.len(), self.span)?;
                return Some(self.maker.apply(&map, &first, self.span));
            }
        }
        self.lambda(args, open, level)
    }

    /// The head itself, a section, or a partial application.
    fn bare_function(&mut self, args: &[Arg], open: &[usize], captured: &[usize]) -> Option<Piece> {
        match (&self.head, captured) {
            (Head::Fun(fun), []) => Some((**fun).clone()),
            (Head::Fun(fun), _) if captured.iter().all(|c| open.iter().all(|o| c < o)) => {
                let first: Vec<Piece> = captured.iter().map(|i| args[*i].piece.clone()).collect();
                let fun = fun.clone();
                Some(self.maker.apply(&fun, &first, self.span))
            }
            (Head::Op(op), []) => {
                let op = op.clone();
                let text = if op.name.is_symbol() { format!("({})", qualified(&op)) } else { qualified(&op) };
                let exp = self.maker.make(ExpKind::Var(op), self.span);
                Some(Piece { exp, text, shape: Shape::Atom })
            }
            (Head::Op(op), [0]) => {
                let (op, lhs) = (op.clone(), args[0].piece.clone());
                let text = format!("({} {})", lhs.text_at(Place::Operand), infix(&op));
                let exp = ExpKind::SectionLeft { op, lhs: Box::new(lhs.exp) };
                Some(Piece { exp: self.maker.make(exp, self.span), text, shape: Shape::Atom })
            }
            // `(- x)` is a number.
            (Head::Op(op), [1]) if op.name.as_str() != "-" || !op.quals.is_empty() => {
                let (op, rhs) = (op.clone(), args[1].piece.clone());
                let text = format!("({} {})", infix(&op), rhs.text_at(Place::Operand));
                let exp = ExpKind::SectionRight { op, rhs: Box::new(rhs.exp) };
                Some(Piece { exp: self.maker.make(exp, self.span), text, shape: Shape::Atom })
            }
            (Head::Project(field), []) => {
                let text = format!("(.{})", field.name);
                let exp = self.maker.make(ExpKind::SectionAccess(vec![Access::Field(*field)]), self.span);
                Some(Piece { exp, text, shape: Shape::Atom })
            }
            (
                Head::Fun(_)
                | Head::Op(_)
                | Head::Neg
                | Head::Not
                | Head::Project(_)
                | Head::If
                | Head::Index,
                _,
            ) => None,
        }
    }

    fn lambda(&mut self, args: &[Arg], open: &[usize], level: usize) -> Option<Piece> {
        self.has_lambda = true;
        let mut args = args.to_vec();
        let mut params = Vec::new();
        let mut text = "\\".to_owned();
        for i in open {
            let name = self.fresh_name();
            args[*i].piece = self.maker.variable(name, args[*i].piece.exp.span);
            params.push(self.maker.pattern(name));
            text.push_str(&format!("{name} "));
        }
        let body = self.level(&args, level)?;
        text.push_str(&format!("-> {}", body.text));
        let kind = ExpKind::Lambda { params, ret: None, body: Box::new(body.exp) };
        Some(Piece { exp: self.maker.make(kind, self.span), text, shape: Shape::Other })
    }

    /// The application itself.
    fn direct(&mut self, args: &[Arg]) -> Option<Piece> {
        let pieces: Vec<Piece> = args.iter().map(|arg| arg.piece.clone()).collect();
        match (self.head.clone(), &pieces[..]) {
            (Head::Op(op), [lhs, rhs]) => Some(self.maker.operation(&op, lhs, rhs, self.span)),
            (Head::Neg, [arg]) => {
                let text = format!("-{}", arg.text_at(Place::Atom));
                let exp = self.maker.make(ExpKind::Neg(Box::new(arg.exp.clone())), self.span);
                Some(Piece { exp, text, shape: Shape::Other })
            }
            (Head::Not, [arg]) => {
                let text = format!("!{}", arg.text_at(Place::Atom));
                let exp = self.maker.make(ExpKind::Not(Box::new(arg.exp.clone())), self.span);
                Some(Piece { exp, text, shape: Shape::Other })
            }
            (Head::Fun(fun), args) => Some(self.maker.apply(&fun, args, self.span)),
            (Head::Project(field), [arg]) => {
                let text = format!("{}.{}", arg.text_at(Place::Atom), field.name);
                let kind = ExpKind::Project(Box::new(arg.exp.clone()), field);
                Some(Piece { exp: self.maker.make(kind, self.span), text, shape: Shape::Atom })
            }
            (Head::If, [cond, then, otherwise]) => {
                let text = format!("if {} then {} else {}", cond.text, then.text, otherwise.text);
                let [cond, then, otherwise] = [cond, then, otherwise].map(|p| Box::new(p.exp.clone()));
                let exp = self.maker.make(ExpKind::If { cond, then, otherwise }, self.span);
                Some(Piece { exp, text, shape: Shape::Other })
            }
            (Head::Index, [array, indices @ ..]) => {
                let texts: Vec<&str> = indices.iter().map(|index| index.text.as_str()).collect();
                let text = format!("{}[{}]", array.text_at(Place::Atom), texts.join(", "));
                let indices = indices.iter().map(|index| SliceIndex::Index(index.exp.clone())).collect();
                let kind = ExpKind::Index(Box::new(array.exp.clone()), indices);
                Some(Piece { exp: self.maker.make(kind, self.span), text, shape: Shape::Atom })
            }
            (Head::Op(_) | Head::Neg | Head::Not | Head::Project(_) | Head::If | Head::Index, _) => None,
        }
    }
}

fn qualified(name: &QualName) -> String {
    let quals: String = name.quals.iter().map(|qual| format!("{}.", qual.name)).collect();
    format!("{quals}{}", name.name)
}

/// An operator between its operands.
fn infix(op: &QualName) -> String {
    if op.name.is_symbol() { qualified(op) } else { format!("`{}`", qualified(op)) }
}
