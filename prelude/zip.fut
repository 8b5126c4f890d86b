-- | From several arrays to an array of tuples and back.
--
-- These cost nothing at run time: an array of tuples is stored as a tuple of arrays.

-- | Pair up the elements of two arrays.
def zip [n] 'a 'b (as: [n]a) (bs: [n]b) : *[n](a, b) =
  intrinsics.zip as bs

-- | Another name for `zip`.
def zip2 [n] 'a 'b (as: [n]a) (bs: [n]b) : *[n](a, b) =
  intrinsics.zip as bs

-- | As `zip`, for three arrays.
def zip3 [n] 'a 'b 'c (as: [n]a) (bs: [n]b) (cs: [n]c) : *[n](a, b, c) =
  intrinsics.map (\((a, b), c) -> (a, b, c)) (zip2 (zip2 as bs) cs)

-- | As `zip`, for four arrays.
def zip4 [n] 'a 'b 'c 'd (as: [n]a) (bs: [n]b) (cs: [n]c) (ds: [n]d) : *[n](a, b, c, d) =
  intrinsics.map (\((a, b), (c, d)) -> (a, b, c, d)) (zip2 (zip2 as bs) (zip2 cs ds))

-- | As `zip`, for five arrays.
def zip5 [n] 'a 'b 'c 'd 'e (as: [n]a) (bs: [n]b) (cs: [n]c) (ds: [n]d) (es: [n]e) : *[n](a, b, c, d, e) =
  intrinsics.map (\((a, b, c), (d, e)) -> (a, b, c, d, e)) (zip2 (zip3 as bs cs) (zip2 ds es))

-- | Separate an array of pairs: `unzip (zip as bs)` is `(as, bs)`.
def unzip [n] 'a 'b (xs: [n](a, b)) : ([n]a, [n]b) =
  intrinsics.unzip xs

-- | Another name for `unzip`.
def unzip2 [n] 'a 'b (xs: [n](a, b)) : ([n]a, [n]b) =
  intrinsics.unzip xs

-- | As `unzip`, for triples.
def unzip3 [n] 'a 'b 'c (xs: [n](a, b, c)) : ([n]a, [n]b, [n]c) =
  let (abs, cs) = unzip2 (intrinsics.map (\(a, b, c) -> ((a, b), c)) xs)
  let (as, bs) = unzip2 abs
  in (as, bs, cs)

-- | As `unzip`, for quadruples.
def unzip4 [n] 'a 'b 'c 'd (xs: [n](a, b, c, d)) : ([n]a, [n]b, [n]c, [n]d) =
  let (abs, cds) = unzip2 (intrinsics.map (\(a, b, c, d) -> ((a, b), (c, d))) xs)
  let (as, bs) = unzip2 abs
  let (cs, ds) = unzip2 cds
  in (as, bs, cs, ds)

-- | As `unzip`, for quintuples.
def unzip5 [n] 'a 'b 'c 'd 'e (xs: [n](a, b, c, d, e)) : ([n]a, [n]b, [n]c, [n]d, [n]e) =
  let (abcs, des) = unzip2 (intrinsics.map (\(a, b, c, d, e) -> ((a, b, c), (d, e))) xs)
  let (as, bs, cs) = unzip3 abcs
  let (ds, es) = unzip2 des
  in (as, bs, cs, ds, es)
