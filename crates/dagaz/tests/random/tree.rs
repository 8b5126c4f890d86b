//! Programs as trees of text with holes, so that a program that breaks a law can be made smaller without knowing
//! what its text means.

use std::fmt;

/// Types of the expressions that programs are made of. Sizes are constants.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Ty {
    Number,
    Vector(usize),
    Matrix(usize, usize),
    /// An integer from 0 up to, but without, this one.
    Index(usize),
    /// So many integers.
    Indices(usize),
    Truth,
}

impl fmt::Display for Ty {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Ty::Number => write!(f, "f64"),
            Ty::Vector(n) => write!(f, "[{n}]f64"),
            Ty::Matrix(n, m) => write!(f, "[{n}][{m}]f64"),
            Ty::Index(_) => write!(f, "i64"),
            Ty::Indices(n) => write!(f, "[{n}]i64"),
            Ty::Truth => write!(f, "bool"),
        }
    }
}

impl Ty {
    /// The simplest expression of the type.
    pub fn default_text(self) -> String {
        match self {
            Ty::Number => "0.5".to_owned(),
            Ty::Vector(n) => format!("replicate {n} 0.5"),
            Ty::Matrix(n, m) => format!("replicate {n} (replicate {m} 0.5)"),
            Ty::Index(_) => "0".to_owned(),
            Ty::Indices(n) => format!("replicate {n} 0"),
            Ty::Truth => "true".to_owned(),
        }
    }
}

/// An expression: text with a hole `@` for each part.
#[derive(Clone, Debug)]
pub struct Node {
    pub ty: Ty,
    pub text: String,
    pub parts: Vec<Node>,
}

impl Node {
    pub fn leaf(ty: Ty, text: impl Into<String>) -> Node {
        Node { ty, text: text.into(), parts: Vec::new() }
    }

    pub fn new(ty: Ty, text: impl Into<String>, parts: Vec<Node>) -> Node {
        let text = text.into();
        assert_eq!(text.matches('@').count(), parts.len(), "holes and parts of {text}");
        Node { ty, text, parts }
    }

    /// Every program that is one step smaller: a part is replaced by the simplest expression of its type, or by a part
    /// of its own. The largest steps come first. Some of these programs use variables that they do not bind.
    pub fn smaller(&self) -> Vec<Node> {
        let mut all = Vec::new();
        for (i, part) in self.parts.iter().enumerate() {
            let with = |new: Node| {
                let mut parts = self.parts.clone();
                parts[i] = new;
                Node { parts, ..self.clone() }
            };
            let default = part.ty.default_text();
            if part.text != default {
                all.push(with(Node::leaf(part.ty, default)));
            }
            all.extend(part.inner().filter(|inner| inner.ty == part.ty).cloned().map(with));
            all.extend(part.smaller().into_iter().map(with));
        }
        all
    }

    fn inner(&self) -> impl Iterator<Item = &Node> {
        self.parts.iter().chain(self.parts.iter().flat_map(|part| &part.parts))
    }
}

impl fmt::Display for Node {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut parts = self.parts.iter();
        write!(f, "(")?;
        for piece in self.text.split_inclusive('@') {
            match (piece.strip_suffix('@'), piece.ends_with('@')) {
                (Some(before), true) => {
                    write!(f, "{before}")?;
                    parts.next().map_or(Ok(()), |part| part.fmt(f))?;
                }
                _ => write!(f, "{piece}")?,
            }
        }
        write!(f, ")")
    }
}
