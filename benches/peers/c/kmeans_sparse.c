#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

// The centres with the numbers of one column side by side, so that an entry of a point reads one place for all centres.
static float *turned(const float *centres, int64_t k, int64_t d, float *norms) {
  float *by_column = malloc(k * d * sizeof *by_column);
  for (int64_t c = 0; c < k; c++) {
    double sum = 0;
    for (int64_t j = 0; j < d; j++) {
      float x = centres[c * d + j];
      by_column[j * k + c] = x;
      sum += x * x;
    }
    norms[c] = sum;
  }
  return by_column;
}

static inline int64_t nearest(const float *restrict values, const int32_t *restrict columns, int64_t from, int64_t to,
                              const float *restrict by_column, const float *restrict norms, int64_t k,
                              float *restrict sums, float *restrict least) {
  float squares = 0;
  memset(sums, 0, k * sizeof *sums);
  for (int64_t e = from; e < to; e++) {
    float x = values[e];
    const float *column = by_column + columns[e] * k;
    squares += x * x;
#pragma omp simd
    for (int64_t c = 0; c < k; c++) sums[c] += x * column[c];
  }
  int64_t best = 0;
  *least = INFINITY;
  for (int64_t c = 0; c < k; c++) {
    float here = norms[c] - 2 * sums[c] + squares;
    if (here < *least) *least = here, best = c;
  }
  return best;
}

void objective(const float *restrict values, const int32_t *restrict columns, const int32_t *restrict starts,
               const float *restrict centres, int64_t m, int64_t r, int64_t k, int64_t d, float *restrict out) {
  float *norms = malloc(k * sizeof *norms), *sums = malloc(k * sizeof *sums), *by_column = turned(centres, k, d, norms);
  double total = 0;
  for (int64_t i = 0; i + 1 < r; i++) {
    float least;
    nearest(values, columns, starts[i], starts[i + 1], by_column, norms, k, sums, &least);
    total += least;
  }
  *out = total;
  free(norms), free(sums), free(by_column);
}

void derivative(const float *restrict values, const int32_t *restrict columns, const int32_t *restrict starts,
                const float *restrict centres, int64_t m, int64_t r, int64_t k, int64_t d, float *restrict out) {
  float *norms = malloc(k * sizeof *norms), *sums = malloc(k * sizeof *sums), *by_column = turned(centres, k, d, norms);
  float *counts = calloc(k, sizeof *counts);
  memset(out, 0, k * d * sizeof *out);
  for (int64_t i = 0; i + 1 < r; i++) {
    float least;
    int64_t best = nearest(values, columns, starts[i], starts[i + 1], by_column, norms, k, sums, &least);
    float *to = out + best * d;
    counts[best]++;
    for (int64_t e = starts[i]; e < starts[i + 1]; e++) to[columns[e]] += values[e];
  }
  for (int64_t c = 0; c < k; c++) {
    for (int64_t j = 0; j < d; j++) out[c * d + j] = counts[c] == 0 ? 0 : centres[c * d + j] - out[c * d + j] / counts[c];
  }
  free(norms), free(sums), free(by_column), free(counts);
}
