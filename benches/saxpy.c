#include <stdint.h>

void bench(float a, const float *restrict xs, const float *restrict ys, int64_t n, float *restrict out) {
#pragma omp simd
  for (int64_t i = 0; i < n; i++) out[i] = a * xs[i] + ys[i];
}
