//! Values in files: text with literals of the language, binary, `.npy`, and any of these compressed with gzip.

use std::io::Read;
use std::path::Path;

use dagaz_core::exp::{Entry, Fun, Program};
pub use dagaz_core::formats::FormatError;
pub use dagaz_core::formats::compare::{TOLERANCE, Tolerance, difference, first_difference};
use dagaz_core::formats::literal::Inputs;
pub use dagaz_core::formats::text::print;
use dagaz_core::formats::{binary, npy, text};
use dagaz_core::value::Value;

/// All values of an input, in the text or the binary format. A number without a suffix is an `i32` or `f64`.
pub fn read_values(input: &[u8]) -> Result<Vec<Value>, FormatError> {
    text::read_values(input)
}

/// The arguments of an entry point, read from several inputs. Numbers without a suffix take the types that are wanted, and
/// tuples, records and sums are literals of the language, or their parts one after the other.
pub struct Arguments<'p> {
    entry: &'p Entry,
    fun: &'p Fun,
    inputs: Inputs<'p>,
}

impl<'p> Arguments<'p> {
    /// For an entry point of a program.
    pub fn new(program: &'p Program, entry: &'p Entry) -> Result<Arguments<'p>, String> {
        let fun = program.fun(entry.fun).ok_or_else(|| format!("'{}' has no function", entry.name))?;
        Ok(Arguments { entry, fun, inputs: Inputs::new(entry.params.iter().map(|param| &param.ty)) })
    }

    /// Reads values in the text or the binary format.
    pub fn read(&mut self, input: &[u8]) -> Result<(), String> {
        self.inputs.read(input)
    }

    /// Reads the values in a file, by the file's name as for [`read_file`].
    pub fn read_file(&mut self, path: &Path) -> Result<(), String> {
        read_typed_file(&mut self.inputs, path)
    }

    pub fn is_complete(&self) -> bool {
        self.inputs.missing() == 0
    }

    /// All arguments, if there are enough.
    pub fn finish(self) -> Result<Vec<Value>, String> {
        let Arguments { entry, fun, inputs } = self;
        let (missing, given) = (inputs.missing(), inputs.count());
        if missing == 0 {
            return Ok(inputs.finish_arguments(entry, fun));
        }
        let params: Vec<String> =
            entry.params.iter().map(|p| format!("{}: {}", p.name, p.ty.name())).collect();
        let (name, params, wanted) = (&entry.name, params.join(", "), given + missing);
        Err(format!("'{name}' takes {wanted} values ({params}), but {given} are given"))
    }
}

/// The arguments of an entry point in one text, as [`Arguments`] reads them.
pub fn read_arguments(program: &Program, entry: &Entry, input: &[u8]) -> Result<Vec<Value>, String> {
    let mut arguments = Arguments::new(program, entry)?;
    arguments.read(input)?;
    arguments.finish()
}

fn read_typed_file(inputs: &mut Inputs, path: &Path) -> Result<(), String> {
    let bytes = read_bytes(path)?;
    let read = match is_npy(path) {
        true => npy::read(&bytes).map_err(|error| error.to_string()).and_then(|value| inputs.push(value)),
        false => inputs.read(&bytes),
    };
    read.map_err(|error| format!("{}: {error}", path.display()))
}

/// What an entry point should give, as text that is read as its arguments are.
pub fn read_results(entry: &Entry, input: &[u8]) -> Result<Vec<Value>, String> {
    typed_results(entry, |inputs| inputs.read(input))
}

/// The same in a file.
pub fn read_result_file(entry: &Entry, path: &Path) -> Result<Vec<Value>, String> {
    typed_results(entry, |inputs| read_typed_file(inputs, path))
}

fn typed_results(
    entry: &Entry,
    read: impl FnOnce(&mut Inputs) -> Result<(), String>,
) -> Result<Vec<Value>, String> {
    let mut inputs = Inputs::new(entry.results.iter());
    read(&mut inputs)?;
    match inputs.missing() {
        0 => Ok(inputs.finish()),
        missing => Err(format!("{} results are expected, not {}", missing + inputs.count(), inputs.count())),
    }
}

fn is_npy(path: &Path) -> bool {
    path.extension().is_some_and(|extension| extension == "npy")
}

/// The values in a file, by its name: `.npy` is NumPy's format, `.gz` is unpacked first.
pub fn read_file(path: &Path) -> Result<Vec<Value>, String> {
    read_named(path, read_raw(path)?)
}

/// The values in the bytes of a file of this name, which is not looked at.
pub fn read_named(path: &Path, bytes: Vec<u8>) -> Result<Vec<Value>, String> {
    let bytes = unpacked(path, bytes)?;
    let values = if is_npy(path) { npy::read(&bytes).map(|value| vec![value]) } else { read_values(&bytes) };
    values.map_err(|error| format!("{}: {error}", path.display()))
}

/// The bytes of a file, unpacked if its name ends in `.gz`.
pub fn read_bytes(path: &Path) -> Result<Vec<u8>, String> {
    unpacked(path, read_raw(path)?)
}

fn cannot_read(path: &Path, error: &std::io::Error) -> String {
    format!("cannot read {}: {error}", path.display())
}

fn read_raw(path: &Path) -> Result<Vec<u8>, String> {
    std::fs::read(path).map_err(|error| cannot_read(path, &error))
}

fn unpacked(path: &Path, bytes: Vec<u8>) -> Result<Vec<u8>, String> {
    if path.extension().is_none_or(|extension| extension != "gz") {
        return Ok(bytes);
    }
    let mut unpacked = Vec::new();
    let read = flate2::read::MultiGzDecoder::new(&bytes[..]).read_to_end(&mut unpacked);
    read.map(|_| unpacked).map_err(|error| cannot_read(path, &error))
}

/// Values in the binary format, one after the other.
pub fn write_binary(values: &[Value]) -> Vec<u8> {
    let mut out = Vec::new();
    values.iter().for_each(|value| binary::write(value, &mut out));
    out
}
