//! The formats of values: what is read, what is printed, and what is refused.

use dagaz_core::formats::compare::{TOLERANCE, Tolerance, difference, first_difference};
use dagaz_core::formats::{binary, npy, text};
use dagaz_core::prim::{Prim, PrimType};
use dagaz_core::prim_eval::convert;
use dagaz_core::value::{Array, Elems, Value};
use expect_test::{Expect, expect};
use proptest::prelude::*;

fn check(input: &str, expect: Expect) {
    let shown = match text::read_values(input.as_bytes()) {
        Ok(values) => values.iter().map(text::print).collect::<Vec<_>>().join("\n"),
        Err(error) => format!("error: {error}"),
    };
    expect.assert_eq(&shown);
}

#[test]
fn scalars() {
    check(
        "1 -2i64 255i8 3.5 -1e-3f32 0xFFu8 0b101i16 1_000 f32.nan -f64.inf true 0x1.8p1f64 0.1f16 65504f16",
        expect![[r#"
            1i32
            -2i64
            -1i8
            3.5f64
            -0.001f32
            255u8
            5i16
            1000i32
            f32.nan
            -f64.inf
            true
            3.0f64
            0.1f16
            65504.0f16"#]],
    );
}

/// A number without a suffix must be one of the type that is wanted.
#[test]
fn ranges() {
    let read = |input: &str, ty: PrimType| {
        let value = text::Reader::new(input.as_bytes()).value(Some(ty));
        value.map_or_else(|error| format!("error: {error}"), |value| text::print(&value))
    };
    assert_eq!(read("[127, -128, 0xff]", PrimType::I8), "[127i8, -128i8, -1i8]");
    assert_eq!(read("[1, 128]", PrimType::I8), "error: 128 is not within the range of i8 (at byte 4)");
    assert_eq!(read("-129", PrimType::I8), "error: -129 is not within the range of i8 (at byte 0)");
    assert_eq!(read("0x100", PrimType::U8), "error: 0x100 is not within the range of u8 (at byte 0)");
    assert_eq!(read("-1", PrimType::U64), "error: -1 is not within the range of u64 (at byte 0)");
    assert_eq!(read("18446744073709551615", PrimType::U64), "18446744073709551615u64");
    assert_eq!(read("-9223372036854775808", PrimType::I64), "-9223372036854775808i64");
    assert_eq!(read("128i8", PrimType::I8), "-128i8");
}

#[test]
fn arrays() {
    check(
        "[1, 2] [[1f32], [2f32]] -- a comment\n empty([2][0]i32) \"ab\\n\" [true,false,] [1 2]",
        expect![[r#"
            [1i32, 2i32]
            [[1.0f32], [2.0f32]]
            empty([2][0]i32)
            [97u8, 98u8, 10u8]
            [true, false]
            [1i32, 2i32]"#]],
    );
}

#[test]
fn refused() {
    check("[1, 2", expect!["error: ',' is expected (at byte 5)"]);
    check("[1-2]", expect!["error: ',' is expected (at byte 2)"]);
    check("[1, [2]]", expect!["error: scalars at different depths of brackets (at byte 5)"]);
    check("[[1], [2, 3]]", expect!["error: a row of length 2 among rows of length 1 (at byte 6)"]);
    check("[1, 2i64]", expect!["error: an element of type i64 among elements of type i32 (at byte 4)"]);
    check("[]", expect!["error: write an empty array with its type, as in empty([0]i32) (at byte 0)"]);
    check(
        "300u8 -1u8 32767i8",
        expect![[r#"
        44u8
        255u8
        -1i8"#]],
    );
    check("1 x", expect!["error: 'x' is not a value (at byte 2)"]);
    check("\"abc", expect!["error: this string does not end (at byte 0)"]);
    check("empty([1]i32)", expect!["error: an empty array has a dimension of size 0 (at byte 0)"]);
    check("empty([0]", expect!["error: a scalar type is expected (at byte 9)"]);
    check("b\u{2}", expect!["error: the binary value ends too early (at byte 2)"]);
    check(&"[".repeat(100_000), expect!["error: an array has at most 64 dimensions (at byte 64)"]);
    check("é", expect!["error: a value is expected (at byte 0)"]);
}

#[test]
fn wanted_types() {
    let read = |input: &str, ty| text::read_values_as(input.as_bytes(), &[ty]).map(|v| text::print(&v[0]));
    assert_eq!(read("[1, 2]", PrimType::F32).as_deref(), Ok("[1.0f32, 2.0f32]"));
    assert_eq!(read("[]", PrimType::I8).as_deref(), Ok("empty([0]i8)"));
    expect!["a value of type f32 is expected, not i64 (at byte 0)"]
        .assert_eq(&read("1i64", PrimType::F32).expect_err("another type").to_string());
    expect!["nothing more is expected here (at byte 2)"]
        .assert_eq(&read("1 2", PrimType::I8).expect_err("two values").to_string());
}

#[test]
fn announced_sizes_are_not_believed() {
    let mut bytes = b"b\x02\x02 f64".to_vec();
    bytes.extend_from_slice(&(1u64 << 61).to_le_bytes());
    bytes.extend_from_slice(&2u64.to_le_bytes());
    let error = binary::read(&bytes).expect_err("too large");
    expect!["the array is too large (at byte 7)"].assert_eq(&error.to_string());
    let mut bytes = b"b\x02\x01 f64".to_vec();
    bytes.extend_from_slice(&(1u64 << 40).to_le_bytes());
    let error = binary::read(&bytes).expect_err("too short");
    expect!["1099511627776 elements of f64 are announced, but only 0 bytes are left (at byte 15)"]
        .assert_eq(&error.to_string());
}

#[test]
fn fortran_order() {
    let mut file = b"\x93NUMPY\x01\x00".to_vec();
    let header = b"{'descr': '>i2', 'fortran_order': True, 'shape': (2, 3), }\n";
    file.extend_from_slice(&(header.len() as u16).to_le_bytes());
    file.extend_from_slice(header);
    for n in [1i16, 4, 2, 5, 3, 6] {
        file.extend_from_slice(&n.to_be_bytes());
    }
    let value = npy::read(&file).expect("a good file");
    expect!["[[1i16, 2i16, 3i16], [4i16, 5i16, 6i16]]"].assert_eq(&text::print(&value));
}

#[test]
fn comparison() {
    let differ = |expected: &str, got: &str| {
        let read = |t: &str| text::read_values(t.as_bytes()).expect("a value").remove(0);
        first_difference(&read(expected), &read(got), TOLERANCE).unwrap_or("equal".to_string())
    };
    assert_eq!(differ("1.0f32", "1.001f32"), "equal");
    assert_eq!(differ("[1000.0, 1.0]", "[1000.0, 2.0]"), "equal");
    assert_eq!(differ("f64.nan", "f64.nan"), "equal");
    expect!["expected 1.0f32, got 1.01f32"].assert_eq(&differ("1.0f32", "1.01f32"));
    expect!["expected f64.inf, got 1.0f64"].assert_eq(&differ("f64.inf", "1.0f64"));
    expect!["at index [1, 0]: expected 3i32, got 4i32"].assert_eq(&differ("[[1], [3]]", "[[1], [4]]"));
    expect!["expected a value of type i32, got i64"].assert_eq(&differ("1", "1i64"));
}

fn prims() -> impl Strategy<Value = Prim> {
    let types = proptest::sample::select(PrimType::ALL.to_vec());
    (types, any::<u64>(), any::<f64>()).prop_map(|(ty, bits, x)| match ty.is_float() {
        true => convert(ty, Prim::F64(x)),
        false => convert(ty, Prim::U64(bits)),
    })
}

fn values() -> impl Strategy<Value = Value> {
    (prims(), proptest::collection::vec(0usize..4, 0..4), any::<u64>()).prop_map(|(prim, shape, seed)| {
        if shape.is_empty() {
            return Value::Prim(prim);
        }
        let n: usize = shape.iter().product();
        let mut elems = Elems::with_capacity(prim.ty(), n);
        for i in 0..n {
            let other = Prim::I64((seed.rotate_left(i as u32 * 7) % 1000) as i64 - 500);
            elems.push(if i % 3 == 0 { prim } else { convert(prim.ty(), other) });
        }
        Value::Array(Array::new(&shape, elems).expect("as many elements as the shape says"))
    })
}

proptest! {
    #[test]
    fn text_round_trip(value in values()) {
        let read = text::read_values(text::print(&value).as_bytes());
        // The text of a NaN does not have its bits.
        prop_assert_eq!(read.map(|v| text::print(&v[0])), Ok(text::print(&value)));
    }

    #[test]
    fn binary_round_trip(value in values(), other in values()) {
        let mut bytes = Vec::new();
        binary::write(&value, &mut bytes);
        bytes.extend_from_slice(b"  ");
        binary::write(&other, &mut bytes);
        bytes.extend_from_slice(text::print(&value).as_bytes());
        let read = text::read_values(&bytes).expect("values");
        prop_assert_eq!(&read[..2], &[value, other]);
        prop_assert_eq!(read.len(), 3);
    }

    #[test]
    fn npy_round_trip(value in values()) {
        let mut bytes = Vec::new();
        npy::write(&value, &mut bytes);
        prop_assert_eq!(npy::read(&bytes), Ok(value));
    }

    #[test]
    fn noise_is_refused_or_read(bytes in proptest::collection::vec(any::<u8>(), 0..64)) {
        let _ = text::read_values(&bytes);
        let _ = npy::read(&bytes);
        let _ = binary::read(&bytes);
    }

    #[test]
    fn cut_values_are_refused(value in values(), cut in any::<prop::sample::Index>()) {
        let (mut plain, mut numpy) = (Vec::new(), Vec::new());
        binary::write(&value, &mut plain);
        npy::write(&value, &mut numpy);
        prop_assert!(binary::read(&plain[..cut.index(plain.len())]).is_err());
        prop_assert!(npy::read(&numpy[..cut.index(numpy.len())]).is_err());
    }
}

#[test]
fn each_element_counts() {
    let read = |t: &str| text::read_values(t.as_bytes()).expect("a value").remove(0);
    let check = |tolerance: f64, expected: &str, got: &str| {
        difference(&read(expected), &read(got), Tolerance::OfEach(tolerance)).unwrap_or("equal".to_string())
    };
    // A wrong number beside a large one; the reference accepts it.
    assert_eq!(
        check(0.002, "[15.0, 3315.0]", "[16.0, 3315.0]"),
        "at index [0]: expected 15.0f64, got 16.0f64"
    );
    assert_eq!(first_difference(&read("[15.0, 3315.0]"), &read("[16.0, 3315.0]"), TOLERANCE), None);
    assert_eq!(check(0.002, "[15.0, 3315.0]", "[15.02, 3320.0]"), "equal");
    // What cancels out.
    assert_eq!(check(0.002, "[0.0, 3315.0]", "[0.001, 3315.0]"), "equal");
    assert_eq!(check(0.002, "0.0", "0.0001"), "expected 0.0f64, got 0.0001f64");
    assert_eq!(check(0.0, "0.1", "0.10000000000000001"), "equal");
    assert_eq!(check(0.0, "[0.1]", "[0.1000000001]"), "at index [0]: expected 0.1f64, got 0.1000000001f64");
    assert_eq!(check(0.002, "[nan, inf, -inf]", "[nan, inf, -inf]"), "equal");
    assert_eq!(check(0.002, "[inf, 1.0]", "[1e300, 1.0]"), "at index [0]: expected f64.inf, got 1e300f64");
}

#[test]
fn strings_and_empty_arrays_inside_of_arrays() {
    let read = |input: &str| match text::read_values(input.as_bytes()) {
        Ok(values) => values.iter().map(text::print).collect::<Vec<_>>().join(" "),
        Err(error) => error.to_string(),
    };
    assert_eq!(read("[\"ab\", \"c]\"]"), "[[97u8, 98u8], [99u8, 93u8]]");
    assert_eq!(read("[\"ab\", \"c\"]"), "a row of length 1 among rows of length 2 (at byte 7)");
    assert_eq!(read("[empty([0]i32), empty([0]i32)]"), "empty([2][0]i32)");
    assert_eq!(read("[\"\", \"\"]"), "empty([2][0]u8)");
    assert_eq!(read("[empty([0]i32), [1]]"), "a row of length 1 among rows of length 0 (at byte 16)");
    assert_eq!(read("nan -inf"), "f64.nan -f64.inf");
}
