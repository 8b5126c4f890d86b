/* Of a product's sums, those terms that count: an index of the first side is at most that of the second. Indices of rows and
   columns begin again after each period, as several axes can be one side. */
typedef struct {
  i64 row_period, column_period;
  bool depth_to_row, row_to_depth, depth_to_column, column_to_depth, row_to_column, column_to_row;
  bool is_far; /* the matrix of the rows is part of one that is not near */
} dz_triangle;

typedef struct {
  i64 from, to;
} dz_range;

/* Tiles of sums: rows, and two vectors of so many bytes; or fewer rows, and four vectors. */
#if defined(__AVX512F__)
enum { DZ_TRIANGLE_BYTES = 64, DZ_TRIANGLE_ROWS = 8 };
#define DZ_WIDE_ROWS 4
#elif defined(__AVX__)
enum { DZ_TRIANGLE_BYTES = 32, DZ_TRIANGLE_ROWS = 6 };
#define DZ_WIDE_ROWS 2
#else
enum { DZ_TRIANGLE_BYTES = 16, DZ_TRIANGLE_ROWS = 6 };
#define DZ_WIDE_ROWS 2
#endif
enum { DZ_WIDE_SPANS = 4 };

/* The indices that some rows or columns have, given how often these begin again. */
static inline dz_range dz_indices(i64 first, i64 count, i64 period) {
  const i64 start = first % period;
  return start + count <= period ? (dz_range){start, start + count} : (dz_range){0, period};
}

/* The depths that count for rows and columns, between two bounds; none where nothing does. */
static inline dz_range dz_depths(const dz_triangle *t, dz_range rows, dz_range columns, dz_range bounds) {
  const dz_range none = {bounds.from, bounds.from};
  if ((t->row_to_column && rows.from >= columns.to) || (t->column_to_row && columns.from >= rows.to)) return none;
  if (t->depth_to_row && bounds.to > rows.to) bounds.to = rows.to;
  if (t->depth_to_column && bounds.to > columns.to) bounds.to = columns.to;
  if (t->row_to_depth && bounds.from < rows.from) bounds.from = rows.from;
  if (t->column_to_depth && bounds.from < columns.from) bounds.from = columns.from;
  return bounds.from < bounds.to ? bounds : none;
}
