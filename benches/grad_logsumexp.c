#include <math.h>
#include <stdint.h>

void bench(const double *restrict xs, int64_t n, double *restrict out) {
  double most = -INFINITY, sum = 0;
#pragma omp simd reduction(max : most)
  for (int64_t i = 0; i < n; i++) most = xs[i] > most ? xs[i] : most;
#pragma omp simd reduction(+ : sum)
  for (int64_t i = 0; i < n; i++) sum += out[i] = exp(xs[i] - most);
  double scale = 1 / sum;
#pragma omp simd
  for (int64_t i = 0; i < n; i++) out[i] *= scale;
}
