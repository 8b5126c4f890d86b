#include <stdint.h>
#include <stdlib.h>
#include <string.h>

static inline float cell(float c, float p, float north, float south, float east, float west) {
  return c + 0.05f * (p + (north + south - 2 * c) * 0.1f + (east + west - 2 * c) * 0.1f + (80 - c) * 0.02f);
}

static void step(const float *restrict power, const float *restrict t, int64_t n, int64_t m, float *restrict out) {
  for (int64_t i = 0; i < n; i++) {
    const float *row = t + i * m, *p = power + i * m;
    const float *north = i > 0 ? row - m : row, *south = i < n - 1 ? row + m : row;
    float *to = out + i * m;
    to[0] = cell(row[0], p[0], north[0], south[0], row[m > 1], row[0]);
#pragma omp simd
    for (int64_t j = 1; j < m - 1; j++) to[j] = cell(row[j], p[j], north[j], south[j], row[j + 1], row[j - 1]);
    if (m > 1) to[m - 1] = cell(row[m - 1], p[m - 1], north[m - 1], south[m - 1], row[m - 1], row[m - 2]);
  }
}

void bench(int64_t steps, const float *restrict t, const float *restrict power, int64_t n, int64_t m,
           float *restrict out) {
  size_t bytes = n * m * sizeof *out;
  float *other = malloc(bytes), *from = other, *to = out;
  if (steps % 2 == 0) from = out, to = other;
  memcpy(from, t, bytes);
  for (int64_t i = 0; i < steps; i++) {
    step(power, from, n, m, to);
    float *swap = from;
    from = to;
    to = swap;
  }
  free(other);
}
