//! Source locations of Core statements, with the calls that brought inlined code to its place.

use std::collections::HashMap;
use std::sync::Arc;

use dagaz_core::exp::{Loc, SourceLoc};
use dagaz_syntax::{FileId, SourceMap, Span};

/// Chains of inlined calls longer than this are cut, so that they stay cheap.
const MAX_INLINED: u32 = 8;

pub(crate) struct Locs<'a> {
    sources: &'a SourceMap,
    pub table: Vec<SourceLoc>,
    interned: HashMap<(FileId, u32, Option<Loc>), Loc>,
    /// Name and line starts of every file seen.
    files: HashMap<FileId, File>,
    inlined: Inlined,
}

struct File {
    name: Arc<str>,
    line_starts: Vec<u32>,
}

/// The calls around the code that is being simplified.
#[derive(Clone, Copy, Default)]
pub(crate) struct Inlined {
    at: Option<Loc>,
    depth: u32,
}

impl<'a> Locs<'a> {
    pub fn new(sources: &'a SourceMap) -> Locs<'a> {
        Locs {
            sources,
            table: Vec::new(),
            interned: HashMap::new(),
            files: HashMap::new(),
            inlined: Inlined::default(),
        }
    }

    /// Code from now on was inlined by a call at `loc`. Returns what [`Locs::enter_inlined`] restores.
    pub fn push_inlined(&mut self, loc: Loc) -> Inlined {
        let outer = self.inlined;
        if outer.depth < MAX_INLINED && loc != Loc::NONE {
            self.inlined = Inlined { at: Some(loc), depth: outer.depth + 1 };
        }
        outer
    }

    pub fn leave_inlined(&mut self) -> Inlined {
        std::mem::take(&mut self.inlined)
    }

    pub fn enter_inlined(&mut self, inlined: Inlined) {
        self.inlined = inlined;
    }

    pub fn is_in_prelude(&self, span: Span) -> bool {
        self.sources.get(span.file).is_some_and(|source| source.name.starts_with("/prelude/"))
    }

    /// The place of the first of the inlined calls that brought code to a place.
    pub fn outermost(&self, loc: Loc) -> Option<Span> {
        let mut place = self.table.get(loc.0 as usize)?;
        while let Some(outer) = place.inlined_at.and_then(|at| self.table.get(at.0 as usize)) {
            place = outer;
        }
        self.sources.span_at(&place.file, place.line, place.col)
    }

    pub fn intern(&mut self, span: Span) -> Loc {
        let key = (span.file, span.start, self.inlined.at);
        if let Some(loc) = self.interned.get(&key) {
            return *loc;
        }
        let Some(source) = self.sources.get(span.file) else { return Loc::NONE };
        let file = self.files.entry(span.file).or_insert_with(|| File {
            name: source.name.as_str().into(),
            line_starts: std::iter::once(0)
                .chain(
                    source.text.bytes().enumerate().filter(|(_, b)| *b == b'\n').map(|(i, _)| i as u32 + 1),
                )
                .collect(),
        });
        let line = file.line_starts.partition_point(|start| *start <= span.start);
        let start = file.line_starts[line - 1] as usize;
        let col = source.text.get(start..span.start as usize).map_or(0, |text| text.chars().count()) + 1;
        let loc = Loc(self.table.len() as u32);
        self.table.push(SourceLoc {
            file: file.name.clone(),
            line: line as u32,
            col: col as u32,
            inlined_at: self.inlined.at,
        });
        self.interned.insert(key, loc);
        loc
    }
}
