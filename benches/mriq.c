#include <math.h>
#include <stdint.h>

void bench(const float *restrict kxs, const float *restrict kys, const float *restrict kzs,
           const float *restrict weights, const float *restrict xs, const float *restrict ys,
           const float *restrict zs, int64_t k, int64_t n, float *restrict reals, float *restrict imaginaries) {
  for (int64_t i = 0; i < n; i++) {
    float real = 0, imaginary = 0, x = xs[i], y = ys[i], z = zs[i];
#pragma omp simd reduction(+ : real, imaginary)
    for (int64_t j = 0; j < k; j++) {
      float angle = 6.2831853f * (kxs[j] * x + kys[j] * y + kzs[j] * z);
      real += weights[j] * cosf(angle);
      imaginary += weights[j] * sinf(angle);
    }
    reals[i] = real;
    imaginaries[i] = imaginary;
  }
}
