#include <stdint.h>
#include <stdlib.h>

static inline void times(const double *x, const double *y, double *out) {
  double a = x[0] * y[0] + x[1] * y[2], b = x[0] * y[1] + x[1] * y[3];
  double c = x[2] * y[0] + x[3] * y[2], d = x[2] * y[1] + x[3] * y[3];
  out[0] = a, out[1] = b, out[2] = c, out[3] = d;
}

void objective(const double *restrict matrices, int64_t n, double *restrict out) {
  double product[4] = {1, 0, 0, 1}, total = 0;
  for (int64_t i = 0; i < n; i++) {
    times(product, matrices + 4 * i, product);
    for (int j = 0; j < 4; j++) total += product[j] * product[j];
  }
  *out = 0.5 * total;
}

// With P[i] = P[i - 1] M[i] and the adjoint A[i] = P[i] + A[i + 1] M[i + 1]^T, the gradient by M[i] is P[i - 1]^T A[i].
void derivative(const double *restrict matrices, int64_t n, double *restrict out) {
  double *products = malloc((n + 1) * 4 * sizeof *products), adjoint[4] = {0};
  products[0] = products[3] = 1, products[1] = products[2] = 0;
  for (int64_t i = 0; i < n; i++) times(products + 4 * i, matrices + 4 * i, products + 4 * i + 4);
  for (int64_t i = n - 1; i >= 0; i--) {
    const double *before = products + 4 * i, *after = before + 4, *matrix = matrices + 4 * i;
    for (int j = 0; j < 4; j++) adjoint[j] += after[j];
    double turned[4] = {before[0], before[2], before[1], before[3]}, back[4] = {matrix[0], matrix[2], matrix[1], matrix[3]};
    times(turned, adjoint, out + 4 * i);
    times(adjoint, back, adjoint);
  }
  free(products);
}
