//! Which loops are for vector units: the loops and branches of generated C.

use dagaz_codegen::generate_body;
use dagaz_core::parse::parse;
use expect_test::{Expect, expect};

/// Loops, what is said about them, and branches that are not about errors.
fn check(core: &str, expected: Expect) {
    let program = parse(core).expect("the program is Core");
    let text = generate_body(&program).expect("the program becomes C");
    let is_shown = |line: &&str| {
        line.starts_with("#pragma") || line.starts_with("for (") || line.starts_with("if (x_") || {
            line.starts_with("if (") && line.contains(" < ") && !line.contains("return")
        }
    };
    let shown: Vec<&str> = text.lines().map(str::trim).filter(is_shown).collect();
    expected.assert_eq(&(shown.join("\n") + "\n"));
}

#[test]
fn the_greatest_number_is_found_by_vector_units() {
    check(
        r#"def f (n: i64, xs: [n]f64) : (m: f64) =
            let (m: f64) = reduce n (xs)
              op \(a: f64, b: f64) : (f64) ->
                let (c: f64) = f64.max a b
                in (c)
              neutral (-f64.inf)
            in (m)

          entry "f" = f
            sizes 1 0
            param "xs" : value "[]f64" [n]f64
            result value "f64" f64"#,
        expect![[r#"
            if (to_t4 - from_t3 < 32L) {
            for (i64 i_t9 = from_t3; i_t9 < to_t4; i_t9++) {
            #pragma omp simd reduction(max:a_4)
            for (i64 i_t6 = from_t3; i_t6 < to_t4; i_t6++) {
            for (i64 i_t7 = from_t3; i_t7 < to_t4; i_t7++) {
            for (i64 i_t11 = 0L; i_t11 < (n_0 + grain_t1 - 1L) / grain_t1; i_t11++) {
        "#]],
    );
}

#[test]
fn rows_of_accumulators_are_added_to_by_vector_units() {
    check(
        r#"def f (n: i64, m: i64, k: i64, is: [n]i64, xss: [n][m]f64, base: [k][m]f64) : (yss: [k][m]f64) =
            let (js: [m]i64) = iota i64 m 0i64 1i64
            let (yss: [k][m]f64) = with_acc
              over [k, m] (base)
                op \(p: f64, q: f64) : (f64) -> let (r: f64) = f64.add p q in (r)
                neutral (0.0f64)
              body \(acc: acc [k, m] (f64)) : (acc [k, m] (f64)) ->
                let (out: acc [k, m] (f64)) = map n (is, xss, acc)
                  \(i: i64, xs: [m]f64, a: acc [k, m] (f64)) : (acc [k, m] (f64)) ->
                  let (b: acc [k, m] (f64)) = map m (js, xs, a)
                    \(j: i64, x: f64, c: acc [k, m] (f64)) : (acc [k, m] (f64)) ->
                    let (d: acc [k, m] (f64)) = update_acc c [i, j] (x)
                    in (d)
                  in (b)
                in (out)
            in (yss)

          entry "f" = f
            sizes 3 0
            param "is" : value "[]i64" [n]i64
            param "xss" : value "[][]f64" [n][m]f64
            param "base" : value "[][]f64" [k][m]f64
            result value "[][]f64" [k][m]f64"#,
        expect![[r#"
            #pragma omp simd
            for (i64 i_t13 = 0L; i_t13 < k_2 * m_1; i_t13++) {
            for (i64 i_t15 = first_t6 + from_t9; i_t15 < i64_min(first_t6 + from_t9 + 16L, first_t6 + to_t10); i_t15++) {
            for (i64 i_t16 = first_t6 + from_t9; i_t16 < first_t6 + to_t10; i_t16++) {
            #pragma omp simd
            for (i64 i_t19 = 0L; i_t19 < m_1; i_t19++) {
            if ((u64)i_14 < (u64)k_2) {
            for (i64 i_t23 = (i64)(first_t6 == 0L); i_t23 < here_t8; i_t23++) {
            #pragma omp simd
            for (i64 i_t25 = from_t21; i_t25 < to_t22; i_t25++) {
            #pragma omp simd
            for (i64 i_t43 = 0L; i_t43 < k_2 * m_1; i_t43++) {
            #pragma GCC unroll 4
            for (i64 i_t44 = first_t36 + from_t39; i_t44 < first_t36 + to_t40; i_t44++) {
            if ((u64)i_14 < (u64)k_2) {
            if (DZ_UNLIKELY(m_1 < 0L)) {
            if (1L < copies_t1) {
            for (i64 i_t5 = 0L; i_t5 < (copies_t1 + at_once_t3 - 1L) / at_once_t3; i_t5++) {
            for (i64 i_t28 = 0L; i_t28 < i64_min(16L, n_0); i_t28++) {
            for (i64 i_t29 = 0L; i_t29 < n_0; i_t29++) {
            if (1L < copies_t31) {
            for (i64 i_t35 = 0L; i_t35 < (copies_t31 + at_once_t33 - 1L) / at_once_t33; i_t35++) {
            #pragma omp simd
            for (i64 i_t53 = 0L; i_t53 < m_1; i_t53++) {
            if ((u64)i_14 < (u64)k_2) {
        "#]],
    );
}

/// Fourteen numbers are two vectors of eight, of which two numbers are computed twice and written once.
#[test]
fn functions_are_computed_in_whole_vectors() {
    check(
        r#"def f (n: i64, xs: [n]f64) : (ys: [n]f64) =
            let (ys: [n]f64) = map n (xs)
              \(x: f64) : (f64) ->
                let (y: f64) = f64.exp x
                in (y)
            in (ys)

          entry "f" = f
            sizes 1 0
            param "xs" : value "[]f64" [n]f64
            result value "[]f64" [n]f64"#,
        expect![[r#"
            #pragma omp simd
            for (i64 i_t6 = from_t1; i_t6 < whole_t4; i_t6++) {
            if (whole_t4 < to_t2) {
            #pragma omp simd
            for (i64 i_t8 = 0L; i_t8 < 8L; i_t8++) {
        "#]],
    );
}

#[test]
fn accumulators_that_are_added_to_several_times() {
    check(
        r#"def f (n: i64, xs: [n]f64, base: [2i64][n]f64) : (yss: [2i64][n]f64) =
            let (js: [n]i64) = iota i64 n 0i64 1i64
            let (yss: [2i64][n]f64) = with_acc
              over [2i64, n] (base)
                op \(p: f64, q: f64) : (f64) -> let (r: f64) = f64.add p q in (r)
                neutral (0.0f64)
              body \(acc: acc [2i64, n] (f64)) : (acc [2i64, n] (f64)) ->
                let (out: acc [2i64, n] (f64)) = map n (js, xs, acc)
                  \(j: i64, x: f64, a: acc [2i64, n] (f64)) : (acc [2i64, n] (f64)) ->
                    let (e: f64) = f64.exp x
                    let (b: acc [2i64, n] (f64)) = update_acc a [0i64, j] (e)
                    let (c: acc [2i64, n] (f64)) = update_acc b [1i64, j] (x)
                    in (c)
                in (out)
            in (yss)

          entry "f" = f
            sizes 1 0
            param "xs" : value "[]f64" [n]f64
            param "base" : unique value "[2][]f64" [2i64][n]f64
            result value "[2][]f64" [2i64][n]f64"#,
        expect![[r#"
            #pragma omp simd
            for (i64 i_t13 = 0L; i_t13 < 2L * n_0; i_t13++) {
            #pragma GCC unroll 4
            for (i64 i_t14 = first_t6 + from_t9; i_t14 < first_t6 + to_t10; i_t14++) {
            if ((u64)0L < (u64)2L) {
            if ((u64)1L < (u64)2L) {
            for (i64 i_t19 = (i64)(first_t6 == 0L); i_t19 < here_t8; i_t19++) {
            #pragma omp simd
            for (i64 i_t21 = from_t17; i_t21 < to_t18; i_t21++) {
            if (DZ_UNLIKELY(n_0 < 0L)) {
            if (1L < copies_t1) {
            for (i64 i_t5 = 0L; i_t5 < (copies_t1 + at_once_t3 - 1L) / at_once_t3; i_t5++) {
            #pragma omp simd
            for (i64 i_t26 = 0L; i_t26 < whole_t24; i_t26++) {
            if ((u64)0L < (u64)2L) {
            if ((u64)1L < (u64)2L) {
            if (whole_t24 < n_0) {
            #pragma omp simd
            for (i64 i_t30 = 0L; i_t30 < 8L; i_t30++) {
            if (whole_t24 <= i_t31 && (u64)0L < (u64)2L) {
            if (whole_t24 <= i_t31 && (u64)1L < (u64)2L) {
        "#]],
    );
}

#[test]
fn short_sums_have_lanes_of_their_own() {
    check(
        r#"def f (n: i64, m: i64, xss: [n][m]f32) : (sums: [n]f32) =
            let (sums: [n]f32) = map n (xss)
              \(xs: [m]f32) : (f32) ->
                let (sum: f32) = reduce m (xs)
                  pre \(x: f32) : (f32) -> let (square: f32) = f32.mul x x in (square)
                  op \(a: f32, b: f32) : (f32) -> let (c: f32) = f32.add a b in (c)
                  neutral (0.0f32)
                in (sum)
            in (sums)

          entry "f" = f
            sizes 2 0
            param "xss" : value "[][]f32" [n][m]f32
            result value "[]f32" [n]f32"#,
        expect![[r#"
            for (i64 i_t3 = from_t1; i_t3 < to_t2; i_t3++) {
            for (i64 i_t7 = 0L; i_t7 < blocks_t4; i_t7++) {
            #pragma omp simd
            for (i64 i_t9 = 0L; i_t9 < DZ_LANES_f32; i_t9++) {
            if (DZ_MASKS && rest_t5 < m_1) {
            #pragma omp simd
            for (i64 i_t12 = 0L; i_t12 < DZ_LANES_f32; i_t12++) {
            if (i_t13 < m_1) {
            for (i64 i_t15 = rest_t5; i_t15 < m_1; i_t15++) {
        "#]],
    );
}

/// The loop reads from rows, and the row before is where it was, though it is read in a branch.
#[test]
fn elements_are_read_from_rows() {
    let core = r#"def f (n: i64, m: i64, a: [n][m]f64) : (b: [n][m]f64) =
        let (is: [n]i64) = iota i64 n 0i64 1i64
        let (js: [m]i64) = iota i64 m 0i64 1i64
        let (b: [n][m]f64) = map n (is)
          \(i: i64) : ([m]f64) ->
            let (h: i64) = i64.sub i 1i64
            let (is_inside: bool) = i64.le 0i64 h
            let (row: [m]f64) = map m (js)
              \(j: i64) : (f64) ->
                let (x: f64) = a[i, j] certified
                let (y: f64) = if is_inside then let (z: f64) = a[h, j] certified in (z) else in (x)
                let (sum: f64) = f64.add x y
                in (sum)
            in (row)
        in (b)

      entry "f" = f
        sizes 2 0
        param "a" : value "[][]f64" [n][m]f64
        result value "[][]f64" [n][m]f64"#;
    let program = parse(core).expect("the program is Core");
    let text = generate_body(&program).expect("the program becomes C");
    let is_shown = |line: &&str| line.contains("a_2 + ") || line.contains(" = v_");
    let shown: Vec<&str> = text.lines().map(str::trim).filter(is_shown).collect();
    let expected = expect![[r#"
        f64 *v_4294967292 = a_2 + i64_max(i64_min(i_7, n_0 - 1L), 0L) * m_1;
        f64 *v_4294967291 = a_2 + i64_max(i64_min(h_8, n_0 - 1L), 0L) * m_1;
        f64 x_12 = v_4294967292[j_11];
        f64 z_14 = v_4294967291[j_11];
        f64 *v_4294967294 = a_2 + i_7 * m_1;
        f64 *v_4294967293 = a_2 + h_8 * m_1;
        f64 x_12 = v_4294967294[j_11];
        f64 z_14 = v_4294967293[j_11];
    "#]];
    expected.assert_eq(&(shown.join("\n") + "\n"));
}

#[test]
fn points_are_computed_by_vector_units() {
    check_writes(
        r#"def f (n: i64, k: i64, ps: [k][2i64]f64, is: [n]i64) : (qs: [n][2i64]f64) =
            let (qs: [n][2i64]f64) = map n (is) \(i: i64) : ([2i64]f64) ->
              let (p: [2i64]f64) = ps[i]
              let (x: f64) = p[0i64] certified
              let (y: f64) = p[1i64] certified
              let (z: f64) = f64.add x y
              let (q: [2i64]f64) = array f64 (z, x)
              in (q)
            in (qs)

          entry "f" = f
            sizes 2 0
            param "ps" : value "[][2]f64" [k][2i64]f64
            param "is" : value "[]i64" [n]i64
            result value "[][2]f64" [n][2i64]f64"#,
        expect![[r#"
            #pragma omp simd reduction(|:stop_t3)
            for (i64 i_t4 = from_t1; i_t4 < to_t2; i_t4++) {
            i64 i_6 = is_3[i_t4];
            i64 bad_t5 = (i64)(0 - (i64)((u64)k_1 <= (u64)i_6));
            stop_t3 = stop_t3 | bad_t5;
            i64 safe_t6 = i_6 & (i64)~bad_t5;
            const f64 *p_7 = readable_t7 + safe_t6 * 2L;
            f64 x_8 = readable_t7[safe_t6 * 2L];
            f64 y_9 = readable_t7[safe_t6 * 2L + 1L];
            f64 z_10 = x_8 + y_9;
            qs_5[i_t4 * 2L] = z_10;
            qs_5[i_t4 * 2L + 1L] = x_8;
        "#]],
    );
}

/// Many elements of a row take a detour, so that vectors of them are written as vectors.
#[test]
fn rows_are_written_in_blocks() {
    let powers: String = (1..=72).map(|k| format!("let (v{k}: f64) = f64.mul v{} x\n", k - 1)).collect();
    let elems: Vec<String> = (64..=72).map(|k| format!("v{k}")).collect();
    let core = format!(
        r#"def f (n: i64, xs: [n]f64) : (rows: [n][9i64]f64) =
            let (rows: [n][9i64]f64) = map n (xs) \(x: f64) : ([9i64]f64) ->
              let (v0: f64) = f64.add x x
              {powers}
              let (row: [9i64]f64) = array f64 ({})
              in (row)
            in (rows)

          entry "f" = f
            sizes 1 0
            param "xs" : value "[]f64" [n]f64
            result value "[][9]f64" [n][9i64]f64"#,
        elems.join(", ")
    );
    let text = generate_body(&parse(&core).expect("the program is Core")).expect("the program becomes C");
    let is_shown = |line: &&str| ["for (", "room_", "last_"].iter().any(|word| line.contains(word));
    let shown: Vec<&str> = text.lines().map(str::trim).filter(is_shown).collect();
    expect![[r#"
        for (i64 i_t4 = 0L; i_t4 < blocks_t3; i_t4++) {
        i64 last_t6 = i64_min(first_t5 + 64L, to_t2);
        _Alignas(64) f64 room_t7_room[576];
        f64 *room_t7 = dz_room_for(rows_3 + first_t5 * 9L, room_t7_room);
        for (i64 i_t9 = first_t5; i_t9 < last_t6; i_t9++) {
        room_t7[dz_turned(i_t9 - first_t5, 0L, 9L)] = v64_69;
        room_t7[dz_turned(i_t9 - first_t5, 1L, 9L)] = v65_70;
        room_t7[dz_turned(i_t9 - first_t5, 2L, 9L)] = v66_71;
        room_t7[dz_turned(i_t9 - first_t5, 3L, 9L)] = v67_72;
        room_t7[dz_turned(i_t9 - first_t5, 4L, 9L)] = v68_73;
        room_t7[dz_turned(i_t9 - first_t5, 5L, 9L)] = v69_74;
        room_t7[dz_turned(i_t9 - first_t5, 6L, 9L)] = v70_75;
        room_t7[dz_turned(i_t9 - first_t5, 7L, 9L)] = v71_76;
        room_t7[dz_turned(i_t9 - first_t5, 8L, 9L)] = v72_77;
        dz_turn(rows_3 + first_t5 * 9L, room_t7, 9L, last_t6 - first_t5);
    "#]]
    .assert_eq(&(shown.join("\n") + "\n"));
}

/// An iteration goes on after a check has failed, and must not read where an index that relies on the check says.
#[test]
fn nothing_is_read_behind_a_check_that_has_failed() {
    check_writes(
        r#"def f (n: i64, k: i64, m: i64, xss: [k][m]f64, is: [n]i64, j: i64) : (ys: [n]f64) =
            let (cs: [n]i64) = iota i64 n 0i64 1i64
            let (ys: [n]f64) = map n (is, cs) \(i: i64, c: i64) : (f64) ->
              let (x: f64) = xss[i, j]
              let (y: f64) = xss[i, 0i64] certified
              let (own: i64) = is[c] certified
              let (w: f64) = i64.to_f64 own
              let (z: f64) = f64.add x y
              let (r: f64) = f64.add z w
              in (r)
            in (ys)

          entry "f" = f
            sizes 3 0
            param "xss" : value "[][]f64" [k][m]f64
            param "is" : value "[]i64" [n]i64
            param "j" : value "i64" i64
            result value "[]f64" [n]f64"#,
        expect![[r#"
            #pragma omp simd reduction(|:stop_t3)
            for (i64 i_t4 = from_t1; i_t4 < to_t2; i_t4++) {
            i64 i_9 = is_4[i_t4];
            i64 c_10 = i_t4;
            i64 bad_t5 = (i64)(0 - (i64)(((u64)k_1 <= (u64)i_9) | ((u64)m_2 <= (u64)j_5)));
            stop_t3 = stop_t3 | bad_t5;
            i64 safe_t6 = i_9 & (i64)~bad_t5;
            i64 safe_t7 = j_5 & (i64)~bad_t5;
            f64 x_11 = readable_t8[safe_t6 * m_2 + safe_t7];
            f64 y_12 = readable_t8[safe_t6 * m_2];
            i64 own_13 = is_4[c_10];
            f64 w_14 = (f64)own_13;
            f64 z_15 = x_11 + y_12;
            f64 r_16 = z_15 + w_14;
            ys_8[i_t4] = r_16;
        "#]],
    );
}

/// The loop for vector units.
fn check_writes(core: &str, expected: Expect) {
    let program = parse(core).expect("the program is Core");
    let text = generate_body(&program).expect("the program becomes C");
    let lines = text.lines().map(str::trim).skip_while(|line| !line.starts_with("#pragma"));
    let shown: Vec<&str> = lines.take_while(|line| *line != "}").collect();
    expected.assert_eq(&(shown.join("\n") + "\n"));
}
