#include <stdint.h>
#include <stdlib.h>
#include <string.h>

static void step(const float *restrict a, int64_t n, int64_t m, int64_t k, float *restrict out) {
  for (int64_t x = 0; x < n; x++) {
    for (int64_t y = 0; y < m; y++) {
      const float *row = a + (x * m + y) * k;
      float *to = out + (x * m + y) * k;
      if (x == 0 || x == n - 1 || y == 0 || y == m - 1) {
        memcpy(to, row, k * sizeof *to);
        continue;
      }
      to[0] = row[0];
#pragma omp simd
      for (int64_t z = 1; z < k - 1; z++) {
        to[z] = 0.4f * row[z] + 0.1f * (row[z - m * k] + row[z + m * k] + row[z - k] + row[z + k] + row[z - 1] + row[z + 1]);
      }
      to[k - 1] = row[k - 1];
    }
  }
}

// Backwards, a cell gets from those of its neighbours that are not at the border, and a cell at the border keeps its own.
// `inner` is zero at the border.
static void step_back(float *restrict a, int64_t n, int64_t m, int64_t k, float *restrict inner, float *restrict out) {
  for (int64_t x = 1; x < n - 1; x++) {
    for (int64_t y = 1; y < m - 1; y++) {
      int64_t at = (x * m + y) * k;
      for (int64_t z = 1; z < k - 1; z++) inner[at + z] = a[at + z], a[at + z] = 0;
    }
  }
  for (int64_t x = 0; x < n; x++) {
    for (int64_t y = 0; y < m; y++) {
      int64_t at = (x * m + y) * k;
      const float *row = inner + at, *zero = inner;
      const float *before = x > 0 ? row - m * k : zero, *after = x < n - 1 ? row + m * k : zero;
      const float *left = y > 0 ? row - k : zero, *right = y < m - 1 ? row + k : zero;
      float *to = out + at;
      for (int64_t z = 0; z < k; z += k > 1 ? k - 1 : 1) {
        float sides = (z > 0 ? row[z - 1] : 0) + (z < k - 1 ? row[z + 1] : 0);
        to[z] = a[at + z] + 0.4f * row[z] + 0.1f * (before[z] + after[z] + left[z] + right[z] + sides);
      }
#pragma omp simd
      for (int64_t z = 1; z < k - 1; z++) {
        to[z] = a[at + z] + 0.4f * row[z] + 0.1f * (before[z] + after[z] + left[z] + right[z] + row[z - 1] + row[z + 1]);
      }
    }
  }
}

static float *simulate(int64_t steps, const float *restrict a, int64_t n, int64_t m, int64_t k, float **scratch) {
  size_t bytes = n * m * k * sizeof *a;
  float *from = malloc(bytes), *to = malloc(bytes);
  memcpy(from, a, bytes);
  for (int64_t i = 0; i < steps; i++) {
    step(from, n, m, k, to);
    float *swap = from;
    from = to;
    to = swap;
  }
  *scratch = to;
  return from;
}

void objective(int64_t steps, const float *restrict a, int64_t n, int64_t m, int64_t k, float *restrict out) {
  float *scratch, *last = simulate(steps, a, n, m, k, &scratch);
  double total = 0;
  for (int64_t i = 0; i < n * m * k; i++) total += last[i] * last[i];
  *out = 0.5 * total;
  free(last), free(scratch);
}

void derivative(int64_t steps, const float *restrict a, int64_t n, int64_t m, int64_t k, float *restrict out) {
  float *scratch, *adjoint = simulate(steps, a, n, m, k, &scratch);
  float *inner = calloc(n * m * k, sizeof *inner);
  for (int64_t i = 0; i < steps; i++) {
    step_back(adjoint, n, m, k, inner, scratch);
    float *swap = adjoint;
    adjoint = scratch;
    scratch = swap;
  }
  memcpy(out, adjoint, n * m * k * sizeof *out);
  free(adjoint), free(scratch), free(inner);
}
