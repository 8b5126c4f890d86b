#include <stdint.h>
#include <string.h>

void bench(const double *restrict a, int64_t n, double *restrict out) {
  memcpy(out, a, n * n * sizeof *out);
  for (int64_t k = 0; k < n; k++) {
    const double *row = out + k * n;
    double pivot = row[k];
    for (int64_t i = k + 1; i < n; i++) {
      double *to = out + i * n;
      double f = to[k] /= pivot;
#pragma omp simd
      for (int64_t j = k + 1; j < n; j++) to[j] -= f * row[j];
    }
  }
}
