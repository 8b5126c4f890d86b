/* Matrix products of ELEM of which a triangle is enough (`dz_triangle`). Tiles of sums are in registers: some rows of a, and
   two vectors of columns of b, which are copied so that a tile reads them from one end to the other. A tile goes as deep as
   its triangle does, each of the vectors to its own end. Every element is added up in the same order, wherever it is. */
enum {
  DZ_SPAN_ELEM = DZ_TRIANGLE_BYTES / sizeof(ELEM),
  DZ_PAIR_ELEM = 2 * DZ_SPAN_ELEM,
  DZ_WIDE_ELEM = DZ_WIDE_SPANS * DZ_SPAN_ELEM,
  DZ_MOST_WIDE_ELEM = 8 * DZ_WIDE_ELEM,
  DZ_MOST_PAIRS_ELEM = 12,
  DZ_MOST_DEPTH_ELEM = 256,
  DZ_MOST_ROWS_ELEM = 8 * DZ_TRIANGLE_ROWS,
  DZ_WIDE_TURN_ELEM = 8 * DZ_MOST_ROWS_ELEM,
};

typedef ELEM dz_span_ELEM __attribute__((vector_size(DZ_TRIANGLE_BYTES), aligned(sizeof(ELEM)), may_alias));

/* Two vectors of columns, the indices that each has, and a copy of them. */
typedef struct {
  i64 first, count;
  dz_range indices[2];
  const ELEM *copy;
} dz_pair_ELEM;

/* The depths of a tile: the first vector alone, both, and the second alone. */
typedef struct {
  i64 from, both_from, both_to, to;
} dz_phases_ELEM;

/* So many columns by depth; beyond the last they are zero. */
static inline void dz_copy_columns_ELEM(
    ELEM *restrict to, const i64 width, const ELEM *restrict b, i64 count, dz_range depth, dz_strides at) {
  i64 p = depth.from;
  if (count == width && at.col == 1) {
    for (; p < depth.to; p++) memcpy(to + p * width, b + p * at.row, width * sizeof(ELEM));
  } else if (count == width && at.row == 1) {
    /* Columns lie one after the other: all that is near in memory is read at once. */
    for (; p + 8 <= depth.to; p += 8) {
      for (i64 j = 0; j < width; j++) {
        const ELEM *column = b + p + j * at.col;
        __builtin_prefetch(column + width * at.col);
#pragma GCC unroll 8
        for (i64 q = 0; q < 8; q++) to[(p + q) * width + j] = column[q];
      }
    }
  }
  for (; p < depth.to; p++)
    for (i64 j = 0; j < width; j++) to[p * width + j] = j < count ? b[p * at.row + j * at.col] : 0;
}

/* The elements that a copy of the rows of a tile takes. Copies are not a power of two apart: they would be in one set of the
   cache. */
static inline i64 dz_tile_room_ELEM(i64 depth) { return DZ_TRIANGLE_ROWS * depth + 2 * DZ_SPAN_ELEM; }

/* Tiles of rows, each by depth; beyond the last row they are zero. All that is near in memory is read at once. */
static void dz_copy_rows_ELEM(ELEM *to, const ELEM *a, i64 count, i64 depth, dz_strides at) {
  for (i64 p = 0; p < depth; p++) {
    const ELEM *column = a + p * at.col;
    for (i64 i = 0; i < count; i += DZ_TRIANGLE_ROWS) {
      ELEM *out = to + i / DZ_TRIANGLE_ROWS * dz_tile_room_ELEM(depth) + p * DZ_TRIANGLE_ROWS;
      __builtin_prefetch(column + 8 * at.col + i * at.row);
      if (count - i >= DZ_TRIANGLE_ROWS && at.row == 1) {
        memcpy(out, column + i, DZ_TRIANGLE_ROWS * sizeof(ELEM));
      } else {
        for (i64 y = 0; y < DZ_TRIANGLE_ROWS; y++) out[y] = i + y < count ? column[(i + y) * at.row] : 0;
      }
    }
  }
}

#define DZ_ALONE_ELEM(sums, v, begin, end)                                                                        \
  for (i64 p = begin; p < end; p++) {                                                                             \
    const dz_span_ELEM x = *(const dz_span_ELEM *)(b + p * DZ_PAIR_ELEM + v * DZ_SPAN_ELEM);                     \
    _Pragma("GCC unroll 8") for (i64 i = 0; i < DZ_TRIANGLE_ROWS; i++) sums[i] += a[i * by_row + p * by_depth] * x; \
  }

/* Asks for the rows of a later tile, each of which is another stretch of memory that the processor would find late, unless all
   are near anyway. Not as near as can be: that is where the tile at hand is. */
static inline void dz_fetch_rows_ELEM(
    const dz_product *s, const dz_triangle *t, const ELEM *a, i64 first, i64 count, dz_range depth) {
  if (s->a.col != 1 || (!t->is_far && (f64)s->m * (f64)s->a.row * sizeof(ELEM) <= DZ_NEAR)) return;
  for (i64 i = first; i < first + count; i++) {
    const u64 row = (u64)a + (u64)(i * s->a.row) * sizeof(ELEM);
    for (i64 p = depth.from; p < depth.to; p += 64 / sizeof(ELEM)) DZ_FETCH_NEAR(row + (u64)p * sizeof(ELEM));
  }
}

/* A tile of sums, which is written to `out`, or added to what is there. */
static inline __attribute__((optimize("fp-contract=fast"), always_inline)) void dz_tile_sums_ELEM(
    const dz_phases_ELEM *at, const ELEM *a, i64 by_row, i64 by_depth, const ELEM *b, ELEM *out, i64 out_row, bool add) {
  /* One by one: as a vector, they would have to wait for what was written before. */
  const i64 from = at->from, both_from = at->both_from, both_to = at->both_to, to = at->to;
  dz_span_ELEM first[DZ_TRIANGLE_ROWS] = {0}, second[DZ_TRIANGLE_ROWS] = {0};
#pragma GCC unroll 8
  for (i64 i = 0; i < DZ_TRIANGLE_ROWS; i++) {
    __builtin_prefetch(out + i * out_row, 1);
    __builtin_prefetch(out + i * out_row + DZ_SPAN_ELEM, 1);
  }
  DZ_ALONE_ELEM(first, 0, from, both_from)
  for (i64 p = both_from; p < both_to; p++) {
    const dz_span_ELEM x = *(const dz_span_ELEM *)(b + p * DZ_PAIR_ELEM);
    const dz_span_ELEM y = *(const dz_span_ELEM *)(b + p * DZ_PAIR_ELEM + DZ_SPAN_ELEM);
#pragma GCC unroll 8
    for (i64 i = 0; i < DZ_TRIANGLE_ROWS; i++) {
      const ELEM own = a[i * by_row + p * by_depth];
      first[i] += own * x;
      second[i] += own * y;
    }
  }
  DZ_ALONE_ELEM(second, 1, both_to, to)
  if (add) {
#pragma GCC unroll 8
    for (i64 i = 0; i < DZ_TRIANGLE_ROWS; i++) {
      first[i] += *(dz_span_ELEM *)(out + i * out_row);
      second[i] += *(dz_span_ELEM *)(out + i * out_row + DZ_SPAN_ELEM);
    }
  }
#pragma GCC unroll 8
  for (i64 i = 0; i < DZ_TRIANGLE_ROWS; i++) {
    *(dz_span_ELEM *)(out + i * out_row) = first[i];
    *(dz_span_ELEM *)(out + i * out_row + DZ_SPAN_ELEM) = second[i];
  }
}

static __attribute__((noinline, optimize("fp-contract=fast"))) void dz_tile_in_place_ELEM(
    const dz_phases_ELEM *at, const ELEM *a, i64 by_row, const ELEM *b, ELEM *out, i64 out_row, bool add) {
  dz_tile_sums_ELEM(at, a, by_row, 1, b, out, out_row, add);
}

static __attribute__((noinline, optimize("fp-contract=fast"))) void dz_tile_of_copies_ELEM(
    const dz_phases_ELEM *at, const ELEM *a, const ELEM *b, ELEM *out, i64 out_row, bool add) {
  dz_tile_sums_ELEM(at, a, 1, DZ_TRIANGLE_ROWS, b, out, out_row, add);
}

/* How deep a tile goes, with the depths of a piece as bounds. */
static inline dz_phases_ELEM dz_phases_of_ELEM(
    const dz_triangle *t, dz_range rows, const dz_pair_ELEM *pair, dz_range bounds) {
  const dz_range none = {bounds.from, bounds.from}, first = dz_depths(t, rows, pair->indices[0], bounds);
  const dz_range second = pair->count > DZ_SPAN_ELEM ? dz_depths(t, rows, pair->indices[1], bounds) : none;
  if (second.from == second.to) return (dz_phases_ELEM){first.from, first.to, first.to, first.to};
  if (first.from == first.to) return (dz_phases_ELEM){second.from, second.from, second.from, second.to};
  /* Where the second begins first, or ends first, both do: what they read there is zero. */
  const i64 from = first.from < second.from ? first.from : second.from;
  const i64 to = first.to > second.to ? first.to : second.to;
  const i64 both_to = first.to < second.to ? first.to : to;
  const i64 both_from = first.from < second.from ? second.from : from;
  return (dz_phases_ELEM){from, both_from < both_to ? both_from : both_to, both_to, to};
}

/* Rows of c, for pairs of columns. `rows` has room for copies of the rows of a tile. */
static void dz_triangle_rows_ELEM(const dz_product *s, const dz_triangle *t, i64 first, i64 count, dz_range depth,
                                  const dz_pair_ELEM *pairs, i64 pair_count, const ELEM *a, ELEM *c, ELEM *rows, bool add) {
  ELEM tile[DZ_TRIANGLE_ROWS * DZ_PAIR_ELEM];
  const i64 deep = depth.to - depth.from, room = dz_tile_room_ELEM(deep);
  /* Contiguous rows are read where they are, if there are enough of them for a tile. */
  const i64 in_place = s->a.col == 1 ? count / DZ_TRIANGLE_ROWS * DZ_TRIANGLE_ROWS : 0;
  dz_copy_rows_ELEM(rows + in_place / DZ_TRIANGLE_ROWS * room, a + (first + in_place) * s->a.row + depth.from * s->a.col,
                    count - in_place, deep, s->a);
  dz_range indices[DZ_MOST_ROWS_ELEM / DZ_TRIANGLE_ROWS];
  for (i64 i = 0; i < count; i += DZ_TRIANGLE_ROWS) {
    const i64 some = count - i < DZ_TRIANGLE_ROWS ? count - i : DZ_TRIANGLE_ROWS;
    indices[i / DZ_TRIANGLE_ROWS] = dz_indices(first + i, some, t->row_period);
  }
  for (const dz_pair_ELEM *pair = pairs; pair < pairs + pair_count; pair++) {
    for (i64 i = 0; i < count; i += DZ_TRIANGLE_ROWS) {
      const i64 row = first + i, some = count - i < DZ_TRIANGLE_ROWS ? count - i : DZ_TRIANGLE_ROWS;
      const dz_phases_ELEM at = dz_phases_of_ELEM(t, indices[i / DZ_TRIANGLE_ROWS], pair, depth);
      if (add && at.from == at.to) continue;
      ELEM *out = c + row * s->c.row + pair->first * s->c.col;
      const bool is_whole = some == DZ_TRIANGLE_ROWS && pair->count == DZ_PAIR_ELEM && s->c.col == 1;
      ELEM *target = is_whole ? out : tile;
      const i64 target_row = is_whole ? s->c.row : DZ_PAIR_ELEM;
      if (i < in_place) {
        if (pair == pairs) dz_fetch_rows_ELEM(s, t, a, row + DZ_TRIANGLE_ROWS, DZ_TRIANGLE_ROWS, depth);
        dz_tile_in_place_ELEM(&at, a + row * s->a.row, s->a.row, pair->copy, target, target_row, add && is_whole);
      } else {
        const ELEM *copy = rows + i / DZ_TRIANGLE_ROWS * room - depth.from * DZ_TRIANGLE_ROWS;
        dz_tile_of_copies_ELEM(&at, copy, pair->copy, target, target_row, add && is_whole);
      }
      if (is_whole) continue;
      for (i64 y = 0; y < some; y++) {
        for (i64 x = 0; x < pair->count; x++) {
          ELEM *place = out + y * s->c.row + x * s->c.col;
          *place = add ? *place + tile[y * DZ_PAIR_ELEM + x] : tile[y * DZ_PAIR_ELEM + x];
        }
      }
    }
  }
}

/* Where a pair of columns ends that begins with the given one. Pairs do not go beyond the end of a period, if periods are long. */
static i64 dz_pair_end_ELEM(const dz_product *s, const dz_triangle *t, i64 first) {
  const i64 period = t->column_period, period_end = first - first % period + period;
  const bool in_periods = period >= 4 * DZ_SPAN_ELEM || (period >= DZ_PAIR_ELEM && period % DZ_SPAN_ELEM == 0);
  const i64 end = first + DZ_PAIR_ELEM < s->n ? first + DZ_PAIR_ELEM : s->n;
  return in_periods && period_end < end ? period_end : end;
}

/* A pair of columns, copied to `room`. */
static dz_pair_ELEM dz_copied_pair_ELEM(
    const dz_product *s, const dz_triangle *t, i64 start, dz_range depth, const ELEM *b, ELEM *room) {
  const i64 period = t->column_period, all = dz_pair_end_ELEM(s, t, start) - start;
  const i64 half = all < DZ_SPAN_ELEM ? all : DZ_SPAN_ELEM;
  const dz_range indices = dz_indices(start, all, period);
  const dz_range first = dz_indices(start, half, period), second = dz_indices(start + half, all - half, period);
  const dz_pair_ELEM pair = {start, all, {first, second}, room - depth.from * DZ_PAIR_ELEM};
  if (t->depth_to_column && indices.to < depth.to) depth.to = indices.to;
  if (t->column_to_depth && indices.from > depth.from) depth.from = indices.from;
  dz_copy_columns_ELEM((ELEM *)pair.copy, DZ_PAIR_ELEM, b + start * s->b.col, all, depth, s->b);
  return pair;
}

/* The next pairs of columns, copied. */
static i64 dz_next_pairs_ELEM(const dz_product *s, const dz_triangle *t, i64 *next, dz_range depth, const ELEM *b,
                              dz_pair_ELEM *pairs, ELEM *room) {
  i64 count = 0;
  for (; count < DZ_MOST_PAIRS_ELEM && *next < s->n; count++, room += DZ_PAIR_ELEM * (depth.to - depth.from)) {
    pairs[count] = dz_copied_pair_ELEM(s, t, *next, depth, b, room);
    *next = dz_pair_end_ELEM(s, t, *next);
  }
  return count;
}

/* A wide tile: rows of a, which are read where they are, and four vectors of columns. */
static inline __attribute__((optimize("fp-contract=fast"), always_inline)) void dz_wide_sums_ELEM(
    const i64 count, dz_range depth, const ELEM *a, dz_strides at, const ELEM *b, ELEM *out, i64 out_row, bool add) {
  dz_span_ELEM sums[DZ_WIDE_ROWS][DZ_WIDE_SPANS] = {0};
#pragma GCC unroll 8
  for (i64 i = 0; i < count; i++) {
#pragma GCC unroll 8
    for (i64 v = 0; v < DZ_WIDE_SPANS; v++) __builtin_prefetch(out + i * out_row + v * DZ_SPAN_ELEM, 1);
  }
  for (i64 p = depth.from; p < depth.to; p++) {
    /* As part of each multiplication, the C compiler would load them again for every row; it may not where they are volatile. */
    dz_span_ELEM x[DZ_WIDE_SPANS];
#pragma GCC unroll 8
    for (i64 v = 0; v < DZ_WIDE_SPANS; v++) x[v] = *(const volatile dz_span_ELEM *)(b + p * DZ_WIDE_ELEM + v * DZ_SPAN_ELEM);
#pragma GCC unroll 8
    for (i64 i = 0; i < count; i++) {
      const ELEM own = a[i * at.row + p * at.col];
#pragma GCC unroll 8
      for (i64 v = 0; v < DZ_WIDE_SPANS; v++) sums[i][v] += own * x[v];
    }
  }
#pragma GCC unroll 8
  for (i64 i = 0; i < count; i++) {
    dz_span_ELEM *to = (dz_span_ELEM *)(out + i * out_row);
#pragma GCC unroll 8
    for (i64 v = 0; v < DZ_WIDE_SPANS; v++) {
      if (add) sums[i][v] += to[v];
      to[v] = sums[i][v];
    }
  }
}

static __attribute__((noinline, optimize("fp-contract=fast"))) void dz_wide_tile_ELEM(
    i64 count, dz_range depth, const ELEM *a, dz_strides at, const ELEM *b, ELEM *out, i64 out_row, bool add) {
  switch (count) {
    case 1: return dz_wide_sums_ELEM(1, depth, a, at, b, out, out_row, add);
    case 2: return dz_wide_sums_ELEM(2, depth, a, at, b, out, out_row, add);
#if DZ_WIDE_ROWS > 2
    case 3: return dz_wide_sums_ELEM(3, depth, a, at, b, out, out_row, add);
    case 4: return dz_wide_sums_ELEM(4, depth, a, at, b, out, out_row, add);
#endif
  }
}

/* Rows of c, for some columns, which were copied. Tiles do not go beyond the end of a period. */
static void dz_wide_rows_ELEM(const dz_product *s, const dz_triangle *t, dz_range rows, dz_range columns, dz_range depth,
                              const ELEM *a, const ELEM *b, ELEM *c, bool add) {
  ELEM tile[DZ_WIDE_ROWS * DZ_WIDE_ELEM];
  const i64 count = columns.to - columns.from;
  const bool is_whole = count == DZ_WIDE_ELEM;
  for (i64 i = rows.from, some; i < rows.to; i += some) {
    const i64 period_end = i - i % t->row_period + t->row_period, end = period_end < rows.to ? period_end : rows.to;
    some = end - i < DZ_WIDE_ROWS ? end - i : DZ_WIDE_ROWS;
    const dz_range own = dz_depths(t, dz_indices(i, some, t->row_period), columns, depth);
    if (add && own.from == own.to) continue;
    ELEM *out = c + i * s->c.row + columns.from;
    dz_fetch_rows_ELEM(s, t, a, i + some, some, own);
    dz_wide_tile_ELEM(some, own, a + i * s->a.row, s->a, b, is_whole ? out : tile, is_whole ? s->c.row : DZ_WIDE_ELEM,
                      add && is_whole);
    for (i64 y = 0; !is_whole && y < some; y++) {
      ELEM *to = out + y * s->c.row;
      for (i64 x = 0; x < count; x++) to[x] = add ? to[x] + tile[y * DZ_WIDE_ELEM + x] : tile[y * DZ_WIDE_ELEM + x];
    }
  }
}

/* Where a triangle concerns depths and rows alone, and columns lie next to each other. */
static inline bool dz_has_wide_tiles_ELEM(const dz_product *s, const dz_triangle *t) {
  return s->c.col == 1 && s->n >= DZ_WIDE_ELEM && !t->depth_to_column && !t->column_to_depth && !t->row_to_column &&
         !t->column_to_row;
}

/* Some rows of one product by wide tiles; false without memory for copies. Tiles of few rows leave out more of what is zero.
   Rows that fit in the caches are used for several tiles of columns in turn. */
static bool dz_wide_part_ELEM(const dz_product *s, const dz_triangle *t, dz_range rows, const ELEM *a, const ELEM *b, ELEM *c) {
  const i64 most = s->k < DZ_MOST_DEPTH_ELEM ? s->k : DZ_MOST_DEPTH_ELEM;
  ELEM *room = aligned_alloc(64, DZ_MOST_WIDE_ELEM * most * sizeof(ELEM));
  if (!room) return false;
  for (i64 p = 0; p < s->k; p += most) {
    const dz_range depth = {p, p + most < s->k ? p + most : s->k};
    for (i64 first = 0; first < s->n; first += DZ_MOST_WIDE_ELEM) {
      const i64 last = first + DZ_MOST_WIDE_ELEM < s->n ? first + DZ_MOST_WIDE_ELEM : s->n;
      for (i64 i = rows.from; i < rows.to; i += DZ_WIDE_TURN_ELEM) {
        const dz_range some = {i, i + DZ_WIDE_TURN_ELEM < rows.to ? i + DZ_WIDE_TURN_ELEM : rows.to};
        for (i64 j = first; j < last; j += DZ_WIDE_ELEM) {
          const dz_range columns = {j, j + DZ_WIDE_ELEM < last ? j + DZ_WIDE_ELEM : last};
          ELEM *copy = room + (j - first) * most - p * DZ_WIDE_ELEM;
          if (i == rows.from) dz_copy_columns_ELEM(copy, DZ_WIDE_ELEM, b + j * s->b.col, columns.to - j, depth, s->b);
          dz_wide_rows_ELEM(s, t, some, columns, depth, a, copy, c, s->add || p > 0);
        }
      }
    }
  }
  free(room);
  return true;
}

/* All pairs of columns of b, copied once for many products. */
typedef struct {
  i64 count;
  dz_pair_ELEM pairs[];
} dz_kept_ELEM;

/* Some rows of one product, with kept pairs of columns, or with pairs that are copied; false without memory for copies. */
static bool dz_triangle_part_ELEM(const dz_product *s, const dz_triangle *t, dz_range rows, const ELEM *a, const ELEM *b,
                                  ELEM *c, const dz_kept_ELEM *kept) {
  if (!kept && dz_has_wide_tiles_ELEM(s, t)) return dz_wide_part_ELEM(s, t, rows, a, b, c);
  const i64 most = kept || s->k < DZ_MOST_DEPTH_ELEM ? s->k : DZ_MOST_DEPTH_ELEM;
  const i64 for_columns = kept ? 0 : DZ_MOST_PAIRS_ELEM * DZ_PAIR_ELEM * most;
  const i64 for_rows = DZ_MOST_ROWS_ELEM / DZ_TRIANGLE_ROWS * dz_tile_room_ELEM(most);
  ELEM *room = aligned_alloc(64, ((for_columns + for_rows) * sizeof(ELEM) + 63) / 64 * 64);
  if (!room) return false;
  dz_pair_ELEM copied[DZ_MOST_PAIRS_ELEM];
  for (i64 p = 0; p < s->k; p += most) {
    const dz_range depth = {p, p + most < s->k ? p + most : s->k};
    for (i64 next = 0; next < (kept ? kept->count : s->n);) {
      const dz_pair_ELEM *pairs = kept ? kept->pairs + next : copied;
      const i64 left = kept ? kept->count - next : 0;
      const i64 count = !kept ? dz_next_pairs_ELEM(s, t, &next, depth, b, copied, room)
                              : left < DZ_MOST_PAIRS_ELEM ? left : DZ_MOST_PAIRS_ELEM;
      if (kept) next += count;
      for (i64 i = rows.from; i < rows.to; i += DZ_MOST_ROWS_ELEM) {
        const i64 some = rows.to - i < DZ_MOST_ROWS_ELEM ? rows.to - i : DZ_MOST_ROWS_ELEM;
        dz_triangle_rows_ELEM(s, t, i, some, depth, pairs, count, a, c, room + for_columns, s->add || p > 0);
      }
    }
  }
  free(room);
  return true;
}

/* A product for several threads: pieces of rows. */
typedef struct {
  dz_product shape;
  dz_triangle triangle;
  const ELEM *a, *b;
  ELEM *c;
  const dz_kept_ELEM *kept;
  i64 rows, pieces;
} dz_triangle_job_ELEM;

static i32 dz_triangle_pieces_ELEM(dz_ctx *ctx, const void *env, i64 from, i64 to) {
  const dz_triangle_job_ELEM *job = env;
  dz_product s = job->shape;
  for (i64 piece = from; piece < to; piece++) {
    const i64 batch = piece / job->pieces, first = piece % job->pieces * job->rows;
    const dz_range rows = {first, first + job->rows < s.m ? first + job->rows : s.m};
    const ELEM *a = job->a + batch * s.a.batch, *b = job->b + batch * s.b.batch;
    ELEM *c = job->c + batch * s.c.batch;
    if (!dz_triangle_part_ELEM(&s, &job->triangle, rows, a, b, c, job->kept)) {
      dz_product own = s;
      own.batch = 1, own.m = rows.to - rows.from;
      dz_loops_ELEM(own, a + first * s.a.row, b, c + first * s.c.row);
    }
  }
  return 0;
}

static void dz_triangle_pieces_of_rows_ELEM(
    dz_ctx *ctx, dz_product s, dz_triangle t, const ELEM *a, const ELEM *b, ELEM *c, const dz_kept_ELEM *kept) {
  dz_triangle_job_ELEM job = {s, t, a, b, c, kept, s.m, 1};
  if (!ctx->job && ctx->threads > 1 && (f64)s.batch * (f64)s.m * (f64)s.n * (f64)s.k > 1e6) {
    /* Pieces depend on the threads, but sums do not depend on pieces. */
    const i64 tiles = (s.m + DZ_TRIANGLE_ROWS - 1) / DZ_TRIANGLE_ROWS, most = DZ_MOST_ROWS_ELEM / DZ_TRIANGLE_ROWS;
    const i64 wanted = (tiles + 4 * ctx->threads - 1) / (4 * ctx->threads);
    job.rows = DZ_TRIANGLE_ROWS * (kept ? wanted : (wanted + most - 1) / most * most);
    job.pieces = (s.m + job.rows - 1) / job.rows;
    dz_parallel(ctx, dz_triangle_pieces_ELEM, &job, s.batch * job.pieces, 1);
  } else {
    dz_triangle_pieces_ELEM(ctx, &job, 0, s.batch);
  }
}

static inline bool dz_is_small_triangle_ELEM(const dz_product *s) {
  return s->m == 1 || s->n == 1 || (f64)s->m * (f64)s->n * (f64)s->k < 20000;
}

static void dz_triangle_product_ELEM(dz_ctx *ctx, dz_product s, dz_triangle t, const ELEM *a, const ELEM *b, ELEM *c) {
  if (s.batch <= 0 || s.m <= 0 || s.n <= 0) return;
  if (dz_is_small_triangle_ELEM(&s)) return dz_loops_ELEM(s, a, b, c);
  if (s.c.row == 1 && s.c.col != 1) {
    /* The transposed product writes whole vectors. */
    const ELEM *other = a;
    a = b;
    b = other;
    s = (dz_product){s.batch, s.n, s.m, s.k, {s.b.batch, s.b.col, s.b.row}, {s.a.batch, s.a.col, s.a.row},
                     {s.c.batch, s.c.col, s.c.row}, s.add};
    t = (dz_triangle){t.column_period, t.row_period, t.depth_to_column, t.column_to_depth, t.depth_to_row, t.row_to_depth,
                      t.column_to_row, t.row_to_column, t.is_far};
  }
  dz_triangle_pieces_of_rows_ELEM(ctx, s, t, a, b, c, NULL);
}

/* Copies all columns of b, if there is memory for that. */
static i32 dz_keep_columns_ELEM(
    dz_ctx *ctx, i32 site, const dz_product *s, const dz_triangle *t, const ELEM *b, dz_block **kept) {
  i64 count = 0;
  for (i64 next = 0; next < s->n; next = dz_pair_end_ELEM(s, t, next)) count++;
  const i64 size = DZ_PAIR_ELEM * s->k * sizeof(ELEM);
  const i64 head = (sizeof(dz_kept_ELEM) + count * sizeof(dz_pair_ELEM) + 63) / 64 * 64;
  const i64 bytes = dz_plus(head, dz_times(count, size));
  if (dz_plus(ctx->program->live, bytes) > ctx->limit) return 0;
  *kept = dz_alloc(ctx, site, bytes / sizeof(ELEM), sizeof(ELEM), CODE);
  if (!*kept) return 1;
  dz_kept_ELEM *all = (*kept)->data;
  ELEM *room = (ELEM *)((char *)all + head);
  all->count = 0;
  for (i64 next = 0; next < s->n; next = dz_pair_end_ELEM(s, t, next), room += DZ_PAIR_ELEM * s->k)
    all->pairs[all->count++] = dz_copied_pair_ELEM(s, t, next, (dz_range){0, s->k}, b, room);
  return 0;
}

/* One of many products with the same b, of whose columns copies are kept. */
static i32 dz_triangle_product_with_copy_ELEM(dz_ctx *ctx, i32 site, dz_product s, dz_triangle t, const ELEM *a,
                                              const ELEM *b, ELEM *c, dz_block **kept) {
  const bool fits = s.m > 0 && s.n > 0 && s.k <= DZ_MOST_DEPTH_ELEM && !dz_is_small_triangle_ELEM(&s);
  if (fits && !*kept && dz_keep_columns_ELEM(ctx, site, &s, &t, b, kept)) return 1;
  if (fits && *kept) dz_triangle_pieces_of_rows_ELEM(ctx, s, t, a, b, c, (*kept)->data);
  else dz_triangle_product_ELEM(ctx, s, t, a, b, c);
  return 0;
}
