//! The text of numbers, characters and strings.
//!
//! Each function is given text that starts with a literal, and tells its length in bytes and its value.

use crate::ast::{Literal, PrimType};
use crate::token::TokenKind;

/// What is wrong with a literal; `from` and `to` are relative to its start.
pub(crate) struct LiteralError {
    pub code: &'static str,
    pub from: usize,
    pub to: usize,
    pub message: String,
    pub help: Option<String>,
}

impl LiteralError {
    fn bad(length: usize, message: impl Into<String>) -> LiteralError {
        LiteralError { code: "bad-literal", from: 0, to: length, message: message.into(), help: None }
    }

    fn help(mut self, text: &str) -> LiteralError {
        self.help = Some(text.to_owned());
        self
    }
}

/// The largest value that [`Literal::Int`] promises.
const LARGEST_INT: i128 = 1 << 64;

fn run_length(text: &str, accepts: impl Fn(u8) -> bool) -> usize {
    text.bytes().take_while(|&b| accepts(b)).count()
}

fn prim_type(suffix: &str) -> Option<PrimType> {
    Some(match suffix {
        "i8" => PrimType::I8,
        "i16" => PrimType::I16,
        "i32" => PrimType::I32,
        "i64" => PrimType::I64,
        "u8" => PrimType::U8,
        "u16" => PrimType::U16,
        "u32" => PrimType::U32,
        "u64" => PrimType::U64,
        "f16" => PrimType::F16,
        "f32" => PrimType::F32,
        "f64" => PrimType::F64,
        _ => return None,
    })
}

fn is_float(ty: PrimType) -> bool {
    matches!(ty, PrimType::F16 | PrimType::F32 | PrimType::F64)
}

/// A number. Behind a single dot it can only be a field, so `x.0.1` has no fraction in it.
pub(crate) fn number(text: &str, after_dot: bool) -> (usize, Result<TokenKind, LiteralError>) {
    let radix = match text.as_bytes() {
        [b'0', b'x' | b'X', digit, ..] if digit.is_ascii_hexdigit() => 16,
        [b'0', b'b' | b'B', b'0' | b'1', ..] => 2,
        [b'0', b'r' | b'R', digit, ..] if b"IVXLCDM".contains(digit) => return roman(text),
        _ => 10,
    };
    if after_dot {
        let length = run_length(text, |b| b.is_ascii_digit() || b == b'_');
        return (length, integer(&text[..length], length, 10, None));
    }
    if radix != 10 {
        return prefixed(text, radix);
    }
    let mut length = run_length(text, |b| b.is_ascii_digit() || b == b'_');
    let whole = length;
    if let [b'.', b'0'..=b'9', ..] = &text.as_bytes()[length..] {
        length += 1 + run_length(&text[length + 1..], |b| b.is_ascii_digit() || b == b'_');
    }
    length += exponent_length(&text[length..], b'e');
    let digits = &text[..length];
    let (end, suffix) = match suffix(text, length) {
        Ok(found) => found,
        Err((end, error)) => return (end, Err(error)),
    };
    if length == whole {
        return (end, integer(digits, end, 10, suffix));
    }
    if let Some(ty) = suffix.filter(|&ty| !is_float(ty)) {
        let message = format!("a number with a fraction or exponent cannot have the integer type {ty:?}");
        return (end, Err(LiteralError::bad(end, message.to_lowercase())));
    }
    let value = digits.replace('_', "").parse().unwrap_or(f64::INFINITY);
    (end, Ok(TokenKind::Lit(Literal::Float(value, suffix))))
}

/// The length of `letter`, an optional sign, and digits, which `_` may separate behind `p`; 0 if that is not what stands there.
fn exponent_length(text: &str, letter: u8) -> usize {
    let bytes = text.as_bytes();
    if bytes.first().map(u8::to_ascii_lowercase) != Some(letter) {
        return 0;
    }
    let sign = usize::from(matches!(bytes.get(1), Some(b'+' | b'-')));
    let separated = letter == b'p';
    let digits = run_length(&text[1 + sign..], |b| b.is_ascii_digit() || (separated && b == b'_'));
    if digits == 0 { 0 } else { 1 + sign + digits }
}

/// The type behind the digits, which end at `length`, and where it ends.
fn suffix(text: &str, length: usize) -> Result<(usize, Option<PrimType>), (usize, LiteralError)> {
    let end = length + run_length(&text[length..], |b| b.is_ascii_alphanumeric() || b == b'_');
    if end == length {
        return Ok((end, None));
    }
    match prim_type(&text[length..end]) {
        Some(ty) => Ok((end, Some(ty))),
        None => {
            let message = format!("`{}` is not the suffix of a number", shorten(&text[length..end]));
            let help = "the suffixes are i8, i16, i32, i64, u8, u16, u32, u64, f16, f32 and f64";
            Err((end, LiteralError::bad(end, message).help(help)))
        }
    }
}

fn shorten(text: &str) -> String {
    let start: String = text.chars().take(20).collect();
    if start.len() < text.len() { start + "…" } else { start }
}

fn integer(digits: &str, end: usize, radix: u32, ty: Option<PrimType>) -> Result<TokenKind, LiteralError> {
    let mut value: i128 = 0;
    for digit in digits.chars().filter_map(|c| c.to_digit(radix)) {
        value = value * i128::from(radix) + i128::from(digit);
        if value > LARGEST_INT {
            return large_integer(digits, end, radix, ty);
        }
    }
    match ty {
        None if radix == 10 => Ok(TokenKind::Nat(value)),
        _ => Ok(TokenKind::Lit(Literal::Int(value, ty))),
    }
}

fn large_integer(
    digits: &str,
    end: usize,
    radix: u32,
    ty: Option<PrimType>,
) -> Result<TokenKind, LiteralError> {
    if radix == 10 && ty.is_some_and(is_float) {
        let value = digits.replace('_', "").parse().unwrap_or(f64::INFINITY);
        return Ok(TokenKind::Lit(Literal::Float(value, ty)));
    }
    let error = LiteralError::bad(end, "the number is too large for any integer type");
    Err(error.help("if a float is meant, give it a fraction or an exponent, as in `1e30`"))
}

/// A hexadecimal or binary number, or a hexadecimal float such as `0x1.8p3`.
fn prefixed(text: &str, radix: u32) -> (usize, Result<TokenKind, LiteralError>) {
    let is_digit = |b: u8| b == b'_' || (b as char).is_digit(radix);
    let length = 2 + run_length(&text[2..], is_digit);
    if radix == 16
        && let Some(fraction) = text[length..].strip_prefix('.')
    {
        let fraction_length = run_length(fraction, is_digit);
        let exponent = exponent_length(&fraction[fraction_length..], b'p');
        if fraction_length > 0 && exponent > 0 {
            let all = length + 1 + fraction_length + exponent;
            return hex_float(text, length, length + 1 + fraction_length, all);
        }
    }
    let digits = &text[2..length];
    match suffix(text, length) {
        Ok((end, ty)) if ty.is_some_and(is_float) => {
            (end, Err(LiteralError::bad(end, "a number in this base cannot have a float type")))
        }
        Ok((end, ty)) => (end, integer(digits, end, radix, ty)),
        Err((end, error)) => (end, Err(error)),
    }
}

fn hex_float(
    text: &str,
    dot: usize,
    exponent: usize,
    length: usize,
) -> (usize, Result<TokenKind, LiteralError>) {
    let (end, ty) = match suffix(text, length) {
        Ok(found) => found,
        Err((end, error)) => return (end, Err(error)),
    };
    let mut value = 0.0;
    let mut scale: i32 = 0;
    for (i, byte) in text.as_bytes()[2..exponent].iter().enumerate() {
        if let Some(digit) = (*byte as char).to_digit(16) {
            value = value * 16.0 + f64::from(digit);
            scale -= if i + 2 > dot { 4 } else { 0 };
        }
    }
    let power = text[exponent + 1..length].replace('_', "").parse::<i32>().unwrap_or(i32::MAX / 2);
    let value = value * 2f64.powi(scale.saturating_add(power));
    (end, Ok(TokenKind::Lit(Literal::Float(value, ty))))
}

/// A Roman number: `0rXIV`.
fn roman(text: &str) -> (usize, Result<TokenKind, LiteralError>) {
    let length = 2 + run_length(&text[2..], |b| b"IVXLCDM_".contains(&b));
    let value_of = |b: u8| match b {
        b'I' => 1,
        b'V' => 5,
        b'X' => 10,
        b'L' => 50,
        b'C' => 100,
        b'D' => 500,
        _ => 1000,
    };
    let digits: Vec<i128> = text[2..length].bytes().filter(|&b| b != b'_').map(value_of).collect();
    let mut value = 0;
    for (i, &digit) in digits.iter().enumerate() {
        let subtracted = digits.get(i + 1).is_some_and(|&next| next > digit);
        value += if subtracted { -digit } else { digit };
    }
    match suffix(text, length) {
        Ok((end, ty)) => (end, Ok(TokenKind::Lit(Literal::Int(value, ty)))),
        Err((end, error)) => (end, Err(error)),
    }
}

/// A character literal, unless the quote starts a type parameter.
pub(crate) fn character(text: &str) -> Option<(usize, Result<TokenKind, LiteralError>)> {
    let first = text[1..].chars().next()?;
    if first == '\\' {
        return escaped_character(text);
    }
    let length = 1 + first.len_utf8();
    if first == '\'' || first.is_control() || !text[length..].starts_with('\'') {
        return None;
    }
    Some((length + 1, Ok(TokenKind::Lit(Literal::Int(i128::from(u32::from(first)), None)))))
}

fn escaped_character(text: &str) -> Option<(usize, Result<TokenKind, LiteralError>)> {
    let (escape_length, result) = escape(&text[1..]);
    let length = 1 + escape_length;
    if !text[length..].starts_with('\'') {
        let error =
            LiteralError::bad(length, "a character literal must end with a single quote after one character");
        return Some((length, Err(error.help("write a string in double quotes"))));
    }
    let result = result.and_then(|character| match character {
        Some(character) => Ok(TokenKind::Lit(Literal::Int(i128::from(u32::from(character)), None))),
        None => Err(LiteralError::bad(length + 1, "this escape stands for no character")),
    });
    Some((length + 1, result))
}

/// A string, as UTF-8 bytes.
pub(crate) fn string(text: &str) -> (usize, Result<Vec<u8>, LiteralError>) {
    let mut bytes = Vec::new();
    let mut pos = 1;
    let mut first_error = None;
    loop {
        match text[pos..].chars().next() {
            Some('"') => return (pos + 1, first_error.map_or(Ok(bytes), Err)),
            None | Some('\n') => break,
            Some('\\') => {
                let (length, result) = escape(&text[pos..]);
                match result {
                    Ok(Some(character)) => bytes.extend(character.encode_utf8(&mut [0; 4]).bytes()),
                    Ok(None) => {}
                    Err(mut error) => {
                        error.from += pos;
                        error.to += pos;
                        first_error.get_or_insert(error);
                    }
                }
                pos += length;
            }
            Some(character) => {
                bytes.extend(character.encode_utf8(&mut [0; 4]).bytes());
                pos += character.len_utf8();
            }
        }
    }
    let error = LiteralError {
        code: "unterminated-string",
        from: 0,
        to: text[..pos].trim_end().len(),
        message: "the string does not end on its line".to_owned(),
        help: Some("close it with `\"`; write a line end as `\\n`".to_owned()),
    };
    (pos, Err(error))
}

/// The control characters that have a name, in order, then `\SP` and `\DEL`.
const CONTROL_NAMES: [&str; 32] = [
    "NUL", "SOH", "STX", "ETX", "EOT", "ENQ", "ACK", "BEL", "BS", "HT", "LF", "VT", "FF", "CR", "SO", "SI",
    "DLE", "DC1", "DC2", "DC3", "DC4", "NAK", "SYN", "ETB", "CAN", "EM", "SUB", "ESC", "FS", "GS", "RS",
    "US",
];

/// A backslash and what it stands for; `\&` stands for nothing.
fn escape(text: &str) -> (usize, Result<Option<char>, LiteralError>) {
    let Some(first) = text[1..].chars().next().filter(|c| !c.is_control()) else {
        return (1, Err(LiteralError::bad(1, "a backslash must be followed by what it escapes")));
    };
    let simple = match first {
        'n' => '\n',
        't' => '\t',
        'r' => '\r',
        'a' => '\x07',
        'b' => '\x08',
        'f' => '\x0c',
        'v' => '\x0b',
        '\\' | '\'' | '"' => first,
        '&' => return (2, Ok(None)),
        '0'..='9' => return numeric_escape(text, 1, 10),
        'x' | 'X' => return numeric_escape(text, 2, 16),
        'o' | 'O' => return numeric_escape(text, 2, 8),
        _ => {
            // `SOH` must win over its prefix `SO`.
            let named = CONTROL_NAMES.iter().enumerate().filter(|(_, name)| text[1..].starts_with(**name));
            if let Some((code, name)) = named.max_by_key(|(_, name)| name.len()) {
                return (1 + name.len(), Ok(char::from_u32(code as u32)));
            }
            let length = 1 + first.len_utf8();
            let error = LiteralError::bad(length, format!("`\\{first}` is not an escape"));
            return (length, Err(error.help("write a backslash as `\\\\`")));
        }
    };
    (2, Ok(Some(simple)))
}

fn numeric_escape(text: &str, start: usize, radix: u32) -> (usize, Result<Option<char>, LiteralError>) {
    let length = start + run_length(&text[start..], |b| (b as char).is_digit(radix));
    let code = u32::from_str_radix(&text[start..length], radix).ok().and_then(char::from_u32);
    let error = || LiteralError::bad(length, "this escape is not the number of a Unicode character");
    (length, code.map(Some).ok_or_else(error))
}
