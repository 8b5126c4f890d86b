-- | Spectral methods: a function on a circle is the sum of waves, and the derivative of a wave is known. So the derivative
-- of anything smooth is found almost exactly from few points.

type complex = (f64, f64)

def times ((a, b): complex) ((c, d): complex) : complex = (a * c - b * d, a * d + b * c)
def plus ((a, b): complex) ((c, d): complex) : complex = (a + c, b + d)
def wave (turns: f64) : complex = (f64.cos (2 * f64.pi * turns), f64.sin (2 * f64.pi * turns))

-- | The Fourier transform of 2^k values by halves: even and odd places are transformed by themselves.
def fft [n] (direction: f64) (xs: [n]complex) : [n]complex =
  let levels = i64.i32 (i64.ctz n)
  let reversed (i: i64) = loop r = 0 for b < levels do r * 2 + ((i >> b) & 1)
  let start : [n]complex = for i -> xs[reversed i]
  in loop xs = start for level < levels do
       let half = 1 << level
       in for i ->
            let k = i % (2 * half)
            let (even, odd) = if k < half then (i, i + half) else (i - half, i)
            let turned = times (wave (direction * f64.i64 k / f64.i64 (2 * half))) xs[odd]
            in plus xs[even] turned

def inverse_fft [n] (xs: [n]complex) : [n]complex =
  let back = fft 1 xs
  in for i -> let (re, im) = back[i] in (re / f64.i64 n, im / f64.i64 n)

-- | The derivative of a function that is given at even places of the circle.
def derivative [n] (f: [n]f64) : [n]f64 =
  let waves = fft (-1) (for i -> (f[i], 0))
  let slopes = for k -> times (0, f64.i64 (if k == n / 2 then 0 else if k > n / 2 then k - n else k)) waves[k]
  let back = inverse_fft slopes
  in for i -> back[i].0

-- | The derivative of e^(sin x) is right to 12 digits with 32 points; and transforming back and forth changes nothing.
-- ==
-- entry: exact
-- input { 32i64 } output { true true }
entry exact (n: i64) : (bool, bool) =
  let x (i: i64) = 2 * f64.pi * f64.i64 i / f64.i64 n
  let f = for i < n -> f64.exp (f64.sin (x i))
  let slopes = derivative f
  let again = inverse_fft (fft (-1) (for i -> (f[i], 0)))
  in (and (for i -> f64.abs (slopes[i] - f64.cos (x i) * f[i]) < 1e-12),
      and (for i -> f64.abs (again[i].0 - f[i]) < 1e-13))
