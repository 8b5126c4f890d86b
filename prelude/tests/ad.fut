-- Differentiation has names and types; until there are derivatives, a program that asks for one is turned down.
-- ==
-- error: not available yet
entry slope (x: f64) = vjp (\y -> y * y) x 1
