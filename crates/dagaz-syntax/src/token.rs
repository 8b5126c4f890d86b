//! Tokens: the words the parser reads.

use crate::Name;
use crate::ast::Literal;

/// A token and where it stands (bytes of the text).
#[derive(Clone, Copy, Debug)]
pub(crate) struct Token {
    pub kind: TokenKind,
    pub start: u32,
    pub end: u32,
    /// Whether only white space stands before it on its line.
    pub first_on_line: bool,
}

#[derive(Clone, Copy, PartialEq, Debug)]
pub(crate) enum TokenKind {
    Ident(Name),
    Keyword(Keyword),
    /// `#name`
    Constructor(Name),
    /// A decimal number without fraction, exponent or suffix; it may name a field.
    Nat(i128),
    /// Any other number, or a character.
    Lit(Literal),
    /// A string: an index into the lexer's strings.
    Str(u32),
    /// An operator that has no kind of its own below.
    Symbol(Name),
    /// `m.+`: an index into the lexer's qualified operators.
    QualSymbol(u32),
    Minus,
    Star,
    Less,
    Caret,
    Bar,
    Bang,
    Equal,
    Arrow,
    LParen,
    RParen,
    LBracket,
    /// `[` right behind an identifier, number or closing bracket: an index.
    IndexBracket,
    RBracket,
    LBrace,
    RBrace,
    /// `#[`
    HashBracket,
    Comma,
    Semicolon,
    Colon,
    /// `:>`
    ColonGreater,
    Dot,
    /// `..`
    TwoDots,
    /// `...`
    ThreeDots,
    /// `..<`
    TwoDotsLess,
    /// `..>`
    TwoDotsGreater,
    Underscore,
    Backslash,
    Backquote,
    Question,
    /// `???`
    Hole,
    Tilde,
    /// `'`
    Quote,
    /// `'~`
    QuoteTilde,
    /// `'^`
    QuoteCaret,
    /// Text that is no token; an error was reported.
    Unknown,
    Eof,
}

macro_rules! keywords {
    ($($variant:ident $text:literal),* $(,)?) => {
        /// A reserved word.
        #[derive(Clone, Copy, PartialEq, Eq, Debug)]
        pub(crate) enum Keyword { $($variant),* }

        impl Keyword {
            pub fn from_text(text: &str) -> Option<Keyword> {
                match text {
                    $($text => Some(Keyword::$variant),)*
                    _ => None,
                }
            }

            pub fn text(self) -> &'static str {
                match self { $(Keyword::$variant => $text),* }
            }
        }
    };
}

keywords! {
    True "true", False "false", If "if", Then "then", Else "else", Def "def", Let "let", Loop "loop",
    In "in", Val "val", For "for", Do "do", With "with", Local "local", Open "open", Include "include",
    Import "import", Type "type", Entry "entry", Module "module", While "while", Assert "assert",
    Match "match", Case "case",
}

impl Keyword {
    /// Whether the word starts a declaration or specification and can stand in no expression.
    pub fn starts_dec(self) -> bool {
        use Keyword::*;
        matches!(self, Def | Entry | Type | Module | Open | Import | Local | Val | Include)
    }
}

impl TokenKind {
    pub fn is(self, keyword: Keyword) -> bool {
        self == TokenKind::Keyword(keyword)
    }

    /// The name of an unqualified binary operator.
    pub fn operator(self) -> Option<Name> {
        match self {
            TokenKind::Symbol(name) => Some(name),
            TokenKind::Minus => Some(Name::new("-")),
            TokenKind::Star => Some(Name::new("*")),
            TokenKind::Less => Some(Name::new("<")),
            TokenKind::Caret => Some(Name::new("^")),
            TokenKind::Bar => Some(Name::new("|")),
            _ => None,
        }
    }

    /// Whether this is a binary operator or opens a backquoted one.
    pub fn is_operator(self) -> bool {
        use TokenKind::*;
        matches!(self, Symbol(_) | QualSymbol(_) | Minus | Star | Less | Caret | Bar | Backquote)
    }

    /// Whether an expression that can be an argument starts here.
    pub fn starts_atom(self) -> bool {
        use TokenKind::*;
        match self {
            Ident(_) | Constructor(_) | Nat(_) | Lit(_) | Str(_) | Hole | LParen | LBracket | LBrace => true,
            Keyword(word) => matches!(word, self::Keyword::True | self::Keyword::False),
            _ => false,
        }
    }

    /// Whether a parameter starts here.
    pub fn starts_param(self) -> bool {
        use TokenKind::*;
        match self {
            Ident(_) | Constructor(_) | Nat(_) | Lit(_) | Underscore | LParen | LBrace => true,
            Keyword(word) => matches!(word, self::Keyword::True | self::Keyword::False),
            _ => false,
        }
    }

    /// The closing bracket of an opening one.
    pub fn closer(self) -> Option<TokenKind> {
        match self {
            TokenKind::LParen => Some(TokenKind::RParen),
            TokenKind::LBracket | TokenKind::IndexBracket | TokenKind::HashBracket => {
                Some(TokenKind::RBracket)
            }
            TokenKind::LBrace => Some(TokenKind::RBrace),
            _ => None,
        }
    }
}
