-- The point of a line.
def at (slope: f64) (start: f64) (x: f64) : f64 = start + slope * x
