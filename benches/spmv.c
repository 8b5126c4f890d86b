#include <stdint.h>

void bench(const int32_t *restrict starts, const int32_t *restrict columns, const double *restrict values,
           const double *restrict xs, int64_t n, double *restrict out) {
  for (int64_t i = 0; i < n - 1; i++) {
    double sum = 0;
    int32_t last = starts[i + 1];
#pragma omp simd reduction(+ : sum)
    for (int32_t j = starts[i]; j < last; j++) sum += values[j] * xs[columns[j]];
    out[i] = sum;
  }
}
