#include <stdint.h>

void bench(const float *restrict xs, const float *restrict ys, int64_t n, float *restrict out) {
  float sum = 0;
#pragma omp simd reduction(+ : sum)
  for (int64_t i = 0; i < n; i++) sum += xs[i] * ys[i];
  *out = sum;
}
