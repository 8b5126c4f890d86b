#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

static inline float distance(const float *restrict a, const float *restrict b, int64_t d) {
  float sum = 0;
#pragma omp simd reduction(+ : sum)
  for (int64_t j = 0; j < d; j++) sum += (a[j] - b[j]) * (a[j] - b[j]);
  return sum;
}

static int64_t nearest(const float *point, const float *centres, int64_t k, int64_t d, float *least) {
  int64_t best = 0;
  *least = INFINITY;
  for (int64_t c = 0; c < k; c++) {
    float here = distance(point, centres + c * d, d);
    if (here < *least) *least = here, best = c;
  }
  return best;
}

void objective(const float *restrict points, const float *restrict centres, int64_t n, int64_t d, int64_t k,
               float *restrict out) {
  double total = 0;
  for (int64_t i = 0; i < n; i++) {
    float least;
    nearest(points + i * d, centres, k, d, &least);
    total += least;
  }
  *out = total;
}

// The gradient is twice the sum of c - p over the points of a centre, the second derivative twice their number.
void derivative(const float *restrict points, const float *restrict centres, int64_t n, int64_t d, int64_t k,
                float *restrict out) {
  float *counts = calloc(k, sizeof *counts);
  memset(out, 0, k * d * sizeof *out);
  for (int64_t i = 0; i < n; i++) {
    float least;
    const float *point = points + i * d;
    int64_t best = nearest(point, centres, k, d, &least);
    float *to = out + best * d;
    counts[best]++;
#pragma omp simd
    for (int64_t j = 0; j < d; j++) to[j] += point[j];
  }
  for (int64_t c = 0; c < k; c++) {
    for (int64_t j = 0; j < d; j++) out[c * d + j] = counts[c] == 0 ? 0 : centres[c * d + j] - out[c * d + j] / counts[c];
  }
  free(counts);
}
