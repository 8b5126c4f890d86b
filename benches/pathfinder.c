#include <stdint.h>
#include <stdlib.h>
#include <string.h>

static inline int32_t least(int32_t a, int32_t b) { return a < b ? a : b; }

void bench(const int32_t *restrict wall, int64_t rows, int64_t n, int32_t *restrict out) {
  int32_t *other = malloc(n * sizeof *other), *from = other, *to = out;
  if ((rows - 1) % 2 == 0) from = out, to = other;
  memcpy(from, wall, n * sizeof *from);
  for (int64_t i = 1; i < rows; i++) {
    const int32_t *restrict row = wall + i * n, *restrict best = from;
    int32_t *restrict next = to;
    next[0] = row[0] + least(best[0], best[n > 1]);
#pragma omp simd
    for (int64_t j = 1; j < n - 1; j++) next[j] = row[j] + least(best[j], least(best[j - 1], best[j + 1]));
    if (n > 1) next[n - 1] = row[n - 1] + least(best[n - 1], best[n - 2]);
    int32_t *swap = from;
    from = to;
    to = swap;
  }
  free(other);
}
