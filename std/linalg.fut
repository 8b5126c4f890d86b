-- | Linear algebra with dense matrices, for `f32` and `f64`: `linalg_f64.solve a b`.
--
-- A matrix is an array of its rows. Everything can be mapped over batches, and has derivatives in both modes, at any order where nothing else is said. What
-- has a derivative in closed form (triangular and general systems, inverses, determinants, Cholesky) uses it in reverse mode.

import "sort"

-- | What there is for a type of floating-point numbers.
module type linalg = {
  -- | The type of the numbers.
  type t

  -- | The sum of products of elements.
  --
  -- > linalg_f64.dot [1, 2] [3, 4]
  -- 11.0f64
  val dot [n] : [n]t -> [n]t -> t
  -- | The product of a matrix and a column.
  val matvec [n] [m] : [n][m]t -> [m]t -> [n]t
  -- | The product of a row and a matrix.
  val vecmat [n] [m] : [n]t -> [n][m]t -> [m]t
  -- | The product of two matrices.
  --
  -- > linalg_f64.matmul [[1, 2], [3, 4]] [[0, 1], [1, 0]]
  -- [[2.0f64, 1.0f64], [4.0f64, 3.0f64]]
  val matmul [n] [m] [p] : [n][m]t -> [m][p]t -> [n][p]t
  -- | All products of an element of the one and an element of the other.
  val outer [n] [m] : [n]t -> [m]t -> [n][m]t
  -- | The matrix of blocks that are the second matrix times an element of the first.
  val kronecker [n] [m] [p] [q] : [n][m]t -> [p][q]t -> [n * p][m * q]t

  -- | The matrix with ones on its diagonal.
  val identity : (n: i64) -> [n][n]t
  -- | The matrix with the given diagonal.
  val from_diagonal [n] : [n]t -> [n][n]t
  -- | The diagonal of a matrix.
  val diagonal [n] : [n][n]t -> [n]t
  -- | The sum of the diagonal.
  val trace [n] : [n][n]t -> t
  -- | A matrix without what is above its diagonal.
  val lower_triangle [n] [m] : [n][m]t -> [n][m]t
  -- | A matrix without what is below its diagonal.
  val upper_triangle [n] [m] : [n][m]t -> [n][m]t

  -- | The Euclidean norm, without overflow on the way; its derivative at zero is zero.
  val norm [n] : [n]t -> t
  -- | The sum of absolute values.
  val norm1 [n] : [n]t -> t
  -- | The largest absolute value.
  val norm_inf [n] : [n]t -> t
  -- | The Euclidean norm of all elements of a matrix.
  val frobenius [n] [m] : [n][m]t -> t

  -- | `x` with `a x = b`, for a lower triangular matrix; what is above the diagonal is not read.
  val solve_lower [n] : [n][n]t -> [n]t -> [n]t
  -- | `x` with `a x = b`, for an upper triangular matrix; what is below the diagonal is not read.
  val solve_upper [n] : [n][n]t -> [n]t -> [n]t
  -- | As `solve_lower`, for several columns.
  val solve_lower_many [n] [m] : [n][n]t -> [n][m]t -> [n][m]t
  -- | As `solve_upper`, for several columns.
  val solve_upper_many [n] [m] : [n][n]t -> [n][m]t -> [n][m]t

  -- | The lower triangular matrix whose product with its transpose is the given matrix, which is symmetric and positive definite. What is
  -- above the diagonal is not read. Where there is no such matrix, NaN comes out.
  --
  -- > linalg_f64.cholesky [[4, 2], [2, 5]]
  -- [[2.0f64, 0.0f64], [1.0f64, 2.0f64]]
  val cholesky [n] : [n][n]t -> [n][n]t
  -- | `x` with `a x = b`, for the matrix of which this is the result of `cholesky`.
  val cholesky_solve [n] : [n][n]t -> [n]t -> [n]t

  -- | The factors of a matrix by elimination with row exchanges: below the diagonal those of a lower triangular matrix with ones on its
  -- diagonal, and the others of an upper triangular one; for each row of their product, which row of the given matrix it is; and the
  -- sign of that permutation.
  val lu [n] : [n][n]t -> {factors: [n][n]t, rows: [n]i64, sign: t}
  -- | `x` with `a x = b`. A singular matrix gives infinities or NaN.
  --
  -- > linalg_f64.solve [[2, 1], [1, 3]] [3, 4]
  -- [1.0f64, 1.0f64]
  val solve [n] : [n][n]t -> [n]t -> [n]t
  -- | As `solve`, for several columns.
  val solve_many [n] [m] : [n][n]t -> [n][m]t -> [n][m]t
  -- | The inverse of a matrix.
  val inverse [n] : [n][n]t -> [n][n]t
  -- | The determinant. Where it is zero, so that the matrix has no inverse, its derivative is NaN.
  --
  -- > linalg_f64.det [[2, 1], [1, 3]]
  -- 5.0f64
  val det [n] : [n][n]t -> t
  -- | The logarithm of the absolute value of the determinant.
  val logdet [n] : [n][n]t -> t

  -- | Orthonormal columns and an upper triangular matrix whose product is the given matrix, which has at least as many rows
  -- as columns; by reflections. The diagonal of the second is not negative.
  val qr [m] [n] : [m][n]t -> {q: [m][n]t, r: [n][n]t}
  -- | The `x` for which `a x` is nearest to `b`, for a matrix of independent columns.
  --
  -- > linalg_f64.lstsq [[1, 0], [1, 1], [1, 2]] [1, 3, 5]
  -- [0.9999999999999998f64, 2.0000000000000004f64]
  val lstsq [m] [n] : [m][n]t -> [m]t -> [n]t

  -- | The eigenvalues of a symmetric matrix from the smallest to the largest, and eigenvectors of length one as the columns of a matrix, the
  -- largest component of each being positive. Of a matrix that is not symmetric, the mean of it and its transpose is taken. There are
  -- derivatives up to the third. Eigenvectors of eigenvalues that are the same are not differentiable; they count as fixed within their space.
  --
  -- > (linalg_f64.eigh [[2, 1], [1, 2]]).values
  -- [1.0f64, 3.0000000000000004f64]
  val eigh [n] : [n][n]t -> {values: [n]t, vectors: [n][n]t}
  -- | Singular values from the largest to the smallest, and singular vectors as the columns of two matrices, with `a = u diag(s) vᵀ`. Columns of `u`
  -- (of `v`, if there are more columns than rows) for singular values of zero are zero. There are derivatives up to the third, if all singular values are
  -- different and not zero.
  --
  -- > (linalg_f64.svd [[3, 0], [0, -4]]).s
  -- [4.0f64, 3.0f64]
  val svd [m] [n] : [m][n]t -> ?[k].{u: [m][k]t, s: [k]t, v: [n][k]t}

  -- | The exponential function of a matrix.
  --
  -- > linalg_f64.expm [[0, 1], [0, 0]]
  -- [[1.0f64, 1.0f64], [0.0f64, 1.0f64]]
  val expm [n] : [n][n]t -> [n][n]t
}

-- | `linalg` for a type of floating-point numbers.
module mk_linalg (R: float) : linalg with t = R.t = {
  type t = R.t

  -- Operators with a `^` are those on `t`.
  local def (+^) (x: t) (y: t) : t = R.(x + y)
  local def (-^) (x: t) (y: t) : t = R.(x - y)
  local def (*^) (x: t) (y: t) : t = R.(x * y)
  local def (/^) (x: t) (y: t) : t = R.(x / y)
  local def zero : t = R.i64 0
  local def one : t = R.i64 1

  def dot [n] (x: [n]t) (y: [n]t) : t = R.sum (map2 (*^) x y)
  def matvec [n] [m] (a: [n][m]t) (x: [m]t) : [n]t = map (dot x) a
  def vecmat [n] [m] (x: [n]t) (a: [n][m]t) : [m]t = map (dot x) (transpose a)
  def matmul [n] [m] [p] (a: [n][m]t) (b: [m][p]t) : [n][p]t = map (\row -> map (dot row) (transpose b)) a
  def outer [n] [m] (x: [n]t) (y: [m]t) : [n][m]t = map (\x -> map (x *^) y) x
  def kronecker [n] [m] [p] [q] (a: [n][m]t) (b: [p][q]t) : [n * p][m * q]t =
    flatten (map (\a -> map (\b -> flatten (outer a b)) b) a)

  def from_diagonal [n] (d: [n]t) : [n][n]t = tabulate_2d n n (\i j -> if i == j then d[i] else zero)
  def identity (n: i64) : [n][n]t = from_diagonal (replicate n one)
  def diagonal [n] (a: [n][n]t) : [n]t = tabulate n (\i -> a[i, i])
  def trace [n] (a: [n][n]t) : t = R.sum (diagonal a)
  def lower_triangle [n] [m] (a: [n][m]t) : [n][m]t =
    tabulate_2d n m (\i j -> if j <= i then a[i, j] else zero)
  def upper_triangle [n] [m] (a: [n][m]t) : [n][m]t =
    tabulate_2d n m (\i j -> if j >= i then a[i, j] else zero)

  local def sum_of_products [n] [m] (a: [n][m]t) (b: [n][m]t) : t = R.sum (map2 dot a b)
  local def scale [n] [m] (s: t) (a: [n][m]t) : [n][m]t = map (map (s *^)) a
  local def add [n] [m] (a: [n][m]t) (b: [n][m]t) : [n][m]t = map2 (map2 (+^)) a b
  local def sub [n] [m] (a: [n][m]t) (b: [n][m]t) : [n][m]t = map2 (map2 (-^)) a b

  def norm_inf [n] (x: [n]t) : t = R.maximum (map R.abs x) |> R.max zero
  def norm1 [n] (x: [n]t) : t = R.sum (map R.abs x)
  def norm [n] (x: [n]t) : t =
    let top = stop_gradient (norm_inf x)
    in if top R.== zero then R.sum (map (zero *^) x)
       else if R.isinf top then norm_inf x
       else let x = map (/^ top) x in top *^ R.sqrt (dot x x)
  def frobenius [n] [m] (a: [n][m]t) : t = norm (flatten a)

  -- One row of the solution after the other, from those that are known.
  local
  def substitute_down [n] [m] (unit: bool) (a: [n][n]t) (b: [n][m]t) : [n][m]t =
    loop x = copy b for i < n do
      let row = map2 (\b column -> b -^ dot a[i, :i] column) b[i] (transpose x[:i])
      in x with [i] = if unit then row else map (/^ a[i, i]) row

  local
  def substitute_up [n] [m] (a: [n][n]t) (b: [n][m]t) : [n][m]t =
    loop x = copy b for k < n do
      let i = n - 1 - k
      let row = map2 (\b column -> b -^ dot a[i, i + 1:] column) b[i] (transpose x[i + 1:])
      in x with [i] = map (/^ a[i, i]) row

  -- With `a x = b`, the cotangent of `b` solves the transposed system, and that of `a` is its negated outer product with `x`.
  local
  def with_rule [n] [m] (solve: [n][n]t -> [n][m]t -> [n][m]t) (solve_transposed: [n][n]t -> [n][m]t -> [n][m]t)
                        (part: [n][n]t -> [n][n]t) (a: [n][n]t) (b: [n][m]t) : [n][m]t =
    with_vjp_tape (\(a, b) -> let x = solve a b in ((a, x), x))
                  (\((a, x), x_adj) ->
                     let b_adj = solve_transposed a x_adj
                     in (part (scale (R.neg one) (matmul b_adj (transpose x))), b_adj))
                  (a, b)

  def solve_lower_many [n] [m] (a: [n][n]t) (b: [n][m]t) : [n][m]t =
    with_rule (substitute_down false) (\a b -> substitute_up (transpose a) b) lower_triangle a b
  def solve_upper_many [n] [m] (a: [n][n]t) (b: [n][m]t) : [n][m]t =
    with_rule substitute_up (\a b -> substitute_down false (transpose a) b) upper_triangle a b

  local def column [n] (x: [n]t) : [n][1]t = map (\x -> [x]) x
  def solve_lower [n] (a: [n][n]t) (b: [n]t) : [n]t = (solve_lower_many a (column b))[:, 0]
  def solve_upper [n] (a: [n][n]t) (b: [n]t) : [n]t = (solve_upper_many a (column b))[:, 0]

  -- One column after the other.
  local
  def cholesky_columns [n] (a: [n][n]t) : [n][n]t =
    loop l = replicate n (replicate n zero) for j < n do
      let rest i = if i < j then zero else a[i, j] -^ dot l[i, :j] l[j, :j]
      let rest = tabulate n rest
      let root = R.sqrt rest[j]
      in l with [:, j] = map (/^ root) rest

  -- With half of the lower triangle of `lᵀ l_adj` between the inverses of `lᵀ` and `l`; the elements below the diagonal are those above it, too.
  def cholesky [n] (a: [n][n]t) : [n][n]t =
    let half = R.from_fraction 1 2
    let rule (l, l_adj) =
      let p = matmul (transpose l) (lower_triangle l_adj)
      let p = tabulate_2d n n (\i j -> if i > j then p[i, j] else if i == j then half *^ p[i, j] else zero)
      let s = transpose (substitute_up (transpose l) (transpose (substitute_up (transpose l) p)))
      in tabulate_2d n n (\i j -> if i > j then s[i, j] +^ s[j, i] else if i == j then s[i, i] else zero)
    in with_vjp_tape (\a -> let l = cholesky_columns a in (l, l)) rule a

  def cholesky_solve [n] (l: [n][n]t) (b: [n]t) : [n]t = solve_upper (transpose l) (solve_lower l b)

  def lu [n] (a: [n][n]t) : {factors: [n][n]t, rows: [n]i64, sign: t} =
    let (factors, rows, sign) =
      loop (a, rows, sign) = (copy a, iota n, one) for k < n do
        let larger (x, i) (y, j) = if (y R.> x) || (y R.== x && j < i) then (y, j) else (x, i)
        let (_, p) =
          reduce larger (R.neg one, i64.highest) (zip (map R.abs (stop_gradient a[k:, k])) (iota (n - k)))
        -- Nothing is larger than what is not a number.
        let p = if p == i64.highest then k else k + p
        let upper = copy a[p]
        let a = a with [p] = copy a[k]
        let a = a with [k] = upper
        let row = copy rows[p]
        let rows = rows with [p] = copy rows[k]
        let rows = rows with [k] = row
        -- Where the pivot is zero, so is everything below it.
        let eliminated (below: [n]t) : [n]t =
          let factor = if upper[k] R.== zero then zero else below[k] /^ upper[k]
          in tabulate n (\j -> if j < k then below[j] else if j == k then factor else below[j] -^ factor *^ upper[j])
        in ( a with [k + 1:] = map eliminated a[k + 1:]
           , rows
           , if p == k then sign else R.neg sign )
    in {factors, rows, sign}

  local
  def solve_factored [n] [m] (factors: [n][n]t) (rows: [n]i64) (b: [n][m]t) : [n][m]t =
    substitute_up factors (substitute_down true factors (map (\i -> b[i]) rows))

  -- The transposed system, with the same factors.
  local
  def solve_factored_transposed [n] [m] (factors: [n][n]t) (rows: [n]i64) (b: [n][m]t) : [n][m]t =
    let y = substitute_down false (transpose factors) b
    let unit = tabulate_2d n n (\i j -> if i == j then one else factors[j, i])
    in scatter (replicate n (replicate m zero)) rows (substitute_up unit y)

  def solve_many [n] [m] (a: [n][n]t) (b: [n][m]t) : [n][m]t =
    with_vjp_tape (\(a, b) ->
                     let {factors, rows, sign = _} = lu a
                     let x = solve_factored factors rows b
                     in ((factors, rows, x), x))
                  (\((factors, rows, x), x_adj) ->
                     let b_adj = solve_factored_transposed factors rows x_adj
                     in (scale (R.neg one) (matmul b_adj (transpose x)), b_adj))
                  (a, b)
  def solve [n] (a: [n][n]t) (b: [n]t) : [n]t = (solve_many a (column b))[:, 0]
  def inverse [n] (a: [n][n]t) : [n][n]t = solve_many a (identity n)

  -- The derivative of a function of the determinant: some number times the transposed inverse.
  local
  def by_determinant [n] (f: {factors: [n][n]t, rows: [n]i64, sign: t} -> t) (slope: t -> t) (a: [n][n]t) : t =
    with_vjp_tape (\a -> let lu = lu a in let y = f lu in ((lu, y), y))
                  (\((lu, y), y_adj) ->
                     scale (slope y *^ y_adj) (solve_factored_transposed lu.factors lu.rows (identity n)))
                  a
  def det [n] (a: [n][n]t) : t =
    by_determinant (\lu -> lu.sign *^ R.product (diagonal lu.factors)) id a
  def logdet [n] (a: [n][n]t) : t =
    by_determinant (\lu -> R.sum (map (\x -> R.log (R.abs x)) (diagonal lu.factors))) (const one) a

  def qr [m] [n] (a: [m][n]t) : {q: [m][n]t, r: [n][n]t} =
    assert (m >= n) (
      -- Each reflection makes a column zero below the diagonal: `x - 2 v (v · x)`, with a vector `v` of length one, or zero.
      let reflect [p] (v: [m]t) (x: [m][p]t) : [m][p]t =
        let factors = map (R.i64 2 *^) (vecmat v x)
        in map2 (\v row -> map2 (\x f -> x -^ v *^ f) row factors) v x
      let (r, vs) =
        loop (r, vs) = (copy a, replicate n (replicate m zero)) for k < n do
          let x = tabulate m (\i -> if i < k then zero else r[i, k])
          let length = norm x
          let pivot = x[k]
          let v = tabulate m (\i -> if i != k then x[i] else if pivot R.> zero then pivot +^ length else pivot -^ length)
          let size = norm v
          let v = if size R.== zero then v else map (/^ size) v
          in (reflect v r, vs with [k] = v)
      let q =
        loop q = tabulate_2d m n (\i j -> if i == j then one else zero) for k < n do reflect vs[n - 1 - k] q
      let signs = tabulate n (\i -> if r[i, i] R.< zero then R.neg one else one)
      in { q = map (map2 (*^) signs) q
         , r = tabulate_2d n n (\i j -> if j < i then zero else signs[i] *^ r[i, j]) })

  def lstsq [m] [n] (a: [m][n]t) (b: [m]t) : [n]t =
    let {q, r} = qr a
    in solve_upper r (vecmat b q)

  -- In round `round` of a tournament of `n` players, in which each meets each other one once, the partner of player `i`; itself where
  -- it has none.
  local
  def partner (n: i64) (round: i64) (i: i64) : i64 =
    let others = n - 1 + n % 2
    let j = if i == others then (round * ((others + 1) / 2)) % others else (round - i) % others
    let j = if j == i then others else j
    in if j < n then j else i

  -- The rotation of two axes after which the product of these columns is zero, from their squares and their product: cosine and sine.
  local
  def rotation (pp: t) (qq: t) (pq: t) : (t, t) =
    if pq R.== zero then (one, zero)
    else
      let slope = (qq -^ pp) /^ (R.i64 2 *^ pq)
      let steep = one /^ (R.abs slope +^ R.hypot one slope)
      let tangent = if slope R.< zero then R.neg steep else steep
      let cosine = one /^ R.hypot one tangent
      in (cosine, cosine *^ tangent)

  -- What row `i` keeps of itself and takes of its partner, for the products of rows `i` and `j`.
  local
  def turn (i: i64) (j: i64) (product: i64 -> i64 -> t) : (t, t) =
    if i == j then (one, zero)
    else
      let (p, q) = (i64.min i j, i64.max i j)
      let (cosine, sine) = rotation (product p p) (product q q) (product p q)
      in (cosine, if i == p then R.neg sine else sine)

  -- All rows, each turned together with that of its partner.
  local
  def turned [n] [p] (mates: [n]i64) (turns: [n](t, t)) (x: [n][p]t) : [n][p]t =
    tabulate n (\i ->
      let (own, other) = turns[i]
      in map2 (\x y -> own *^ x +^ other *^ y) x[i] x[mates[i]])

  local
  def largest_sweeps : i64 = 40

  -- Eigenvalues and eigenvectors by rotations, those of disjoint pairs at once.
  local
  def jacobi [n] (a: [n][n]t) : ([n]t, [n][n]t) =
    let scale = frobenius a
    let off_diagonal a = frobenius (tabulate_2d n n (\i j -> if i == j then zero else a[i, j]))
    let round (a: [n][n]t, v: [n][n]t) (number: i64) =
      let mates = tabulate n (partner n number)
      let turns = tabulate n (\i -> turn i mates[i] (\p q -> a[p, q]))
      in (turned mates turns (transpose (turned mates turns a)), turned mates turns v)
    let (a, v, _) =
      loop (a, v, sweep) = (a, identity n, 0i64)
      while sweep < largest_sweeps && off_diagonal a R.> R.epsilon *^ scale do
        let (a, v) = loop (a, v) for number < n - 1 + n % 2 do round (a, v) number
        in (a, v, sweep + 1)
    in (diagonal a, transpose v)

  -- A step of Ogita and Aishima (2018) towards the eigenvectors of `a`, given approximate ones. It squares the error, so that a step from
  -- constants has the first derivative, and two steps have the third.
  local
  def refine [n] (a: [n][n]t) (v: [n][n]t) : [n][n]t =
    let vt = transpose v
    let r = sub (identity n) (matmul vt v)
    let s = matmul vt (matmul a v)
    let values = tabulate n (\i -> s[i, i] /^ (one -^ r[i, i]))
    let scale = R.maximum (map R.abs values)
    let half = R.from_fraction 1 2
    let correction i j =
      let gap = values[j] -^ values[i]
      in if i == j || R.abs gap R.<= R.i64 64 *^ R.epsilon *^ scale
         then half *^ r[i, j]
         else (s[i, j] +^ values[j] *^ r[i, j]) /^ gap
    in add v (matmul v (tabulate_2d n n correction))

  -- Columns in another order, with their largest component positive.
  local
  def arranged [m] [n] (order: [n]i64) (v: [m][n]t) : [m][n]t =
    let positive (x: [m]t) : [m]t =
      let top = reduce (\x y -> if R.abs y R.> R.abs x then y else x) zero x
      in if top R.< zero then map R.neg x else x
    in transpose (map (\j -> positive v[:, j]) order)

  def eigh [n] (a: [n][n]t) : {values: [n]t, vectors: [n][n]t} =
    let a = scale (R.from_fraction 1 2) (add a (transpose a))
    let (values, vectors) = jacobi (stop_gradient a)
    let vectors = stop_gradient (arranged (argsort_by (R.<=) values) vectors)
    let vectors = refine a (refine a vectors)
    let values = tabulate n (\i -> let x = vectors[:, i] in dot x (matvec a x) /^ dot x x)
    in {values, vectors}

  -- Right singular vectors by rotations that make the columns of `a v` orthogonal.
  local
  def one_sided_jacobi [m] [n] (a: [m][n]t) : ([m][n]t, [n][n]t) =
    let round (a: [n][m]t, v: [n][n]t) (number: i64) =
      let mates = tabulate n (partner n number)
      let turns = tabulate n (\i -> turn i mates[i] (\p q -> dot a[p] a[q]))
      let change = R.maximum (map (\(_, sine) -> R.abs sine) turns)
      in (turned mates turns a, turned mates turns v, change)
    let (a, v, _, _) =
      loop (a, v, sweep, change) = (transpose a, identity n, 0i64, one)
      while sweep < largest_sweeps && change R.> R.epsilon do
        let (a, v, change) =
          loop (a, v, change) = (a, v, zero) for number < n - 1 + n % 2 do
            let (a, v, more) = round (a, v) number
            in (a, v, R.max change more)
        in (a, v, sweep + 1, change)
    in (transpose a, transpose v)

  -- For a matrix with at least as many rows as columns.
  local
  def svd_tall [m] [n] (a: [m][n]t) : ([m][n]t, [n]t, [n][n]t) =
    let (columns, v) = one_sided_jacobi (stop_gradient a)
    let lengths = map norm (transpose columns)
    let v = stop_gradient (arranged (argsort_by (R.>=) lengths) v)
    -- The vectors themselves, with the derivatives of those that are refined.
    let gram = matmul (transpose a) a
    let refined = refine gram (refine gram v)
    let v = add v (sub refined (stop_gradient refined))
    let images = map (matvec a) (transpose v)
    let s = map norm images
    let u = map2 (\x s -> if s R.== zero then x else map (/^ s) x) images s
    in (transpose u, s, v)

  def svd [m] [n] (a: [m][n]t) : ?[k].{u: [m][k]t, s: [k]t, v: [n][k]t} =
    let k = i64.min m n
    let (u, s, v) =
      if m >= n
      then let (u, s, v) = svd_tall a in (u :> [m][k]t, s :> [k]t, v :> [n][k]t)
      else let (v, s, u) = svd_tall (transpose a) in (u :> [m][k]t, s :> [k]t, v :> [n][k]t)
    in {u, s, v}

  -- The quotient of polynomials of degree 13 that agrees with the exponential function up to the power 26, for a matrix halved often enough;
  -- what comes out is squared as often.
  def expm [n] (a: [n][n]t) : [n][n]t =
    let size = stop_gradient (R.maximum (map norm1 (transpose a)))
    let squarings = i64.max 0 (R.to_i64 (R.ceil (R.log2 (size /^ R.from_fraction 537 100))))
    let a = scale (one /^ R.i64 2 R.** R.i64 squarings) a
    let coefficient i = R.f64 ([ 1, 0.5, 0.12, 1.833333333333333333e-2, 1.992753623188405797e-3, 1.630434782608695652e-4
                               , 1.035196687370600414e-5, 5.175983436853002070e-7, 2.043151356652500817e-8
                               , 6.306022705717595115e-10, 1.483770048404140027e-11, 2.529153491597965955e-13
                               , 2.810170546219962172e-15, 1.544049750670308886e-17 ])[i]
    let a2 = matmul a a
    let a4 = matmul a2 a2
    let a6 = matmul a4 a2
    let combined i = add (add (scale (coefficient i) (identity n)) (scale (coefficient (i + 2)) a2))
                         (add (scale (coefficient (i + 4)) a4) (scale (coefficient (i + 6)) a6))
    let highest i = add (add (scale (coefficient i) a2) (scale (coefficient (i + 2)) a4)) (scale (coefficient (i + 4)) a6)
    let even = add (combined 0) (matmul a6 (highest 8))
    let odd = matmul a (add (combined 1) (matmul a6 (highest 9)))
    let quotient = solve_many (sub even odd) (add even odd)
    in loop x = quotient for _i < squarings do matmul x x
}

-- | Linear algebra in single precision.
module linalg_f32 : linalg with t = f32 = mk_linalg f32

-- | Linear algebra in double precision.
module linalg_f64 : linalg with t = f64 = mk_linalg f64
