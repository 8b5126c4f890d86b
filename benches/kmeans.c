#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

void bench(const float *restrict points, const float *restrict centres, int64_t n, int64_t k, int64_t d,
           float *restrict out) {
  float *counts = calloc(k, sizeof *counts);
  memset(out, 0, k * d * sizeof *out);
  for (int64_t i = 0; i < n; i++) {
    const float *point = points + i * d;
    int64_t best = 0;
    float least = INFINITY;
    for (int64_t c = 0; c < k; c++) {
      const float *centre = centres + c * d;
      float sum = 0;
#pragma omp simd reduction(+ : sum)
      for (int64_t j = 0; j < d; j++) sum += (point[j] - centre[j]) * (point[j] - centre[j]);
      if (sum < least) least = sum, best = c;
    }
    float *to = out + best * d;
    counts[best]++;
#pragma omp simd
    for (int64_t j = 0; j < d; j++) to[j] += point[j];
  }
  for (int64_t c = 0; c < k; c++) {
    for (int64_t j = 0; j < d; j++) out[c * d + j] /= fmaxf(1, counts[c]);
  }
  free(counts);
}
