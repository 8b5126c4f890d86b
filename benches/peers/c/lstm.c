#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

static inline float sigmoid(float x) { return 1 / (1 + expf(-x)); }

// to[b][p] += from[b][m] weights[m][p], four rows of `weights` at a time.
static void add_product(const float *restrict from, const float *restrict weights, int64_t b, int64_t m, int64_t p,
                        float *restrict to) {
  for (int64_t i = 0; i < b; i++) {
    float *row = to + i * p;
    const float *x = from + i * m;
    int64_t k = 0;
    for (; k + 4 <= m; k += 4) {
      const float *w = weights + k * p;
#pragma omp simd
      for (int64_t j = 0; j < p; j++) row[j] += x[k] * w[j] + x[k + 1] * w[p + j] + x[k + 2] * w[2 * p + j] + x[k + 3] * w[3 * p + j];
    }
    for (; k < m; k++) {
#pragma omp simd
      for (int64_t j = 0; j < p; j++) row[j] += x[k] * weights[k * p + j];
    }
  }
}

static float *transposed(const float *a, int64_t n, int64_t m) {
  float *out = malloc(n * m * sizeof *out);
  for (int64_t i = 0; i < n; i++) {
    for (int64_t j = 0; j < m; j++) out[j * n + i] = a[i * m + j];
  }
  return out;
}

void objective(const float *restrict inputs, const float *restrict targets, const float *restrict w_input,
               const float *restrict w_hidden, const float *restrict bias, const float *restrict w_output,
               const float *restrict output_bias, int64_t n, int64_t b, int64_t d, int64_t h, float *restrict out) {
  float *from_input = transposed(w_input, 4 * h, d), *from_hidden = transposed(w_hidden, 4 * h, h);
  float *hidden = calloc(b * h, sizeof *hidden), *cell = calloc(b * h, sizeof *cell);
  float *gates = malloc(b * 4 * h * sizeof *gates), *predicted = malloc(b * d * sizeof *predicted);
  double total = 0;
  for (int64_t t = 0; t < n; t++) {
    for (int64_t i = 0; i < b; i++) memcpy(gates + i * 4 * h, bias, 4 * h * sizeof *gates);
    add_product(inputs + t * b * d, from_input, b, d, 4 * h, gates);
    add_product(hidden, from_hidden, b, h, 4 * h, gates);
    for (int64_t i = 0; i < b; i++) {
      const float *g = gates + i * 4 * h;
      for (int64_t j = 0; j < h; j++) {
        float c = sigmoid(g[h + j]) * cell[i * h + j] + sigmoid(g[j]) * tanhf(g[2 * h + j]);
        cell[i * h + j] = c;
        hidden[i * h + j] = sigmoid(g[3 * h + j]) * tanhf(c);
      }
    }
    for (int64_t i = 0; i < b; i++) memcpy(predicted + i * d, output_bias, d * sizeof *predicted);
    add_product(hidden, w_output, b, h, d, predicted);
    const float *target = targets + t * b * d;
    float error = 0;
#pragma omp simd reduction(+ : error)
    for (int64_t i = 0; i < b * d; i++) error += (predicted[i] - target[i]) * (predicted[i] - target[i]);
    total += error;
  }
  *out = total / (n * b * d);
  free(from_input), free(from_hidden), free(hidden), free(cell), free(gates), free(predicted);
}
