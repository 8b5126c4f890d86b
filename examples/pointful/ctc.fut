-- | The loss of connectionist temporal classification: how unlikely a text is, given at each time the likelihood of each
-- letter, when letters may be held and separated by blanks. Its gradient is what a speech recogniser learns from.

-- | log (e^a + e^b)
def log_add (a: f64) (b: f64) : f64 =
  let high = f64.max a b
  in if high == -f64.inf then high else high + f64.log (f64.exp (a - high) + f64.exp (b - high))

-- | `scores[t,c]` are logarithms of likelihoods, letter 0 is the blank.
def loss [times][letters][n] (scores: [times][letters]f64) (text: [n]i64) : f64 =
  -- The text with blanks around all letters.
  let states = 2 * n + 1
  let letter (s: i64) : i64 = if s % 2 == 0 then 0 else text[s / 2]
  let start = for s < states -> if s < 2 then scores[0, letter s] else -f64.inf
  let last = loop alpha = start for t in 1..<times do
               for s < states ->
                 let stay = alpha[s]
                 let next = if s >= 1 then alpha[s - 1] else -f64.inf
                 let skips = s >= 2 && s % 2 == 1 && letter s != letter (s - 2)
                 let skip = if skips then alpha[s - 2] else -f64.inf
                 in scores[t, letter s] + log_add stay (log_add next skip)
  in -(log_add last[states - 1] (if n > 0 then last[states - 2] else -f64.inf))

-- | With two times and two letters: "a" is "a-", "-a" or "aa", each with likelihood 1/4.
-- ==
-- entry: example
-- input { } output { 0.2876820724517809 }
entry example : f64 =
  loss [[f64.log 0.5, f64.log 0.5], [f64.log 0.5, f64.log 0.5]] [1]

-- | At every time, some letter is used: the sums of the gradient over the letters are all -1.
-- ==
-- entry: sums
-- input { [1i64, 2i64, 2i64, 1i64] } output { true }
entry sums [n] (text: [n]i64) : bool =
  let scores : [12][3]f64 = for t c -> f64.log ((1 + f64.i64 ((t * 5 + c * 7) % 4)) / 10)
  let gradient = vjp (\scores -> loss scores text) scores 1
  in and (for t -> f64.abs (f64.sum gradient[t] + 1) < 1e-9)
