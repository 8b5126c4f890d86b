/* Matrix products of ELEM: c[i, j] = sum of a[i, p] * b[p, j] over p, or the same added to c, for all parts of a batch.
   Large ones are for the caller; here are those with one column or row, and small ones. */

typedef ELEM dz_lanes_ELEM __attribute__((vector_size(64), aligned(sizeof(ELEM)), may_alias));
typedef ELEM dz_half_ELEM __attribute__((vector_size(32), aligned(sizeof(ELEM)), may_alias));
typedef ELEM dz_quarter_ELEM __attribute__((vector_size(16), aligned(sizeof(ELEM)), may_alias));

static inline ELEM dz_sum_ELEM(dz_lanes_ELEM lanes) {
  dz_half_ELEM halves[2];
  memcpy(halves, &lanes, sizeof halves);
  halves[0] += halves[1];
  dz_quarter_ELEM quarters[2];
  memcpy(quarters, &halves[0], sizeof quarters);
  quarters[0] += quarters[1];
  ELEM parts[16 / sizeof(ELEM)];
  memcpy(parts, &quarters[0], sizeof parts);
  for (i64 half = 8 / sizeof(ELEM); half > 0; half /= 2)
    for (i64 l = 0; l < half; l++) parts[l] += parts[l + half];
  return parts[0];
}

/* One row of a on contiguous columns of b: four of them at once, as each needs the row again. */
static inline void dz_dots_ELEM(i64 count, i64 k, const ELEM *a, const ELEM *b, i64 b_col, ELEM *c, i64 c_col) {
  const i64 lanes = 64 / sizeof(ELEM);
  i64 j = 0;
  for (; j + 4 <= count; j += 4) {
    const ELEM *b0 = b + j * b_col, *b1 = b0 + b_col, *b2 = b1 + b_col, *b3 = b2 + b_col;
    dz_lanes_ELEM s0 = {0}, s1 = {0}, s2 = {0}, s3 = {0};
    ELEM t0 = 0, t1 = 0, t2 = 0, t3 = 0;
    i64 p = 0;
    for (; p + lanes <= k; p += lanes) {
      dz_lanes_ELEM x = *(const dz_lanes_ELEM *)(a + p);
      s0 += x * *(const dz_lanes_ELEM *)(b0 + p);
      s1 += x * *(const dz_lanes_ELEM *)(b1 + p);
      s2 += x * *(const dz_lanes_ELEM *)(b2 + p);
      s3 += x * *(const dz_lanes_ELEM *)(b3 + p);
    }
    for (; p < k; p++) {
      t0 += a[p] * b0[p];
      t1 += a[p] * b1[p];
      t2 += a[p] * b2[p];
      t3 += a[p] * b3[p];
    }
    c[j * c_col] += t0 + dz_sum_ELEM(s0);
    c[(j + 1) * c_col] += t1 + dz_sum_ELEM(s1);
    c[(j + 2) * c_col] += t2 + dz_sum_ELEM(s2);
    c[(j + 3) * c_col] += t3 + dz_sum_ELEM(s3);
  }
  for (; j < count; j++) {
    const ELEM *b0 = b + j * b_col;
    dz_lanes_ELEM s0 = {0}, s1 = {0};
    ELEM t0 = 0;
    i64 p = 0;
    for (; p + 2 * lanes <= k; p += 2 * lanes) {
      s0 += *(const dz_lanes_ELEM *)(a + p) * *(const dz_lanes_ELEM *)(b0 + p);
      s1 += *(const dz_lanes_ELEM *)(a + p + lanes) * *(const dz_lanes_ELEM *)(b0 + p + lanes);
    }
    for (; p < k; p++) t0 += a[p] * b0[p];
    c[j * c_col] += t0 + dz_sum_ELEM(s0 + s1);
  }
}

/* One row of a on contiguous rows of b, four of them at once, as each changes the row of c. */
static inline void dz_rows_ELEM(i64 n, i64 k, const ELEM *a, i64 a_col, const ELEM *b, i64 b_row, ELEM *restrict c) {
  i64 p = 0;
  for (; p + 4 <= k; p += 4) {
    const ELEM x0 = a[p * a_col], x1 = a[(p + 1) * a_col], x2 = a[(p + 2) * a_col], x3 = a[(p + 3) * a_col];
    const ELEM *b0 = b + p * b_row, *b1 = b0 + b_row, *b2 = b1 + b_row, *b3 = b2 + b_row;
    for (i64 j = 0; j < n; j++) c[j] = (((c[j] + x0 * b0[j]) + x1 * b1[j]) + x2 * b2[j]) + x3 * b3[j];
  }
  for (; p < k; p++) {
    const ELEM x = a[p * a_col];
    const ELEM *b0 = b + p * b_row;
    for (i64 j = 0; j < n; j++) c[j] += x * b0[j];
  }
}

/* Columns of c, as many as a vector has elements, in four rows or one; the vectors of sums stay in registers. */
#define DZ_TILE_ELEM(name, V)                                                                          \
  __attribute__((optimize("fp-contract=fast"))) static inline void name(                               \
      const dz_product *s, const ELEM *a, const ELEM *b, ELEM *c) {                                    \
    i64 i = 0;                                                                                         \
    for (; i + 4 <= s->m; i += 4) {                                                                    \
      const ELEM *a0 = a + i * s->a.row, *a1 = a0 + s->a.row, *a2 = a1 + s->a.row, *a3 = a2 + s->a.row; \
      V s0 = {0}, s1 = {0}, s2 = {0}, s3 = {0};                                                        \
      for (i64 p = 0; p < s->k; p++) {                                                                 \
        const V x = *(const V *)(b + p * s->b.row);                                                    \
        s0 += a0[p * s->a.col] * x;                                                                    \
        s1 += a1[p * s->a.col] * x;                                                                    \
        s2 += a2[p * s->a.col] * x;                                                                    \
        s3 += a3[p * s->a.col] * x;                                                                    \
      }                                                                                                \
      ELEM *out = c + i * s->c.row;                                                                    \
      *(V *)out += s0;                                                                                 \
      *(V *)(out + s->c.row) += s1;                                                                    \
      *(V *)(out + 2 * s->c.row) += s2;                                                                \
      *(V *)(out + 3 * s->c.row) += s3;                                                                \
    }                                                                                                  \
    for (; i < s->m; i++) {                                                                            \
      V s0 = {0};                                                                                      \
      for (i64 p = 0; p < s->k; p++) s0 += a[i * s->a.row + p * s->a.col] * *(const V *)(b + p * s->b.row); \
      *(V *)(c + i * s->c.row) += s0;                                                                  \
    }                                                                                                  \
  }
DZ_TILE_ELEM(dz_tile_ELEM, dz_lanes_ELEM)
DZ_TILE_ELEM(dz_half_tile_ELEM, dz_half_ELEM)
DZ_TILE_ELEM(dz_quarter_tile_ELEM, dz_quarter_ELEM)

/* Adds one product to c. */
static void dz_small_ELEM(dz_product s, const ELEM *a, const ELEM *b, ELEM *c) {
  const bool by_rows = s.b.col == 1 && s.c.col == 1 && s.n > 1;
  if (!by_rows && ((s.a.row == 1 && s.c.row == 1 && s.m > 1) || s.n < s.m)) {
    /* The transposed product is the same one. */
    const ELEM *first = a;
    a = b;
    b = first;
    s = (dz_product){s.batch, s.n, s.m, s.k, {0, s.b.col, s.b.row}, {0, s.a.col, s.a.row}, {0, s.c.col, s.c.row}, true};
  }
  if (s.b.col == 1 && s.c.col == 1 && s.m > 1) {
    const i64 lanes = 64 / sizeof(ELEM);
    for (; s.n >= lanes; s.n -= lanes, b += lanes, c += lanes) dz_tile_ELEM(&s, a, b, c);
    for (; s.n >= lanes / 2; s.n -= lanes / 2, b += lanes / 2, c += lanes / 2) dz_half_tile_ELEM(&s, a, b, c);
    for (; s.n >= lanes / 4; s.n -= lanes / 4, b += lanes / 4, c += lanes / 4) dz_quarter_tile_ELEM(&s, a, b, c);
    if (s.n == 0) return;
  }
  for (i64 i = 0; i < s.m; i++) {
    const ELEM *row = a + i * s.a.row;
    ELEM *out = c + i * s.c.row;
    if (s.b.col == 1 && s.c.col == 1 && s.n > 1) {
      dz_rows_ELEM(s.n, s.k, row, s.a.col, b, s.b.row, out);
    } else if ((s.a.col == 1 || s.k == 1) && (s.b.row == 1 || s.k == 1)) {
      dz_dots_ELEM(s.n, s.k, row, b, s.b.col, out, s.c.col);
    } else {
      for (i64 j = 0; j < s.n; j++) {
        ELEM sum = 0;
        for (i64 p = 0; p < s.k; p++) sum += row[p * s.a.col] * b[p * s.b.row + j * s.b.col];
        out[j * s.c.col] += sum;
      }
    }
  }
}

static void dz_loops_ELEM(dz_product s, const ELEM *a, const ELEM *b, ELEM *c) {
  for (i64 part = 0; part < s.batch; part++) {
    ELEM *out = c + part * s.c.batch;
    if (!s.add) {
      for (i64 i = 0; i < s.m; i++)
        for (i64 j = 0; j < s.n; j++) out[i * s.c.row + j * s.c.col] = 0;
    }
    /* Parts of b that stay in the cache while all rows of a pass by. */
    const i64 depth = s.m > 1 && s.n > 1 ? 256 : s.k;
    for (i64 p = 0; p < s.k; p += depth) {
      dz_product some = s;
      some.k = s.k - p < depth ? s.k - p : depth;
      dz_small_ELEM(some, a + part * s.a.batch + p * s.a.col, b + part * s.b.batch + p * s.b.row, out);
    }
  }
}

static inline bool dz_is_large_ELEM(const dz_product *s) {
  const i64 small = 20000;
  return s->m > 1 && s->n > 1 && s->k > 1 && (f64)s->m * (f64)s->n * (f64)s->k > small;
}

static void dz_product_ELEM(dz_ctx *ctx, dz_product s, const ELEM *a, const ELEM *b, ELEM *c) {
  if (s.batch <= 0 || s.m <= 0 || s.n <= 0) return;
  if (ctx->host->product && dz_is_large_ELEM(&s)) {
    s.is_alone = !ctx->job;
    ctx->host->product(ctx->user, CODE, &s, a, b, c);
    return;
  }
  dz_loops_ELEM(s, a, b, c);
}

/* One of many products with the same b, which is kept in the order of kernels, if there is memory for that. */
static inline i32 dz_product_with_copy_ELEM(
    dz_ctx *ctx, i32 site, dz_product s, const ELEM *a, const ELEM *b, ELEM *c, dz_block **kept) {
  if (ctx->host->pack && dz_is_large_ELEM(&s)) {
    const i64 elements = *kept ? 0 : ctx->host->pack(CODE, &s, b, NULL);
    if (elements > 0 && dz_plus(ctx->program->live, elements * sizeof(ELEM)) <= ctx->limit) {
      *kept = dz_alloc(ctx, site, elements, sizeof(ELEM), CODE);
      if (!*kept) return 1;
      ctx->host->pack(CODE, &s, b, (*kept)->data);
    }
    if (*kept) s.packed = (*kept)->data;
  }
  dz_product_ELEM(ctx, s, a, b, c);
  return 0;
}
