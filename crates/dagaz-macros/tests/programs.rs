//! Programs inside of Rust programs.

mod fit {
    dagaz_macros::include!("tests/programs/fit.fut");
}

mod small {
    dagaz_macros::program!(
        "entry largest [n] (xs: [n]i32) : (i32, i64) =
           reduce (\\(x, i) (y, j) -> if y > x then (y, j) else (x, i)) (i32.lowest, -1) (zip xs (indices xs))
         entry fn (ref: f32) : f32 = ref / 2"
    );
}

use dagaz::typed::Data;
use dagaz_macros::Value;
use ndarray::array;

#[test]
fn entry_points_are_functions() -> Result<(), dagaz::Error> {
    let (xs, ys) = ([0.0, 1.0, 2.0], array![1.0, 3.0, 6.0]);
    assert_eq!(fit::residuals(xs, &ys, 2.0, 1.0)?, array![0.0, 0.0, 1.0]);
    assert_eq!(small::largest([3, 9, 4])?, (9, 1));
    assert_eq!(small::r#fn(3.0)?, 1.5);
    Ok(())
}

#[test]
fn entry_points_have_derivatives() -> Result<(), dagaz::Error> {
    let (xs, ys) = ([0.0, 1.0, 2.0], array![1.0, 3.0, 6.0]);
    let slope = fit::entry::loss()?.grad_at::<2>()?;
    assert_eq!(slope.call(xs, &ys, [2.0, 1.0])?, array![-4.0, -2.0]);
    Ok(())
}

#[derive(Value, Clone, PartialEq, Debug)]
struct Line {
    start: f64,
    slope: f64,
    points: Vec<f64>,
}

#[derive(Value, Clone, Copy, PartialEq, Debug)]
enum Kind {
    Rising,
    Falling,
    Level,
}

const RECORDS: &str = "
type kind = #rising | #falling | #level
type line [n] = {slope: f64, start: f64, points: [n]f64}
entry kind_of [n] (l: line [n]) : kind =
  if l.slope > 0 then #rising else if l.slope < 0 then #falling else #level
entry turned [n] (l: line [n]) : line [n] = l with slope = -l.slope with points = reverse l.points
entry other (k: kind) : kind = match k case #rising -> #falling case #falling -> #rising case #level -> #level
entry height [n] (l: line [n]) : f64 = l.start + l.slope * f64.sum l.points
";

#[test]
fn records_and_enumerations_are_rust_types() -> Result<(), dagaz::Error> {
    let program = dagaz::compile(RECORDS)?;
    let line = Line { start: 1.0, slope: 2.0, points: vec![1.0, 2.0] };
    let kind_of = program.entry::<fn(Line) -> Kind>("kind_of")?;
    assert_eq!(kind_of.call(&line)?, Kind::Rising);
    let turned = program.entry::<fn(Line) -> Line>("turned")?;
    let expected = Line { slope: -2.0, points: vec![2.0, 1.0], ..line.clone() };
    assert_eq!(turned.call(&line)?, expected);
    let other = program.entry::<fn(Kind) -> Kind>("other")?;
    let others = [Kind::Rising, Kind::Falling, Kind::Level].map(|kind| other.call(kind).ok());
    assert_eq!(others, [Some(Kind::Falling), Some(Kind::Rising), Some(Kind::Level)]);
    let slope = program.entry::<fn(Line) -> f64>("height")?.grad()?;
    assert_eq!(slope.call(&line)?, Line { start: 1.0, slope: 3.0, points: vec![2.0, 2.0] });
    Ok(())
}

#[test]
fn other_records_do_not_fit() -> Result<(), dagaz::Error> {
    #[derive(Value, Debug)]
    struct Other {
        start: f64,
        slope: f32,
        points: Vec<f64>,
    }
    let program = dagaz::compile(RECORDS)?;
    let message = program.entry::<fn(Other) -> f64>("height").map(|_| ()).unwrap_err().to_string();
    assert!(message.contains("and so it is not fn(Other) -> f64"), "{message}");
    assert_eq!(Other::rust_name(), "Other");
    let Other { start: _, slope: _, points: _ } = Other { start: 0.0, slope: 0.0, points: Vec::new() };
    Ok(())
}
