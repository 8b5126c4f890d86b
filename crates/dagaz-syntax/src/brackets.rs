//! Which closing bracket belongs to which opening one, so that the parser can leave a group it cannot read.

use crate::token::{Keyword, Token, TokenKind};

/// For each token the index of the closing bracket that matches it.
pub(crate) struct BracketTable(Vec<u32>);

const NONE: u32 = u32::MAX;

impl BracketTable {
    /// A declaration keyword at the start of a line ends all open parentheses and square brackets: they
    /// cannot contain declarations, so somebody forgot to close them.
    pub fn new(tokens: &[Token]) -> BracketTable {
        let mut closers = vec![NONE; tokens.len()];
        let mut open: Vec<(usize, TokenKind)> = Vec::new();
        for (index, token) in tokens.iter().enumerate() {
            if let Some(closer) = token.kind.closer() {
                open.push((index, closer));
            } else if matches!(token.kind, TokenKind::RParen | TokenKind::RBracket | TokenKind::RBrace) {
                // A closing bracket matches the innermost or the next outer opening one; others are strays.
                let depth = open.iter().rev().take(2).position(|&(_, closer)| closer == token.kind);
                if let Some(depth) = depth {
                    open.truncate(open.len() - depth);
                    if let Some((opener, _)) = open.pop() {
                        closers[opener] = index as u32;
                    }
                }
            } else if token.first_on_line && ends_groups(token.kind) {
                while open.pop_if(|(_, closer)| *closer != TokenKind::RBrace).is_some() {}
            }
        }
        BracketTable(closers)
    }

    pub fn closer_of(&self, opener: usize) -> Option<usize> {
        self.0.get(opener).copied().filter(|&index| index != NONE).map(|index| index as usize)
    }
}

fn ends_groups(kind: TokenKind) -> bool {
    // `import` may stand in parentheses, as a module expression.
    matches!(kind, TokenKind::Keyword(word) if word.starts_dec() && word != Keyword::Import)
}
