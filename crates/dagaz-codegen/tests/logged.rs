//! Loops that add to accumulators: which of them log their additions, and what becomes of these.

use dagaz_codegen::generate_body;
use dagaz_core::parse::parse;
use expect_test::{Expect, expect};

/// What has to do with logs and turns, and what decides whether there are some. `terms` is the number of statements that each
/// term of a sum takes.
fn check(terms: usize, element: &str, expected: Expect) {
    let name = |number: usize| if number == 0 { "z".to_string() } else { format!("z{number}") };
    let sines = (0..terms).map(|n| format!("let ({}: f64) = f64.sin {} ", name(n + 1), name(n)));
    let core = format!(
        r#"def f (n: i64, k: i64, is: [n]i64, xs: [n]{element}, base: [k]{element}) : (ys: [k]{element}) =
            let (ys: [k]{element}) = with_acc
              over [k] (base)
                op \(p: {element}, q: {element}) : ({element}) -> let (r: {element}) = {element}.add p q in (r)
                neutral (0{element})
              body \(acc: acc [k] ({element})) : (acc [k] ({element})) ->
                let (out: acc [k] ({element})) = map n (is, xs, acc)
                  \(i: i64, x: {element}, a: acc [k] ({element})) : (acc [k] ({element})) ->
                  let (y: f64) = loop (z: f64 = 1.0f64) for j: i64 < i do {}in ({})
                  let (less: bool) = f64.lt y 0.0f64
                  let (v: {element}) = if less then in (x) else in (0{element})
                  let (b: acc [k] ({element})) = update_acc a [i] (v)
                  in (b)
                in (out)
            in (ys)

          entry "f" = f
            sizes 2 0
            param "is" : value "[]i64" [n]i64
            param "xs" : value "[]{element}" [n]{element}
            param "base" : value "[]{element}" [k]{element}
            result value "[]{element}" [k]{element}"#,
        sines.collect::<String>(),
        name(terms)
    );
    let program = parse(&core).expect("the program is Core");
    let text = generate_body(&program).expect("the program becomes C");
    let words = ["log_", "turns", "dz_acc_copies", "pays"];
    let is_shown = |line: &&str| words.iter().any(|word| line.contains(word)) && !line.contains("outside");
    let shown: Vec<&str> = text.lines().map(str::trim).filter(is_shown).collect();
    expected.assert_eq(&(shown.join("\n") + "\n"));
}

#[test]
fn additions_between_much_else_are_logged() {
    check(
        3,
        "f64",
        expect![[r#"
            dz_log_f64 log_t8;
            if (DZ_UNLIKELY(dz_add_f64(ctx, &log_t8, i_12, v_22))) return 1;
            if (DZ_UNLIKELY(dz_close_log_f64(ctx, &log_t8))) return 1;
            i64 copies_t1 = 65536L < k_1 ? 1L : dz_acc_copies(n_0, 1574.0, k_1);
            bool pays_t2 = copies_t1 == 1L && dz_is_logged(n_0, 1574.0, k_1);
            if (pays_t2 && 1L < ctx->threads) {
            i64 grain_t3 = dz_log_grain(n_0, 1574.0);
            dz_begin_turns(own_t5, DZ_PARTS, pieces_t4);
        "#]],
    );
}

#[test]
fn integers_are_not_logged() {
    check(
        3,
        "i64",
        expect![[r#"
        i64 copies_t1 = dz_acc_copies(n_0, 1574.0, k_1);
    "#]],
    );
}
