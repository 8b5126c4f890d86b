//! Values in files: text, binary, `.npy`, and any of these compressed with gzip.

use std::io::Read;
use std::path::Path;

pub use dagaz_core::formats::FormatError;
pub use dagaz_core::formats::compare::{TOLERANCE, first_difference};
pub use dagaz_core::formats::text::print;
use dagaz_core::formats::{binary, npy, text};
use dagaz_core::prim::PrimType;
use dagaz_core::value::Value;

/// All values of an input, in the text or the binary format. A number without a suffix is an `i32` or `f64`.
pub fn read_values(input: &[u8]) -> Result<Vec<Value>, FormatError> {
    text::read_values(input)
}

/// As [`read_values`], where numbers without a suffix take the types that are wanted, one per value. There must not be
/// more values than wanted types.
pub fn read_values_as(
    input: &[u8],
    wanted: &mut impl Iterator<Item = PrimType>,
) -> Result<Vec<Value>, String> {
    let mut reader = text::Reader::new(input);
    let mut values = Vec::new();
    while !reader.at_end() {
        let Some(ty) = wanted.next() else {
            return Err("there are more values than the entry point takes".to_owned());
        };
        values.push(reader.value(Some(ty)).map_err(|error| error.to_string())?);
    }
    Ok(values)
}

/// The values in a file for an entry point, by the file's name as for [`read_file`].
pub fn read_file_as(path: &Path, wanted: &mut impl Iterator<Item = PrimType>) -> Result<Vec<Value>, String> {
    let bytes = read_bytes(path)?;
    if !is_npy(path) {
        return read_values_as(&bytes, wanted).map_err(|error| format!("{}: {error}", path.display()));
    }
    wanted.next();
    npy::read(&bytes).map(|value| vec![value]).map_err(|error| format!("{}: {error}", path.display()))
}

fn is_npy(path: &Path) -> bool {
    path.extension().is_some_and(|extension| extension == "npy")
}

/// The values in a file, by its name: `.npy` is NumPy's format, `.gz` is unpacked first.
pub fn read_file(path: &Path) -> Result<Vec<Value>, String> {
    let bytes = read_bytes(path)?;
    let values = if is_npy(path) { npy::read(&bytes).map(|value| vec![value]) } else { read_values(&bytes) };
    values.map_err(|error| format!("{}: {error}", path.display()))
}

/// The bytes of a file, unpacked if its name ends in `.gz`.
pub fn read_bytes(path: &Path) -> Result<Vec<u8>, String> {
    let complain = |error: std::io::Error| format!("cannot read {}: {error}", path.display());
    let bytes = std::fs::read(path).map_err(complain)?;
    if path.extension().is_none_or(|extension| extension != "gz") {
        return Ok(bytes);
    }
    let mut unpacked = Vec::new();
    flate2::read::MultiGzDecoder::new(&bytes[..]).read_to_end(&mut unpacked).map_err(complain)?;
    Ok(unpacked)
}

/// Values in the binary format, one after the other.
pub fn write_binary(values: &[Value]) -> Vec<u8> {
    let mut out = Vec::new();
    values.iter().for_each(|value| binary::write(value, &mut out));
    out
}
