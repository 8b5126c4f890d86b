//! Results as pictures, for people: a table of numbers as an image, and lists of numbers as lines.
//!
//! - `FILE.png`: the first result with two dimensions, a pixel for each element. `u8` is a shade of grey, `u32` and `i32` are
//!   colours 0xRRGGBB, and any other numbers are shades from the least to the greatest.
//! - `FILE.svg`: every result with one dimension is a line over its indices; of one with two dimensions, every column is.

use std::fs::File;
use std::io::BufWriter;
use std::path::Path;

use dagaz::Value;
use dagaz_core::prim::{Prim, PrimType};
use dagaz_core::value::Array;
use plotters::prelude::{
    ChartBuilder, Color, IntoDrawingArea, IntoFont, LineSeries, Palette, Palette99, SVGBackend, WHITE,
};

/// Draw results into a file; what kind of picture is told by its name.
pub fn draw(path: &Path, results: &[Value]) -> Result<(), String> {
    let failed = |error: String| format!("cannot draw {}: {error}", path.display());
    match path.extension().and_then(|extension| extension.to_str()) {
        Some("png") => draw_image(path, results).map_err(failed),
        Some("svg") => draw_lines(path, results).map_err(failed),
        _ => Err(format!("--picture {}: the name of a picture ends in .png or .svg", path.display())),
    }
}

fn number(prim: Prim) -> f64 {
    match prim {
        Prim::Bool(value) => f64::from(u8::from(value)),
        prim => prim.as_f64().or_else(|| prim.as_i64().map(|n| n as f64)).unwrap_or(f64::NAN),
    }
}

fn arrays(results: &[Value], rank: usize) -> impl Iterator<Item = &Array> {
    results.iter().filter_map(Value::as_array).filter(move |array| array.shape().len() == rank)
}

/// The least and the greatest of the numbers that are finite.
fn range(numbers: impl Iterator<Item = f64>) -> (f64, f64) {
    let finite = numbers.filter(|x| x.is_finite());
    let (low, high) = finite.fold((f64::INFINITY, f64::NEG_INFINITY), |(a, b), x| (a.min(x), b.max(x)));
    if low > high { (0.0, 1.0) } else { (low, high) }
}

fn draw_image(path: &Path, results: &[Value]) -> Result<(), String> {
    let array = arrays(results, 2).next().ok_or("there is no result with two dimensions")?;
    let size = |n: usize| u32::try_from(n).map_err(|_| "the picture is too large".to_owned());
    let (height, width) = (size(array.shape()[0])?, size(array.shape()[1])?);
    if width == 0 || height == 0 {
        return Err("the picture is empty".to_owned());
    }
    let (colour, pixels) = match array.elem_type() {
        PrimType::U32 | PrimType::I32 => (png::ColorType::Rgb, colours(array)),
        _ => (png::ColorType::Grayscale, shades(array)),
    };
    let file = File::create(path).map_err(|error| error.to_string())?;
    let mut encoder = png::Encoder::new(BufWriter::new(file), width, height);
    encoder.set_color(colour);
    encoder.set_depth(png::BitDepth::Eight);
    let mut writer = encoder.write_header().map_err(|error| error.to_string())?;
    writer.write_image_data(&pixels).map_err(|error| error.to_string())
}

fn colours(array: &Array) -> Vec<u8> {
    let rgb = |prim: Prim| {
        let [_, red, green, blue] = (prim.as_i64().unwrap_or(0) as u32).to_be_bytes();
        [red, green, blue]
    };
    array.prims().flat_map(rgb).collect()
}

fn shades(array: &Array) -> Vec<u8> {
    let (low, high) = match array.elem_type() {
        PrimType::U8 => (0.0, 255.0),
        PrimType::Bool => (0.0, 1.0),
        _ => range(array.prims().map(number)),
    };
    let scale = if high > low { 255.0 / (high - low) } else { 0.0 };
    array.prims().map(|prim| ((number(prim) - low) * scale).clamp(0.0, 255.0).round() as u8).collect()
}

fn draw_lines(path: &Path, results: &[Value]) -> Result<(), String> {
    let mut lines: Vec<Vec<f64>> =
        arrays(results, 1).map(|array| array.prims().map(number).collect()).collect();
    for array in arrays(results, 2) {
        let columns = array.shape()[1];
        let all: Vec<f64> = array.prims().map(number).collect();
        lines.extend((0..columns).map(|j| all.iter().copied().skip(j).step_by(columns).collect()));
    }
    let longest = lines.iter().map(Vec::len).max().unwrap_or(0);
    if longest == 0 {
        return Err("there is no result with one or two dimensions".to_owned());
    }
    let (low, high) = range(lines.iter().flatten().copied());
    let (low, high) = if low == high { (low - 1.0, high + 1.0) } else { (low, high) };
    plot(path, &lines, longest, low..high).map_err(|error| error.to_string())
}

fn plot(
    path: &Path,
    lines: &[Vec<f64>],
    longest: usize,
    values: std::ops::Range<f64>,
) -> Result<(), Box<dyn std::error::Error>> {
    let area = SVGBackend::new(path, (900, 540)).into_drawing_area();
    area.fill(&WHITE)?;
    let mut chart = ChartBuilder::on(&area)
        .margin(12)
        .x_label_area_size(30)
        .y_label_area_size(60)
        .build_cartesian_2d(0.0..(longest.max(2) - 1) as f64, values)?;
    chart.configure_mesh().label_style(("sans-serif", 14).into_font()).draw()?;
    for (k, line) in lines.iter().enumerate() {
        let points = line.iter().enumerate().filter(|(_, y)| y.is_finite()).map(|(x, y)| (x as f64, *y));
        chart.draw_series(LineSeries::new(points, Palette99::pick(k).stroke_width(2)))?;
    }
    area.present()?;
    Ok(())
}
