#include <math.h>
#include <stdint.h>
#include <string.h>

static const float turn = 6.2831853f;

void objective(const float *restrict kx, const float *restrict ky, const float *restrict kz, const float *restrict weights,
               const float *restrict xs, const float *restrict ys, const float *restrict zs, int64_t k, int64_t n,
               float *restrict out) {
  double total = 0;
  for (int64_t i = 0; i < n; i++) {
    float real = 0, imaginary = 0;
    for (int64_t j = 0; j < k; j++) {
      float angle = turn * (kx[j] * xs[i] + ky[j] * ys[i] + kz[j] * zs[i]);
      real += weights[j] * cosf(angle);
      imaginary += weights[j] * sinf(angle);
    }
    total += real * real + imaginary * imaginary;
  }
  *out = 0.5 * total;
}

void derivative(const float *restrict kx, const float *restrict ky, const float *restrict kz, const float *restrict weights,
                const float *restrict xs, const float *restrict ys, const float *restrict zs, int64_t k, int64_t n,
                float *restrict kx_out, float *restrict ky_out, float *restrict kz_out, float *restrict weights_out) {
  float cosines[k], sines[k];
  memset(kx_out, 0, k * sizeof *kx_out);
  memset(ky_out, 0, k * sizeof *ky_out);
  memset(kz_out, 0, k * sizeof *kz_out);
  memset(weights_out, 0, k * sizeof *weights_out);
  for (int64_t i = 0; i < n; i++) {
    float real = 0, imaginary = 0;
    for (int64_t j = 0; j < k; j++) {
      float angle = turn * (kx[j] * xs[i] + ky[j] * ys[i] + kz[j] * zs[i]);
      cosines[j] = cosf(angle);
      sines[j] = sinf(angle);
      real += weights[j] * cosines[j];
      imaginary += weights[j] * sines[j];
    }
#pragma omp simd
    for (int64_t j = 0; j < k; j++) {
      float by_angle = turn * weights[j] * (imaginary * cosines[j] - real * sines[j]);
      kx_out[j] += by_angle * xs[i];
      ky_out[j] += by_angle * ys[i];
      kz_out[j] += by_angle * zs[i];
      weights_out[j] += real * cosines[j] + imaginary * sines[j];
    }
  }
}
