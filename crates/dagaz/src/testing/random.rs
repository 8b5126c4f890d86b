//! Values for `random input { [100]i32 5i64 }`: always the same ones for the same description.

use dagaz_core::prim::{Prim, PrimType};
use dagaz_core::value::{Array, Elems, Value, elements_of};

use crate::data;

/// What to make.
#[derive(Clone, Debug)]
pub enum Generator {
    /// An array, or a scalar if there are no sizes.
    Random {
        shape: Vec<usize>,
        elem: PrimType,
    },
    Constant(Value),
}

/// Read types and constants.
pub fn parse(text: &str) -> Result<Vec<Generator>, String> {
    text.split_whitespace().map(parse_one).collect()
}

fn parse_one(word: &str) -> Result<Generator, String> {
    let mut shape = Vec::new();
    let mut rest = word;
    while let Some((size, after)) = rest.strip_prefix('[').and_then(|inner| inner.split_once(']')) {
        let digits: String = size.chars().filter(|c| *c != '_').collect();
        let digits = digits.strip_suffix("i64").unwrap_or(&digits);
        shape.push(digits.parse().map_err(|_| format!("'{size}' in '{word}' is not a size"))?);
        rest = after;
    }
    if let Some(elem) = PrimType::from_name(rest) {
        return Ok(Generator::Random { shape, elem });
    }
    let mut values = data::read_values(word.as_bytes()).map_err(|error| format!("in '{word}': {error}"))?;
    match values.len() {
        1 => Ok(Generator::Constant(values.remove(0))),
        _ => Err(format!("'{word}' is neither a type nor a constant")),
    }
}

/// Make all values. Integers are spread over their whole type, floats between 0 and 1.
pub fn generate(generators: &[Generator]) -> Result<Vec<Value>, String> {
    let mut source = SplitMix::new();
    generators.iter().map(|generator| generate_one(generator, &mut source)).collect()
}

pub(super) fn generate_one(generator: &Generator, source: &mut SplitMix) -> Result<Value, String> {
    match generator {
        Generator::Constant(value) => Ok(value.clone()),
        Generator::Random { shape, elem } if shape.is_empty() => Ok(Value::Prim(source.prim(*elem))),
        Generator::Random { shape, elem } => {
            let too_large = || format!("an array of shape {shape:?} is too large");
            let count = elements_of(shape).ok_or_else(too_large)?;
            let mut elems = Elems::with_capacity(*elem, count);
            for _ in 0..count {
                elems.push(source.prim(*elem));
            }
            Array::new(shape, elems).map(Value::Array).ok_or_else(too_large)
        }
    }
}

/// The SplitMix64 generator: a counter, and a function that scrambles it.
pub(crate) struct SplitMix(u64);

impl SplitMix {
    pub(super) fn new() -> SplitMix {
        SplitMix(0x00DA_6A2D)
    }

    pub(crate) fn from_seed(seed: u64) -> SplitMix {
        SplitMix(seed)
    }

    pub(crate) fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ (z >> 31)
    }

    fn prim(&mut self, ty: PrimType) -> Prim {
        let bits = self.next();
        if ty == PrimType::Bool {
            return Prim::Bool(bits & 1 == 1);
        }
        let unit = (bits >> 11) as f64 / (1u64 << 53) as f64;
        Prim::of_f64(ty, unit).unwrap_or_else(|| Prim::of_i64(ty, bits as i64))
    }
}
