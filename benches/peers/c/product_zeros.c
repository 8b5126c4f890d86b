#include <stdint.h>

void objective(const double *restrict rows, int64_t n, int64_t m, double *restrict out) {
  double total = 0;
  for (int64_t i = 0; i < n; i++) {
    double product = 1;
#pragma omp simd reduction(* : product)
    for (int64_t j = 0; j < m; j++) product *= rows[i * m + j];
    total += product;
  }
  *out = total;
}

// The product of all others: that of those that are not zero by the element, where there is no zero, or at the only zero.
void derivative(const double *restrict rows, int64_t n, int64_t m, double *restrict out) {
  for (int64_t i = 0; i < n; i++) {
    const double *row = rows + i * m;
    double *to = out + i * m, product = 1;
    int64_t zeros = 0;
#pragma omp simd reduction(* : product) reduction(+ : zeros)
    for (int64_t j = 0; j < m; j++) {
      product *= row[j] == 0 ? 1 : row[j];
      zeros += row[j] == 0;
    }
#pragma omp simd
    for (int64_t j = 0; j < m; j++) to[j] = row[j] == 0 ? (zeros == 1 ? product : 0) : (zeros == 0 ? product / row[j] : 0);
  }
}
