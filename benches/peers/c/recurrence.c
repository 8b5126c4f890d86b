#include <stdint.h>

void objective(const double *restrict a, const double *restrict b, int64_t n, double *restrict out) {
  double x = 0, total = 0;
  for (int64_t i = 0; i < n; i++) {
    x = a[i] * x + b[i];
    total += x * x;
  }
  *out = 0.5 * total;
}

// The adjoint of x[i] is x[i] and what a[i + 1] brings back from x[i + 1].
void derivative(const double *restrict a, const double *restrict b, int64_t n, double *restrict a_out,
                double *restrict b_out) {
  double x = 0, adjoint = 0;
  for (int64_t i = 0; i < n; i++) {
    a_out[i] = x;
    x = a[i] * x + b[i];
    b_out[i] = x;
  }
  for (int64_t i = n - 1; i >= 0; i--) {
    adjoint += b_out[i];
    b_out[i] = adjoint;
    a_out[i] *= adjoint;
    adjoint *= a[i];
  }
}
