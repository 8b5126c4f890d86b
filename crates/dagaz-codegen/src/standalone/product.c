/* Large matrix products of ELEM. Both matrices are copied piece by piece, so that the innermost loops read them from one end
   to the other: pieces of a stay in the second level of cache, and columns of b, as many as fill the vectors of a tile, in
   the first. A tile of sums is in registers. Every element is added up in the same order, wherever in a tile it is. */
enum {
  DZ_COLUMNS_ELEM = DZ_TILE_VECTORS * DZ_TILE_BYTES / sizeof(ELEM),
  DZ_DEPTH_ELEM = 256,
  DZ_ROW_BLOCK_ELEM = 96,
  DZ_COLUMN_BLOCK_ELEM = 12 * DZ_COLUMNS_ELEM,
};

typedef ELEM dz_wide_ELEM __attribute__((vector_size(DZ_TILE_BYTES), aligned(sizeof(ELEM)), may_alias));

/* Tiles of rows or columns one after the other, each by depth; what is outside of the matrix is zero. */
static void dz_pack_ELEM(ELEM *to, const ELEM *from, i64 count, i64 depth, i64 tile, i64 stride, i64 by_depth) {
  for (i64 first = 0; first < count; first += tile) {
    const i64 some = count - first < tile ? count - first : tile;
    const ELEM *start = from + first * stride;
    for (i64 p = 0; p < depth; p++, to += tile) {
      for (i64 i = 0; i < some; i++) to[i] = start[i * stride + p * by_depth];
      for (i64 i = some; i < tile; i++) to[i] = 0;
    }
  }
}

__attribute__((optimize("fp-contract=fast"))) static void dz_tile_of_sums_ELEM(
    i64 depth, const ELEM *a, const ELEM *b, ELEM *out) {
  const i64 lanes = DZ_TILE_BYTES / sizeof(ELEM);
  dz_wide_ELEM sums[DZ_TILE_ROWS][DZ_TILE_VECTORS] = {0};
  for (i64 p = 0; p < depth; p++, a += DZ_TILE_ROWS, b += DZ_TILE_VECTORS * lanes) {
    dz_wide_ELEM row[DZ_TILE_VECTORS];
#pragma GCC unroll 2
    for (i64 v = 0; v < DZ_TILE_VECTORS; v++) row[v] = *(const dz_wide_ELEM *)(b + v * lanes);
#pragma GCC unroll 12
    for (i64 i = 0; i < DZ_TILE_ROWS; i++)
#pragma GCC unroll 2
      for (i64 v = 0; v < DZ_TILE_VECTORS; v++) sums[i][v] += a[i] * row[v];
  }
#pragma GCC unroll 12
  for (i64 i = 0; i < DZ_TILE_ROWS; i++)
#pragma GCC unroll 2
    for (i64 v = 0; v < DZ_TILE_VECTORS; v++)
      *(dz_wide_ELEM *)(out + (i * DZ_TILE_VECTORS + v) * lanes) = sums[i][v];
}

/* Adds the product of pieces to a piece of c. */
static void dz_block_of_sums_ELEM(i64 m, i64 n, i64 depth, const ELEM *a, const ELEM *b, ELEM *c, dz_strides at) {
  ELEM tile[DZ_TILE_ROWS * DZ_COLUMNS_ELEM];
  for (i64 j = 0; j < n; j += DZ_COLUMNS_ELEM, b += depth * DZ_COLUMNS_ELEM) {
    const i64 columns = n - j < DZ_COLUMNS_ELEM ? n - j : DZ_COLUMNS_ELEM;
    for (i64 i = 0; i < m; i += DZ_TILE_ROWS) {
      const i64 rows = m - i < DZ_TILE_ROWS ? m - i : DZ_TILE_ROWS;
      dz_tile_of_sums_ELEM(depth, a + i * depth, b, tile);
      for (i64 y = 0; y < rows; y++) {
        ELEM *out = c + (i + y) * at.row + j * at.col;
        const ELEM *sums = tile + y * DZ_COLUMNS_ELEM;
        if (at.col == 1) {
          for (i64 x = 0; x < columns; x++) out[x] += sums[x];
        } else {
          for (i64 x = 0; x < columns; x++) out[x * at.col] += sums[x];
        }
      }
    }
  }
}

/* Adds a product to c; false without memory for the copies, and then nothing was done. */
static bool dz_packed_ELEM(const dz_product *s, const ELEM *a, const ELEM *b, ELEM *c) {
  ELEM *of_a = malloc((DZ_ROW_BLOCK_ELEM + DZ_COLUMN_BLOCK_ELEM) * DZ_DEPTH_ELEM * sizeof(ELEM));
  if (!of_a) return false;
  ELEM *of_b = of_a + DZ_ROW_BLOCK_ELEM * DZ_DEPTH_ELEM;
  for (i64 p = 0; p < s->k; p += DZ_DEPTH_ELEM) {
    const i64 depth = s->k - p < DZ_DEPTH_ELEM ? s->k - p : DZ_DEPTH_ELEM;
    for (i64 j = 0; j < s->n; j += DZ_COLUMN_BLOCK_ELEM) {
      const i64 columns = s->n - j < DZ_COLUMN_BLOCK_ELEM ? s->n - j : DZ_COLUMN_BLOCK_ELEM;
      dz_pack_ELEM(of_b, b + p * s->b.row + j * s->b.col, columns, depth, DZ_COLUMNS_ELEM, s->b.col, s->b.row);
      for (i64 i = 0; i < s->m; i += DZ_ROW_BLOCK_ELEM) {
        const i64 rows = s->m - i < DZ_ROW_BLOCK_ELEM ? s->m - i : DZ_ROW_BLOCK_ELEM;
        dz_pack_ELEM(of_a, a + i * s->a.row + p * s->a.col, rows, depth, DZ_TILE_ROWS, s->a.row, s->a.col);
        dz_block_of_sums_ELEM(rows, columns, depth, of_a, of_b, c + i * s->c.row + j * s->c.col, s->c);
      }
    }
  }
  free(of_a);
  return true;
}

/* Products of rows of a with all of b, for several threads. */
typedef struct {
  const dz_product *shape;
  const ELEM *a, *b;
  ELEM *c;
  i64 rows, parts, next;
} dz_product_job_ELEM;

static void dz_product_parts_ELEM(void *shared, dz_thread thread) {
  dz_product_job_ELEM *job = shared;
  const dz_product *s = job->shape;
  for (;;) {
    const i64 part = __atomic_fetch_add(&job->next, 1, __ATOMIC_RELAXED);
    const i64 batch = part / job->parts, first = part % job->parts * job->rows;
    if (batch >= s->batch) return;
    dz_product own = *s;
    own.batch = 1;
    own.m = s->m - first < job->rows ? s->m - first : job->rows;
    const ELEM *a = job->a + batch * s->a.batch + first * s->a.row, *b = job->b + batch * s->b.batch;
    ELEM *c = job->c + batch * s->c.batch + first * s->c.row;
    if (!own.add) {
      for (i64 i = 0; i < own.m; i++)
        for (i64 j = 0; j < own.n; j++) c[i * s->c.row + j * s->c.col] = 0;
    }
    own.add = true;
    if (!dz_packed_ELEM(&own, a, b, c)) dz_loops_ELEM(own, a, b, c);
  }
}

static void dz_large_product_ELEM(void *user, const dz_product *s, const ELEM *a, const ELEM *b, ELEM *c) {
  if (s->m < DZ_TILE_ROWS || s->n < DZ_COLUMNS_ELEM / 2) return dz_loops_ELEM(*s, a, b, c);
  const i64 threads = s->is_alone ? dz_host_threads(user) : 1;
  dz_product_job_ELEM job = {s, a, b, c, s->m, 1, 0};
  if (threads > 1) {
    /* Two parts for each thread, as one may start late. */
    const i64 wanted = (s->m + 2 * threads - 1) / (2 * threads);
    job.rows = (wanted + DZ_ROW_BLOCK_ELEM - 1) / DZ_ROW_BLOCK_ELEM * DZ_ROW_BLOCK_ELEM;
    job.parts = (s->m + job.rows - 1) / job.rows;
  }
  if (threads > 1 && job.parts * s->batch > 1) {
    dz_host_parallel(user, dz_product_parts_ELEM, &job, threads, (dz_thread){0});
  } else {
    dz_product_parts_ELEM(&job, (dz_thread){0});
  }
}
