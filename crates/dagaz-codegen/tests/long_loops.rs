//! Loops with much code: in blocks, with as few copies of it as there can be. Shown are loops, what decides between them, and
//! what is written.

use dagaz_codegen::generate_body;
use dagaz_core::parse::parse;
use expect_test::{Expect, expect};

fn check(core: &str, expected: Expect) {
    let program = parse(core).expect("the program is Core");
    let text = generate_body(&program).expect("the program becomes C");
    let is_shown = |line: &&str| {
        let starts =
            ["#pragma", "for (", "first_", "last_", "i64 ", "bool ", "if (", "} else", "DZ_NO", "i32 "];
        (starts.iter().any(|start| line.starts_with(start)) || line.contains("] = ") || line.contains("flag"))
            && !["outside->", "ctx", "out[", "DZ_UNLIKELY", "*flags_2;", "i64 n_1;"]
                .iter()
                .any(|word| line.contains(word))
    };
    let shown: Vec<&str> = text.lines().map(str::trim).filter(is_shown).collect();
    expected.assert_eq(&(shown.join("\n") + "\n"));
}

/// Rows of `xss` are shifted by one, but for the first row and the first column, and then multiplied so often that there is much
/// code. `flag` says what becomes of the element.
fn check_grid(flag: &str, expected: Expect) {
    let mut products = String::new();
    for i in 0..70 {
        products += &format!("let (p{}: f32) = f32.mul p{i} p0\n", i + 1);
    }
    check(
        &format!(
            r#"def f (m: i64, n: i64, flags: [m][n]i8, xss: [m][n]f32) : (yss: [m][n]f32) =
                 let (is: [m]i64) = iota i64 m 0i64 1i64
                 let (js: [n]i64) = iota i64 n 0i64 1i64
                 let (yss: [m][n]f32) = map m (is, flags) \(i: i64, row: [n]i8) : ([n]f32) ->
                   let (top: bool) = i64.eq i 0i64
                   let (ys: [n]f32) = map n (js, row) \(j: i64, flag: i8) : (f32) ->
                     let (left: bool) = i64.eq j 0i64
                     let (border: bool) = bool.or left top
                     let (p0: f32) =
                       if border then let (x: f32) = xss[i, j] certified in (x)
                       else
                         let (above: i64) = i64.sub i 1i64
                         let (before: i64) = i64.sub j 1i64
                         let (x: f32) = xss[above, before] certified
                         in (x)
                     {products}
                     {flag}
                     in (y)
                   in (ys)
                 in (yss)

               entry "f" = f
                 sizes 2 0
                 param "flags" : value "[][]i8" [m][n]i8
                 param "xss" : value "[][]f32" [m][n]f32
                 result value "[][]f32" [m][n]f32"#
        ),
        expected,
    );
}

#[test]
fn a_row_of_the_border_has_a_loop_without_a_border() {
    check_grid(
        "let (wall: bool) = i8.eq flag 1i8
         let (y: f32) = if wall then in (p0) else in (p70)",
        expect![[r#"
            i64 dz_context_size(void) { return sizeof(dz_program); }
            i64 m_0;
            for (i64 i_t3 = from_t1; i_t3 < to_t2; i_t3++) {
            i64 i_8 = i_t3;
            i8 *row_9 = flags_2 + i_t3 * n_1;
            bool top_10 = i_8 == 0L;
            i64 above_18 = i_8 - 1L;
            if (1048576.0 < (f64)(m_0 * n_1) * 4.0 && n_1 * 4L <= 16384L) {
            i64 first_t4 = 0L;
            first_t4 = i64_max(first_t4, dz_plus(0L, 1L));
            i64 last_t5 = n_1;
            bool decided_t15 = top_10;
            if (decided_t15) {
            first_t4 = 0L;
            last_t5 = n_1;
            if (last_t5 - first_t4 < 16L) {
            first_t4 = n_1;
            last_t5 = n_1;
            for (i64 i_t25 = 0L; i_t25 < 2L; i_t25++) {
            i64 start_t26 = 0L < i_t25 ? last_t5 : 0L;
            i64 end_t27 = 0L < i_t25 ? n_1 : first_t4;
            for (i64 i_t28 = start_t26; i_t28 < end_t27; i_t28++) {
            DZ_NO_VECTORS();
            i64 j_12 = i_t28;
            i8 flag_13 = row_9[i_t28];
            bool left_14 = j_12 == 0L;
            bool border_15 = left_14 | top_10;
            if (border_15) {
            } else {
            i64 before_19 = j_12 - 1L;
            bool wall_91 = flag_13 == (i8)1;
            if (wall_91) {
            } else {
            ys_11[i_t28] = y_92;
            if (i_t25 == 0L) {
            if (decided_t15) {
            i64 blocks_t16 = (last_t5 - first_t4 + 16L - 1L) / 16L;
            for (i64 i_t17 = 0L; i_t17 < blocks_t16; i_t17++) {
            i64 wanted_t18 = first_t4 + i_t17 * 16L;
            i64 start_t19 = i64_min(wanted_t18, last_t5 - 16L);
            i32 wide_t20[16];
            #pragma omp simd
            for (i64 i_t21 = 0L; i_t21 < 16L; i_t21++) {
            wide_t20[i_t21] = (i32)row_9[start_t19 + i_t21];
            #pragma omp simd
            for (i64 i_t23 = 0L; i_t23 < 16L; i_t23++) {
            i64 i_t24 = start_t19 + i_t23;
            i64 j_12 = i_t24;
            i32 flag_13 = wide_t20[i_t23];
            bool left_14 = j_12 == 0L;
            bool border_15 = left_14 | top_10;
            bool wall_91 = flag_13 == (i8)1;
            if (wall_91) {
            } else {
            if (wanted_t18 <= i_t24) {
            ys_11[i_t24] = y_92;
            } else {
            i64 blocks_t6 = (last_t5 - first_t4 + 16L - 1L) / 16L;
            for (i64 i_t7 = 0L; i_t7 < blocks_t6; i_t7++) {
            i64 wanted_t8 = first_t4 + i_t7 * 16L;
            i64 start_t9 = i64_min(wanted_t8, last_t5 - 16L);
            i32 wide_t10[16];
            #pragma omp simd
            for (i64 i_t11 = 0L; i_t11 < 16L; i_t11++) {
            wide_t10[i_t11] = (i32)row_9[start_t9 + i_t11];
            #pragma omp simd
            for (i64 i_t13 = 0L; i_t13 < 16L; i_t13++) {
            i64 i_t14 = start_t9 + i_t13;
            i64 j_12 = i_t14;
            i32 flag_13 = wide_t10[i_t13];
            i64 before_19 = j_12 - 1L;
            bool wall_91 = flag_13 == (i8)1;
            if (wall_91) {
            } else {
            if (wanted_t8 <= i_t14) {
            ys_11[i_t14] = y_92;
            static const i32 sites_0[] = {4};
            struct env_0 env_0 = {flags_2, n_1, yss_7, yss_7_mem, xss_3, m_0, sites_0};
        "#]],
    );
}

/// Arithmetic of bytes wraps; they stay bytes.
#[test]
fn elements_that_are_computed_with_stay_short() {
    check_grid(
        "let (next: i8) = i8.add flag 100i8
         let (wall: bool) = i8.lt next 1i8
         let (y: f32) = if wall then in (p0) else in (p70)",
        expect![[r#"
            i64 dz_context_size(void) { return sizeof(dz_program); }
            i64 m_0;
            for (i64 i_t3 = from_t1; i_t3 < to_t2; i_t3++) {
            i64 i_8 = i_t3;
            i8 *row_9 = flags_2 + i_t3 * n_1;
            bool top_10 = i_8 == 0L;
            i64 above_18 = i_8 - 1L;
            if (1048576.0 < (f64)(m_0 * n_1) * 4.0 && n_1 * 4L <= 16384L) {
            i64 first_t4 = 0L;
            first_t4 = i64_max(first_t4, dz_plus(0L, 1L));
            i64 last_t5 = n_1;
            bool decided_t13 = top_10;
            if (decided_t13) {
            first_t4 = 0L;
            last_t5 = n_1;
            if (last_t5 - first_t4 < 16L) {
            first_t4 = n_1;
            last_t5 = n_1;
            for (i64 i_t21 = 0L; i_t21 < 2L; i_t21++) {
            i64 start_t22 = 0L < i_t21 ? last_t5 : 0L;
            i64 end_t23 = 0L < i_t21 ? n_1 : first_t4;
            for (i64 i_t24 = start_t22; i_t24 < end_t23; i_t24++) {
            DZ_NO_VECTORS();
            i64 j_12 = i_t24;
            i8 flag_13 = row_9[i_t24];
            bool left_14 = j_12 == 0L;
            bool border_15 = left_14 | top_10;
            if (border_15) {
            } else {
            i64 before_19 = j_12 - 1L;
            i8 next_91 = (i8)(flag_13 + (i8)100);
            bool wall_92 = next_91 < (i8)1;
            if (wall_92) {
            } else {
            ys_11[i_t24] = y_93;
            if (i_t21 == 0L) {
            if (decided_t13) {
            i64 blocks_t14 = (last_t5 - first_t4 + 16L - 1L) / 16L;
            for (i64 i_t15 = 0L; i_t15 < blocks_t14; i_t15++) {
            i64 wanted_t16 = first_t4 + i_t15 * 16L;
            i64 start_t17 = i64_min(wanted_t16, last_t5 - 16L);
            #pragma omp simd
            for (i64 i_t19 = 0L; i_t19 < 16L; i_t19++) {
            i64 i_t20 = start_t17 + i_t19;
            i64 j_12 = i_t20;
            i8 flag_13 = row_9[i_t20];
            bool left_14 = j_12 == 0L;
            bool border_15 = left_14 | top_10;
            i8 next_91 = (i8)(flag_13 + (i8)100);
            bool wall_92 = next_91 < (i8)1;
            if (wall_92) {
            } else {
            if (wanted_t16 <= i_t20) {
            ys_11[i_t20] = y_93;
            } else {
            i64 blocks_t6 = (last_t5 - first_t4 + 16L - 1L) / 16L;
            for (i64 i_t7 = 0L; i_t7 < blocks_t6; i_t7++) {
            i64 wanted_t8 = first_t4 + i_t7 * 16L;
            i64 start_t9 = i64_min(wanted_t8, last_t5 - 16L);
            #pragma omp simd
            for (i64 i_t11 = 0L; i_t11 < 16L; i_t11++) {
            i64 i_t12 = start_t9 + i_t11;
            i64 j_12 = i_t12;
            i8 flag_13 = row_9[i_t12];
            i64 before_19 = j_12 - 1L;
            i8 next_91 = (i8)(flag_13 + (i8)100);
            bool wall_92 = next_91 < (i8)1;
            if (wall_92) {
            } else {
            if (wanted_t8 <= i_t12) {
            ys_11[i_t12] = y_93;
            static const i32 sites_0[] = {4};
            struct env_0 env_0 = {flags_2, n_1, yss_7, yss_7_mem, xss_3, m_0, sites_0};
        "#]],
    );
}

/// There would be no vectors of bytes in a block.
#[test]
fn bytes_from_elsewhere_are_read_in_a_loop_without_blocks() {
    check_grid(
        "let (other: i8) = flags[0i64, j] certified
         let (wall: bool) = i8.eq other 1i8
         let (y: f32) = if wall then in (p0) else in (p70)",
        expect![[r#"
            i64 dz_context_size(void) { return sizeof(dz_program); }
            i64 m_0;
            i64 first_t3 = from_t1;
            first_t3 = i64_max(first_t3, dz_plus(0L, 1L));
            i64 last_t4 = to_t2;
            if (last_t4 <= first_t3) {
            first_t3 = to_t2;
            last_t4 = to_t2;
            for (i64 i_t14 = 0L; i_t14 < 2L; i_t14++) {
            i64 start_t15 = 0L < i_t14 ? last_t4 : from_t1;
            i64 end_t16 = 0L < i_t14 ? to_t2 : first_t3;
            for (i64 i_t17 = start_t15; i_t17 < end_t16; i_t17++) {
            i64 i_8 = i_t17;
            i8 *row_9 = flags_2 + i_t17 * n_1;
            bool top_10 = i_8 == 0L;
            i64 above_18 = i_8 - 1L;
            i8 *v_4294967289 = flags_2 + i64_max(i64_min(0L, m_0 - 1L), 0L) * n_1;
            #pragma omp simd
            for (i64 i_t19 = 0L; i_t19 < n_1; i_t19++) {
            i64 j_12 = i_t19;
            i8 flag_13 = row_9[i_t19];
            bool left_14 = j_12 == 0L;
            bool border_15 = left_14 | top_10;
            if (border_15) {
            } else {
            i64 before_19 = j_12 - 1L;
            bool wall_92 = other_91 == (i8)1;
            if (wall_92) {
            } else {
            ys_11[i_t19] = y_93;
            if (i_t14 == 0L) {
            for (i64 i_t5 = first_t3; i_t5 < last_t4; i_t5++) {
            i64 i_8 = i_t5;
            i8 *row_9 = flags_2 + i_t5 * n_1;
            i64 above_18 = i_8 - 1L;
            if (1048576.0 < (f64)(m_0 * n_1) * 4.0 && n_1 * 4L <= 16384L) {
            i8 *v_4294967292 = flags_2;
            i64 first_t6 = 0L;
            first_t6 = i64_max(first_t6, dz_plus(0L, 1L));
            i64 last_t7 = n_1;
            if (last_t7 <= first_t6) {
            first_t6 = n_1;
            last_t7 = n_1;
            if (first_t6 + (n_1 - last_t7) <= 32L) {
            for (i64 i_t10 = 0L; i_t10 < first_t6; i_t10++) {
            DZ_NO_VECTORS();
            i64 j_12 = i_t10;
            i8 flag_13 = row_9[i_t10];
            bool left_14 = j_12 == 0L;
            if (left_14) {
            } else {
            i64 before_19 = j_12 - 1L;
            bool wall_92 = other_91 == (i8)1;
            if (wall_92) {
            } else {
            ys_11[i_t10] = y_93;
            #pragma omp simd
            for (i64 i_t9 = first_t6; i_t9 < last_t7; i_t9++) {
            i64 j_12 = i_t9;
            i8 flag_13 = row_9[i_t9];
            i64 before_19 = j_12 - 1L;
            bool wall_92 = other_91 == (i8)1;
            if (wall_92) {
            } else {
            ys_11[i_t9] = y_93;
            for (i64 i_t11 = last_t7; i_t11 < n_1; i_t11++) {
            DZ_NO_VECTORS();
            i64 j_12 = i_t11;
            i8 flag_13 = row_9[i_t11];
            bool left_14 = j_12 == 0L;
            if (left_14) {
            } else {
            i64 before_19 = j_12 - 1L;
            bool wall_92 = other_91 == (i8)1;
            if (wall_92) {
            } else {
            ys_11[i_t11] = y_93;
            } else {
            #pragma omp simd
            for (i64 i_t13 = 0L; i_t13 < n_1; i_t13++) {
            i64 j_12 = i_t13;
            i8 flag_13 = row_9[i_t13];
            bool left_14 = j_12 == 0L;
            if (left_14) {
            } else {
            i64 before_19 = j_12 - 1L;
            bool wall_92 = other_91 == (i8)1;
            if (wall_92) {
            } else {
            ys_11[i_t13] = y_93;
            static const i32 sites_0[] = {5, 4};
            struct env_0 env_0 = {flags_2, n_1, yss_7, yss_7_mem, xss_3, m_0, sites_0};
        "#]],
    );
}
