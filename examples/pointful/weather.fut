-- | A hidden Markov model, whose states are an enumeration: the likeliest weather of some days by what somebody wore, found
-- with the algorithm of Viterbi. Tables are arrays over the weather and the clothes.

type weather = #sunny | #cloudy | #rainy
type clothes = #shirt | #coat

def follows : [weather][weather]f64 =
  for today tomorrow -> if today == tomorrow then 0.6 else 0.2

def worn : [weather][clothes]f64 =
  for w c -> match (w, c)
             case (#sunny, #shirt) -> 0.9 case (#sunny, #coat) -> 0.1
             case (#cloudy, #shirt) -> 0.5 case (#cloudy, #coat) -> 0.5
             case (#rainy, #shirt) -> 0.1 case (#rainy, #coat) -> 0.9

def best 'k (score: [k]f64) : (k, f64) =
  reduce (\(i, a) (j, b) -> if a >= b then (i, a) else (j, b)) (from_ordinal 0, -f64.inf) (for i -> (i, score[i]))

-- | How likely the likeliest way to each weather of the last day is, and where each day's weather comes from.
def likeliest [days] (seen: [days]clothes) : [days]weather =
  let start : [weather]f64 = for _w -> 1 / 3
  let (came_from, last) =
    run_state start (\score -> for day ->
      let ways = for w -> best (for before -> (get score)[before] * follows[before, w])
      in (score := (for w -> ways[w].1 * worn[w, seen[day]]);
          ((for w -> ways[w].0) : [weather]weather)))
  -- Back from the last day.
  let backwards = run_state (best last).0 (\w -> for (k: idx [days]) ->
                    let here = get w
                    in (w := came_from[days - 1 - k, here]; here))
  in for day -> backwards.0[days - 1 - day]

-- | 0 is sunny, 1 cloudy, 2 rainy.
-- ==
-- entry: main
-- input { [false, false, true, true, true] } output { [0i64, 0i64, 2i64, 2i64, 2i64] }
entry main [days] (has_coat: [days]bool) : [days]i64 =
  let days_weather = likeliest (for day -> if has_coat[day] then #coat else #shirt)
  in for day -> ordinal days_weather[day]
