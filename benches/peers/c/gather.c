#include <stdint.h>
#include <string.h>

void objective(const double *restrict table, const int32_t *restrict indices, const double *restrict targets, int64_t n,
               int64_t m, double *restrict out) {
  double total = 0;
#pragma omp simd reduction(+ : total)
  for (int64_t i = 0; i < m; i++) {
    double difference = table[indices[i]] - targets[i];
    total += difference * difference;
  }
  *out = 0.5 * total;
}

void derivative(const double *restrict table, const int32_t *restrict indices, const double *restrict targets, int64_t n,
                int64_t m, double *restrict out) {
  memset(out, 0, n * sizeof *out);
  for (int64_t i = 0; i < m; i++) out[indices[i]] += table[indices[i]] - targets[i];
}
