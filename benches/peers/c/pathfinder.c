#include <stdint.h>
#include <stdlib.h>
#include <string.h>

static inline double least(double a, double b) { return a < b ? a : b; }

static void next_row(const double *restrict row, const double *restrict best, int64_t n, double *restrict out) {
  out[0] = row[0] + least(best[0], best[n > 1]);
#pragma omp simd
  for (int64_t j = 1; j < n - 1; j++) out[j] = row[j] + least(best[j], least(best[j - 1], best[j + 1]));
  if (n > 1) out[n - 1] = row[n - 1] + least(best[n - 1], best[n - 2]);
}

void objective(const double *restrict wall, int64_t rows, int64_t n, double *restrict out) {
  double *best = malloc(n * sizeof *best), *other = malloc(n * sizeof *other);
  memcpy(best, wall, n * sizeof *best);
  for (int64_t i = 1; i < rows; i++) {
    next_row(wall + i * n, best, n, other);
    double *swap = best;
    best = other;
    other = swap;
  }
  double total = 0;
  for (int64_t j = 0; j < n; j++) total += best[j];
  *out = total;
  free(best), free(other);
}

// How many ways use a place: those that go on from it.
void derivative(const double *restrict wall, int64_t rows, int64_t n, double *restrict out) {
  double *all = malloc(rows * n * sizeof *all);
  memcpy(all, wall, n * sizeof *all);
  for (int64_t i = 1; i < rows; i++) next_row(wall + i * n, all + (i - 1) * n, n, all + i * n);
  memset(out, 0, rows * n * sizeof *out);
  for (int64_t j = 0; j < n; j++) out[(rows - 1) * n + j] = 1;
  for (int64_t i = rows - 1; i > 0; i--) {
    const double *best = all + (i - 1) * n, *ways = out + i * n;
    double *to = out + (i - 1) * n;
    for (int64_t j = 0; j < n; j++) {
      int64_t from = j, left = j > 0 ? j - 1 : j, right = j < n - 1 ? j + 1 : j;
      if (best[left] < best[from]) from = left;
      if (best[right] < best[from]) from = right;
      to[from] += ways[j];
    }
  }
  free(all);
}
