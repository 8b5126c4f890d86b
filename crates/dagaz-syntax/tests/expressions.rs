//! How expressions are read: each line of the input is one expression, each line of the output its tree.

use dagaz_syntax::dump::dump_expression;
use dagaz_syntax::{FileId, parse_expression};
use expect_test::{Expect, expect};

fn check(lines: &str, expected: Expect) {
    let mut output = String::new();
    for line in lines.lines().map(str::trim).filter(|line| !line.is_empty()) {
        let (exp, _, diagnostics) = parse_expression(FileId(0), line);
        output.push_str(&dump_expression(&exp));
        for diagnostic in diagnostics {
            output.push_str(&format!(" !! {}", diagnostic.message));
        }
        output.push('\n');
    }
    expected.assert_eq(&output);
}

#[test]
fn integers() {
    check(
        "
        0 1_000 42i8 255u8 0xFF_ff 0x1fi16 0b101 0b1_0u64 0rXIV
        18446744073709551616
        18446744073709551617
        100000000000000000000f64
        12abc
        ",
        expect![[r#"
            (app 0 1000 42i8 255u8 65535 31i16 5 2u64 14)
            18446744073709551616
            <error> !! the number is too large for any integer type
            1e20f64
            <error> !! `abc` is not the suffix of a number
        "#]],
    );
}

#[test]
fn floats() {
    check(
        "
        1.5 1e3 1.5e-3 2E+2f32 1f32 1_0.2_5f16 0x1.8p3 0x1.8p-1f32 1e999
        1.5i32
        x.0.1 (x).0.1 x[0].1.2
        0..<n
        1..2...n
        0..>1.5
        ",
        expect![[r#"
            (app 1.5 1000.0 0.0015 200.0f32 1f32 10.25f16 12.0 0.75f32 inf)
            <error> !! a number with a fraction or exponent cannot have the integer type i32
            (app (.1 (.0 x)) (.1 (.0 (paren x))) (.2 (.1 (index x [0]))))
            (..< 0 n)
            (... 1 ..2 n)
            (..> 0 1.5)
        "#]],
    );
}

#[test]
fn characters_and_strings() {
    check(
        r#"
        'a' '\n' '\'' '"' '\\' 'ø' '\65'
        "plain" "tab\tquote\"" "øre" "\x41\66\&7" "\ESC[0m" ""
        "\q"
        "open
        '\ab'
        "#,
        expect![[r#"
            (app 97 10 39 34 92 248 65)
            (app "plain" "tab\tquote\"" "øre" "AB7" "\u{1b}[0m" "")
            <error> !! `\q` is not an escape
            <error> !! the string does not end on its line
            <error> !! a character literal must end with a single quote after one character
        "#]],
    );
}

#[test]
fn names() {
    check(
        "
        x
        m.x
        a.b.c
        x' _y
        (+)
        (m.+)
        (-)
        (`f`)
        m.(x + y)
        a.b.(x)
        ???
        true && false
        ",
        expect![[r#"
            x
            m.x
            a.b.c
            (app x' _y)
            +
            m.+
            -
            f
            (open m (+ x y))
            (open a.b x)
            ???
            (&& true false)
        "#]],
    );
}

#[test]
fn application_and_indexing() {
    check(
        "
        f x y
        f [x]
        f[x]
        a.b[i]
        (e)[i]
        (f x).y[0].z
        f x.y z[0]
        a[i, j]
        a[1:2] a[:] a[::] a[::-1] a[i:] a[:j] a[i:j:k] a[i,:,]
        a[i][j]
        a[i] [j]
        f (x) (y)
        map (+1) \\x -> x + 1
        #some x y
        f #none x
        #none
        #pair (#a) #b
        ",
        expect![[r#"
            (app f x y)
            (app f [x])
            (index f [x])
            (index a.b [i])
            (index (paren e) [i])
            (.z (index (.y (paren (app f x))) [0]))
            (app f x.y (index z [0]))
            (index a [i j])
            (app (index a [1:2:]) (index a [::]) (index a [::]) (index a [::(neg 1)]) (index a [i::]) (index a [:j:]) (index a [i:j:k]) (index a [i ::]))
            (index (index a [i]) [j])
            (app (index a [i]) [j]) !! an element of an array is not a function that could be applied to an array
            (app f (paren x) (paren y))
            (app map (section _ + 1) (\ x (+ x 1)))
            (#some x y)
            (app f (#none) x)
            (#none)
            (#pair (paren (#a)) (#b))
        "#]],
    );
}

#[test]
fn precedence() {
    check(
        "
        a + b * c - d
        a || b && c
        a == b || c != d
        a ** b ** c
        a <| b <| c
        a |> b |> c
        f <| a + b |> g
        a |> f <| b
        a & b | c ^ d
        a << b + c
        a +^ b *. c
        a <=> b + c
        a != !b
        -a + b
        -a ** b
        - f x
        - - a
        !a && b
        a - -b
        a m.+ b * c
        a `f` b + c `m.g` d
        a + if c then d else e + f
        a + let x = y in x + z
        a |> \\x -> x |> f
        a..<b + c
        a `f` b...c
        -1...5
        x : t
        x + y :> [n]t
        \\x -> x : t
        if a then b else c : t
        ",
        expect![[r#"
            (- (+ a (* b c)) d)
            (|| a (&& b c))
            (|| (== a b) (!= c d))
            (** (** a b) c)
            (<| a (<| b c))
            (|> (|> a b) c)
            (|> (<| f (+ a b)) g)
            (|> a (<| f b))
            (^ (| (& a b) c) d)
            (<< a (+ b c))
            (+^ a (*. b c))
            (<=> a (+ b c))
            (!= a (not b))
            (+ (neg a) b)
            (** (neg a) b)
            (neg (app f x))
            (neg (neg a))
            (&& (not a) b)
            (- a (neg b))
            (m.+ a (* b c))
            (m.g (f a (+ b c)) d)
            (+ a (if c d (+ e f)))
            (+ a (let x y (+ x z)))
            (|> a (\ x (|> x f)))
            (..< a (+ b c))
            (... (f a b) c)
            (... (neg 1) 5)
            (: x t)
            (:> (+ x y) (array [n] t))
            (\ x (: x t))
            (if a b (: c t))
        "#]],
    );
}

#[test]
fn sections() {
    check(
        "
        (+ 1)
        (1 +)
        (- 1)
        (-x)
        (x -)
        (* 2 + 3)
        (m.+ 1)
        (1 m.+)
        (`f` 1)
        (1 `f`)
        (1 `m.f`)
        (.f) (.f.g) (.0) (.[i]) (.[i, j].f[0])
        (|> f)
        ",
        expect![[r#"
            (section _ + 1)
            (section 1 + _)
            (paren (neg 1))
            (paren (neg x))
            (section x - _)
            (section _ * (+ 2 3))
            (section _ m.+ 1)
            (section 1 m.+ _)
            (section _ f 1)
            (section 1 f _)
            (section 1 m.f _)
            (app (section .f) (section .f.g) (section .0) (section [i]) (section [i j].f[0]))
            (section _ |> f)
        "#]],
    );
}

#[test]
fn tuples_records_and_arrays() {
    check(
        "
        ()
        (x)
        (x, y)
        (x, y,)
        (x,)
        {}
        {a, b = 1, 0 = c,}
        []
        [1, 2,]
        [[1], [2]]
        ",
        expect![[r#"
            (tuple)
            (paren x)
            (tuple x y)
            (tuple x y)
            <error> !! expected the second component of the tuple, found `)`
            (record)
            (record a b = 1 0 = c)
            []
            [1 2]
            [[1] [2]]
        "#]],
    );
}

#[test]
fn bindings() {
    check(
        "
        let x = 1 in x
        let x = 1 let y = 2 in x + y
        let x = 1 in let y = 2 in x
        let (x, y) = p in x
        let x : i32 = 1 in x
        let {a, b = c} = r in a
        let [n] (xs: [n]t) = ys in n
        let [n][m] (xs: [n][m]t) = ys in n
        let f x = x in f
        let f [n] 't (x: t) : t = x in f
        let x[i] = v in x
        let x[i, j].f = v in x
        let r.f = v in r
        let (+^) x y = x in 1
        let (+^) = f in 1
        let _ = 1 in 2
        let x = let y = 1 in y in x
        ",
        expect![[r#"
            (let x 1 x)
            (let x 1 (let y 2 (+ x y)))
            (let x 1 (let y 2 x))
            (let (tuple x y) p x)
            (let (: x i32) 1 x)
            (let (record a b = c) r a)
            (let [n] (paren (: xs (array [n] t))) ys n)
            (let [n] [m] (paren (: xs (array [n] (array [m] t)))) ys n)
            (let-fun f x x f)
            (let-fun f [n] 't (paren (: x t)) : t x f)
            (let-with x[i] v x)
            (let-with x[i j].f v x)
            (let-with r.f v r)
            (let-fun +^ x y x 1)
            (let +^ f 1)
            (let _ 1 2)
            (let x (let y 1 y) x)
        "#]],
    );
}

#[test]
fn control_flow() {
    check(
        "
        if a then b else c
        if a then b else if c then d else e
        loop x for i < n do x + i
        loop x = 0 for i < n do x + i
        loop (x, y) = (0, 1) while x < y do (y, x)
        loop (x: i32) = 0 for (a, b) in ps do a
        loop {a, b} for x in xs do {a, b}
        match x case 1 -> a case -1 -> b case _ -> c
        match x case #some y -> y case #pair (a, _) -1 -> a case #none -> 0
        match (x, y) case (1, true) -> 'a' case {a = 1.5, b} -> b case #[u] z -> z
        match x case _ -> a : t
        assert (x > 0) x
        assert a.b[0] let y = x in y
        #[unroll] loop x for i < n do x
        #[a(b, 1, c(d))] f #[bad
        ",
        expect![[r#"
            (if a b c)
            (if a b (if c d e))
            (loop x (for i < n) (+ x i))
            (loop x = 0 (for i < n) (+ x i))
            (loop (tuple x y) = (tuple 0 1) (while (< x y)) (tuple y x))
            (loop (paren (: x i32)) = 0 (for (tuple a b) in ps) a)
            (loop (record a b) (for x in xs) (record a b))
            (match x (case 1 a) (case -1 b) (case _ c))
            (match x (case (#some y) y) (case (#pair (tuple a _) -1) a) (case (#none) 0))
            (match (tuple x y) (case (tuple 1 true) 97) (case (record a = 1.5 b) b) (case (#[u] z) z))
            (: (match x (case _ a)) t)
            (assert (paren (> x 0)) x)
            (assert (index a.b [0]) (let y x y))
            (#[unroll] (loop x (for i < n) x))
            <error> !! expected the end of the text, found `#[`
        "#]],
    );
}

#[test]
fn functions_and_updates() {
    check(
        "
        \\x y -> x + y
        \\(x: i32) {a, b} _ : i32 -> x
        \\x -> \\y -> x
        a with [i] = x
        a with [i] = x with [j] = y
        a with f.g[0] = x
        a with 0 = x
        a with [i] = x + y |> f
        f a with [i] = -x
        a `f` b with [i] = x
        let b = a with [0] = 1 in b
        ",
        expect![[r#"
            (\ x y (+ x y))
            (\ (paren (: x i32)) (record a b) _ : i32 x)
            (\ x (\ y x))
            (with a [i] x)
            (with (with a [i] x) [j] y)
            (with a .f.g[0] x)
            (with a .0 x)
            (with a [i] (|> (+ x y) f))
            (with (app f a) [i] (neg x))
            (f a (with b [i] x))
            (let b (with a [0] 1) b)
        "#]],
    );
}

#[test]
fn types() {
    check(
        "
        x : i32
        x : m.t
        x : (i32, f32)
        x : ()
        x : {a: i32, 0: f32,}
        x : [n][]t
        x : [n + 1]t
        x : *[n]t
        x : t [n] i32 (a -> b)
        x : [n]t a
        x : a -> b -> c
        x : (n: i64) -> [n]t
        x : (a -> b) -> c
        x : #a | #b i32 [n]t | #c (#d | #e)
        x : ?[n][m].[n][m]t
        x : a -> ?[n].[n]t
        x : [length xs :> i64]t
        ",
        expect![[r#"
            (: x i32)
            (: x m.t)
            (: x (tuple i32 f32))
            (: x (tuple))
            (: x (record a: i32 0: f32))
            (: x (array [n] (array [] t)))
            (: x (array [(+ n 1)] t))
            (: x (* (array [n] t)))
            (: x (apply t [n] i32 (paren (-> a b))))
            (: x (array [n] (apply t a)))
            (: x (-> a (-> b c)))
            (: x (-> n: i64 (array [n] t)))
            (: x (-> (paren (-> a b)) c))
            (: x (sum (#a) (#b i32 (array [n] t)) (#c (paren (sum (#d) (#e))))))
            (: x (exists [n] [m] (array [n] (array [m] t))))
            (: x (-> a (exists [n] (array [n] t))))
            (: x (array [(:> (app length xs) i64)] t))
        "#]],
    );
}

#[test]
fn pointful_arrays() {
    check(
        "
        for i -> x[i]
        for i j -> f i; g j
        for (i, j) _ -> x
        for i < n j < (n - 1) -> i + j
        for (i: idx [n]) (c: colour) -> x
        loop y = x for i < n do for j -> y[j]
        f (for i -> i)
        ",
        expect![[r#"
            (for [i] (index x [i]))
            (for [i j] (; (app f i) (app g j)))
            (for [(tuple i j) _] x)
            (for [i < n j < (paren (- n 1))] (+ i j))
            (for [(paren (: i (apply idx [n]))) (paren (: c colour))] x)
            (loop y = x (for i < n) (for [j] (index y [j])))
            (app f (paren (for [i] i)))
        "#]],
    );
}

#[test]
fn assignments_and_sequences() {
    check(
        r"
        r := get r + 1
        h[i] += a * b + c
        a; b; c
        let x = a; b in c; d
        \h -> for i -> h[i] += x; y
        (a; b) + c
        if c then a; b else (d; e)
        match x case 1 -> a; b case _ -> c
        ",
        expect![[r#"
            (:= r (+ (app get r) 1))
            (+= (index h [i]) (+ (* a b) c))
            (; a (; b c))
            (let x (; a b) (; c d))
            (\ h (for [i] (; (+= (index h [i]) x) y)))
            (+ (paren (; a b)) c)
            (if c (; a b) (paren (; d e)))
            (match x (case 1 (; a b)) (case _ c))
        "#]],
    );
}
