//! The text format of values.
//!
//! ```text
//! 1i32   2i64   -3.5f32   f32.nan   -f64.inf   true   0xFFu8   1_000
//! [1, 2, 3]   [[1.0f32], [2.0f32]]   empty([0]i32)   empty([2][0]i32)   "abc"   ["ab", "cd"]   -- a comment
//! ```
//!
//! A number without a suffix has the type that the reader asks for, otherwise `i32` or `f64`; `nan` and `inf` are such
//! numbers, too. A string is an array of `u8`, in UTF-8, and `empty(…)` an array also inside of others. Where a value begins
//! with the letter `b`, it is in the binary format. Tuples, records and sums are read by [`super::literal`].

use crate::prim::{Prim, PrimType};
use crate::value::{Array, Elems, Shape, Value, elements_of};

use super::{FormatError, binary};

/// Brackets inside brackets.
const MAX_RANK: usize = 64;

/// All values of an input, text and binary mixed.
pub fn read_values(input: &[u8]) -> Result<Vec<Value>, FormatError> {
    let mut reader = Reader::new(input);
    let mut values = Vec::new();
    while !reader.at_end() {
        values.push(reader.value(None)?);
    }
    Ok(values)
}

/// The values of an input, one per wanted element type.
pub fn read_values_as(input: &[u8], wanted: &[PrimType]) -> Result<Vec<Value>, FormatError> {
    let mut reader = Reader::new(input);
    let values = wanted.iter().map(|ty| reader.value(Some(*ty))).collect::<Result<Vec<_>, _>>()?;
    if !reader.at_end() {
        return Err(reader.error("nothing more is expected here"));
    }
    Ok(values)
}

/// The text of a value; reading it gives the value back.
pub fn print(value: &Value) -> String {
    let mut out = String::new();
    match value {
        Value::Prim(prim) => out.push_str(&prim.to_string()),
        Value::Array(array) if array.is_empty() => {
            let dims: String = array.shape().iter().map(|d| format!("[{d}]")).collect();
            out.push_str(&format!("empty({dims}{})", array.elem_type()));
        }
        Value::Array(array) => print_rows(&mut out, array, array.shape(), &mut 0),
    }
    out
}

fn print_rows(out: &mut String, array: &Array, shape: &[usize], position: &mut usize) {
    let Some((&size, rest)) = shape.split_first() else {
        if let Some(prim) = array.get(*position) {
            out.push_str(&prim.to_string());
        }
        *position += 1;
        return;
    };
    out.push('[');
    for i in 0..size {
        if i > 0 {
            out.push_str(", ");
        }
        print_rows(out, array, rest, position);
    }
    out.push(']');
}

/// Reads values one after the other.
pub struct Reader<'i> {
    input: &'i [u8],
    pos: usize,
}

/// What is known of an array that is being read.
struct Nested {
    /// The type that the elements have, or must have.
    wanted: Option<PrimType>,
    elems: Option<Elems>,
    /// The sizes of the dimensions that are known, from the outside in.
    sizes: Vec<Option<usize>>,
    /// How many brackets there are around an element.
    leaf_depth: Option<usize>,
}

impl Nested {
    /// A row at a depth of brackets has so many elements.
    fn row(&mut self, depth: usize, count: usize) -> Result<(), String> {
        if self.sizes.len() <= depth {
            self.sizes.resize(depth + 1, None);
        }
        match self.sizes[depth] {
            Some(size) if size != count => {
                Err(format!("a row of length {count} among rows of length {size}"))
            }
            Some(_) | None => {
                self.sizes[depth] = Some(count);
                Ok(())
            }
        }
    }

    /// There are elements of a type within so many brackets.
    fn leaves(&mut self, depth: usize, ty: PrimType) -> Result<&mut Elems, String> {
        if *self.leaf_depth.get_or_insert(depth) != depth {
            return Err("scalars at different depths of brackets".to_owned());
        }
        let elems = self.elems.get_or_insert_with(|| Elems::with_capacity(ty, 0));
        match elems.ty() {
            known if known == ty => Ok(elems),
            known => Err(format!("an element of type {ty} among elements of type {known}")),
        }
    }
}

impl<'i> Reader<'i> {
    pub fn new(input: &'i [u8]) -> Reader<'i> {
        Reader { input, pos: 0 }
    }

    /// Whether only whitespace and comments are left.
    pub fn at_end(&mut self) -> bool {
        self.skip_blanks();
        self.pos == self.input.len()
    }

    /// The next value, with elements of the wanted type.
    pub fn value(&mut self, wanted: Option<PrimType>) -> Result<Value, FormatError> {
        self.skip_blanks();
        let start = self.pos;
        let value = match self.peek() {
            None => return Err(self.error("a value is expected, not the end of the input")),
            Some(b'b') => {
                let (value, used) = binary::read(&self.input[start..])
                    .map_err(|e| FormatError::new(e.message, e.offset + start))?;
                self.pos += used;
                value
            }
            Some(b'[') => self.array(wanted)?,
            Some(b'"') => Value::vector(Elems::U8(self.string()?)),
            Some(b'e') if self.rest().starts_with(b"empty") => {
                let (shape, ty) = self.empty()?;
                let array = Array::new(&shape, Elems::with_capacity(ty, 0));
                array.map(Value::Array).ok_or_else(|| FormatError::new("not an array", start))?
            }
            Some(_) => Value::Prim(self.scalar(wanted)?),
        };
        match wanted {
            Some(ty) if ty != value.elem_type() => {
                let got = value.type_text();
                Err(FormatError::new(format!("a value of type {ty} is expected, not {got}"), start))
            }
            _ => Ok(value),
        }
    }

    pub(super) fn peek(&self) -> Option<u8> {
        self.input.get(self.pos).copied()
    }

    pub(super) fn rest(&self) -> &'i [u8] {
        &self.input[self.pos..]
    }

    pub(super) fn error(&self, message: impl Into<String>) -> FormatError {
        FormatError::new(message, self.pos)
    }

    pub(super) fn skip_blanks(&mut self) {
        loop {
            let rest = self.rest();
            let blanks = rest.iter().take_while(|c| c.is_ascii_whitespace()).count();
            self.pos += blanks;
            if !self.rest().starts_with(b"--") {
                return;
            }
            self.pos += self.rest().iter().take_while(|c| **c != b'\n').count();
        }
    }

    pub(super) fn eat(&mut self, token: &[u8]) -> bool {
        self.skip_blanks();
        let found = self.rest().starts_with(token);
        if found {
            self.pos += token.len();
        }
        found
    }

    pub(super) fn expect(&mut self, token: &str) -> Result<(), FormatError> {
        if self.eat(token.as_bytes()) { Ok(()) } else { Err(self.error(format!("'{token}' is expected"))) }
    }

    /// `empty([2][0]i32)`
    fn empty(&mut self) -> Result<(Shape, PrimType), FormatError> {
        let start = self.pos;
        self.expect("empty")?;
        self.expect("(")?;
        let shape = self.sizes()?;
        let ty = self.scalar_type()?;
        self.expect(")")?;
        match elements_of(&shape) {
            Some(0) => Ok((shape, ty)),
            Some(_) | None => Err(FormatError::new("an empty array has a dimension of size 0", start)),
        }
    }

    /// `[2][0]`
    pub(super) fn sizes(&mut self) -> Result<Shape, FormatError> {
        let mut shape = Shape::new();
        while self.eat(b"[") {
            self.skip_blanks();
            let word = self.word();
            let size = std::str::from_utf8(word).ok().and_then(|w| w.trim_end_matches("i64").parse().ok());
            shape.push(size.ok_or_else(|| self.error("a size is expected"))?);
            self.expect("]")?;
            if shape.len() > MAX_RANK {
                return Err(self.error(format!("an array has at most {MAX_RANK} dimensions")));
            }
        }
        Ok(shape)
    }

    pub(super) fn scalar_type(&mut self) -> Result<PrimType, FormatError> {
        self.skip_blanks();
        let ty = std::str::from_utf8(self.word()).ok().and_then(PrimType::from_name);
        ty.ok_or_else(|| self.error("a scalar type is expected"))
    }

    fn string(&mut self) -> Result<Vec<u8>, FormatError> {
        let start = self.pos;
        self.pos += 1;
        let mut bytes = Vec::new();
        loop {
            let c = self.peek().ok_or_else(|| FormatError::new("this string does not end", start))?;
            self.pos += 1;
            match c {
                b'"' => return Ok(bytes),
                b'\\' => {
                    let escaped =
                        self.peek().ok_or_else(|| FormatError::new("this string does not end", start))?;
                    self.pos += 1;
                    bytes.push(match escaped {
                        b'n' => b'\n',
                        b't' => b'\t',
                        b'r' => b'\r',
                        b'0' => 0,
                        b'\\' | b'"' | b'\'' => escaped,
                        _ => return Err(FormatError::new("an escape that is not known", self.pos - 1)),
                    });
                }
                _ => bytes.push(c),
            }
        }
    }

    fn array(&mut self, wanted: Option<PrimType>) -> Result<Value, FormatError> {
        let start = self.pos;
        let mut nested = Nested { wanted, elems: None, sizes: Vec::new(), leaf_depth: None };
        self.rows(0, &mut nested)?;
        let Nested { elems, sizes, leaf_depth, .. } = nested;
        let elems = elems.or_else(|| wanted.map(|ty| Elems::with_capacity(ty, 0)));
        let Some(elems) = elems else {
            return Err(FormatError::new("write an empty array with its type, as in empty([0]i32)", start));
        };
        let rank = leaf_depth.unwrap_or(sizes.len());
        let shape: Shape = sizes.iter().take(rank).map(|s| s.unwrap_or(0)).collect();
        let array = Array::new(&shape, elems).filter(|_| sizes.len() <= rank);
        array.map(Value::Array).ok_or_else(|| FormatError::new("rows of different lengths", start))
    }

    /// `[…]` at a depth of brackets.
    fn rows(&mut self, depth: usize, nested: &mut Nested) -> Result<(), FormatError> {
        let start = self.pos;
        if depth >= MAX_RANK {
            return Err(self.error(format!("an array has at most {MAX_RANK} dimensions")));
        }
        self.expect("[")?;
        let mut count = 0;
        while self.another(count)? {
            match self.peek() {
                Some(b'[') => self.rows(depth + 1, nested)?,
                Some(b'"' | b'e') => self.row_in_words(depth + 1, nested)?,
                Some(_) | None => self.element(depth + 1, nested)?,
            }
            count += 1;
        }
        nested.row(depth, count).map_err(|message| FormatError::new(message, start))
    }

    /// Whether another element comes after so many, with the separator or the bracket that shows it.
    pub(super) fn another(&mut self, count: usize) -> Result<bool, FormatError> {
        if self.eat(b"]") {
            return Ok(false);
        }
        if count > 0 {
            // The reference reads elements that only blanks separate, too.
            let blank = self.pos > 0 && self.input[self.pos - 1].is_ascii_whitespace();
            if !self.eat(b",") && !blank {
                return Err(self.error("',' is expected"));
            }
            if self.eat(b"]") {
                return Ok(false);
            }
        }
        self.skip_blanks();
        Ok(true)
    }

    /// A string or an empty array inside of an array.
    fn row_in_words(&mut self, depth: usize, nested: &mut Nested) -> Result<(), FormatError> {
        let start = self.pos;
        let outcome = if self.peek() == Some(b'"') {
            let bytes = self.string()?;
            let row = nested.row(depth, bytes.len());
            row.and_then(|()| nested.leaves(depth + 1, PrimType::U8)).map(|elems| {
                elems.extend_from(&Elems::U8(bytes.clone()), 0, bytes.len());
            })
        } else {
            let (shape, ty) = self.empty()?;
            let mut sizes = shape.iter().enumerate();
            let rows = sizes.try_for_each(|(i, size)| nested.row(depth + i, *size));
            rows.and_then(|()| nested.leaves(depth + shape.len(), ty)).map(drop)
        };
        outcome.map_err(|message| FormatError::new(message, start))
    }

    fn element(&mut self, depth: usize, nested: &mut Nested) -> Result<(), FormatError> {
        let start = self.pos;
        let prim = self.scalar(nested.elems.as_ref().map(Elems::ty).or(nested.wanted))?;
        let elems = nested.leaves(depth, prim.ty()).map_err(|message| FormatError::new(message, start))?;
        elems.push(prim);
        Ok(())
    }

    pub(super) fn word(&mut self) -> &'i [u8] {
        let word = |c: &u8| c.is_ascii_alphanumeric() || matches!(c, b'_' | b'.');
        let len = self.rest().iter().take_while(|c| word(c)).count();
        let taken = &self.rest()[..len];
        self.pos += len;
        taken
    }

    fn scalar(&mut self, wanted: Option<PrimType>) -> Result<Prim, FormatError> {
        let start = self.pos;
        let negative = self.peek() == Some(b'-');
        if negative {
            self.pos += 1;
            self.skip_blanks();
        }
        let word_start = self.pos;
        self.word();
        // The sign of an exponent belongs to the number.
        let so_far = &self.input[word_start..self.pos];
        let hex = so_far.starts_with(b"0x") || so_far.starts_with(b"0X");
        let exponent: &[u8] = if hex { b"pP" } else { b"eE" };
        let digit_first = so_far.first().is_some_and(u8::is_ascii_digit);
        if digit_first
            && so_far.last().is_some_and(|c| exponent.contains(c))
            && matches!(self.peek(), Some(b'-' | b'+'))
        {
            self.pos += 1;
            self.word();
        }
        let text = String::from_utf8_lossy(&self.input[word_start..self.pos]).replace('_', "");
        parse_scalar(&text, negative, wanted).map_err(|message| FormatError::new(message, start))
    }
}

/// A scalar as written, without sign and underscores.
pub fn parse_scalar(text: &str, negative: bool, wanted: Option<PrimType>) -> Result<Prim, String> {
    let unknown = || format!("'{text}' is not a value");
    match (text, negative) {
        ("true", false) => return Ok(Prim::Bool(true)),
        ("false", false) => return Ok(Prim::Bool(false)),
        ("nan" | "inf", _) => {
            let magnitude = if text == "nan" { f64::NAN } else { f64::INFINITY };
            let ty = wanted.filter(|ty| ty.is_float()).unwrap_or(PrimType::F64);
            return Prim::of_f64(ty, if negative { -magnitude } else { magnitude }).ok_or_else(unknown);
        }
        ("", _) => return Err("a value is expected".to_string()),
        _ => {}
    }
    if let Some((ty, name)) = text.split_once('.')
        && let Some(ty) = PrimType::from_name(ty)
    {
        let magnitude = match name {
            "nan" => f64::NAN,
            "inf" => f64::INFINITY,
            _ => return Err(unknown()),
        };
        return Prim::of_f64(ty, if negative { -magnitude } else { magnitude }).ok_or_else(unknown);
    }
    let radix = match text.get(..2) {
        Some("0x" | "0X") => 16,
        Some("0b" | "0B") => 2,
        _ => 10,
    };
    let (digits, suffix) = split_suffix(text, radix == 16);
    let floating =
        radix == 10 && digits.contains(['.', 'e', 'E']) || radix == 16 && digits.contains(['.', 'p', 'P']);
    let ty = match (suffix, wanted) {
        (Some(ty), _) => ty,
        (None, Some(ty)) if ty.is_float() || (ty.is_int() && !floating) => ty,
        (None, _) if floating => PrimType::F64,
        (None, _) => PrimType::I32,
    };
    if ty.is_float() {
        return parse_float(digits, radix, negative, ty).ok_or_else(unknown);
    }
    if floating {
        return Err(format!("'{text}' is not an integer"));
    }
    let digits = if radix == 10 { digits } else { &digits[2..] };
    let magnitude = u64::from_str_radix(digits, radix).map_err(|_| unknown())?;
    if suffix.is_none() && wanted == Some(ty) && !fits(magnitude, negative, ty, radix) {
        let sign = if negative { "-" } else { "" };
        return Err(format!("{sign}{text} is not within the range of {ty}"));
    }
    integer(magnitude, negative, ty).ok_or_else(unknown)
}

/// Whether a number is within the range of a type. Digits other than decimal ones stand for bits.
fn fits(magnitude: u64, negative: bool, ty: PrimType, radix: u32) -> bool {
    let all = u64::MAX >> (64 - ty.bits());
    let most = if ty.is_signed() && radix == 10 { all >> 1 } else { all };
    match negative {
        true if ty.is_unsigned() => magnitude == 0,
        true => magnitude <= (all >> 1) + 1,
        false => magnitude <= most,
    }
}

/// A number that does not fit its suffix wraps, as in the reference: `255i8` is `-1i8`, and `-1u8` is `255u8`.
fn integer(magnitude: u64, negative: bool, ty: PrimType) -> Option<Prim> {
    let value = magnitude as i64;
    ty.is_int().then(|| Prim::of_i64(ty, if negative { value.wrapping_neg() } else { value }))
}

fn split_suffix(text: &str, hex: bool) -> (&str, Option<PrimType>) {
    for ty in PrimType::ALL {
        // In hexadecimal, `f16` and its like are digits.
        if ty == PrimType::Bool || (hex && ty.is_float() && !text.contains(['p', 'P', '.'])) {
            continue;
        }
        if let Some(digits) = text.strip_suffix(ty.name())
            && digits.ends_with(|c: char| c.is_ascii_hexdigit() || c == '.')
        {
            return (digits, Some(ty));
        }
    }
    (text, None)
}

fn parse_float(digits: &str, radix: u32, negative: bool, ty: PrimType) -> Option<Prim> {
    if radix != 10 {
        let magnitude = hex_float(digits.get(2..)?, radix)?;
        return Prim::of_f64(ty, if negative { -magnitude } else { magnitude });
    }
    if !digits.starts_with(|c: char| c.is_ascii_digit() || c == '.') {
        return None;
    }
    // Each type rounds the decimal number once.
    match ty {
        PrimType::F32 => digits.parse::<f32>().ok().map(|x| Prim::F32(if negative { -x } else { x })),
        _ => digits.parse::<f64>().ok().and_then(|x| Prim::of_f64(ty, if negative { -x } else { x })),
    }
}

/// `1.8p3` in base 16, and plain digits in any base.
fn hex_float(digits: &str, radix: u32) -> Option<f64> {
    let (mantissa, exponent) = match digits.split_once(['p', 'P']) {
        Some((mantissa, exponent)) => (mantissa, exponent.parse::<i32>().ok()?),
        None => (digits, 0),
    };
    let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    if whole.is_empty() && fraction.is_empty() {
        return None;
    }
    let mut value = 0.0;
    for c in whole.chars() {
        value = value * f64::from(radix) + f64::from(c.to_digit(radix)?);
    }
    let mut scale = 1.0;
    for c in fraction.chars() {
        scale /= f64::from(radix);
        value += f64::from(c.to_digit(radix)?) * scale;
    }
    Some(libm::ldexp(value, exponent))
}
