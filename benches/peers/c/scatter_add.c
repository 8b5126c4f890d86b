#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

static double *sums(const double *restrict nodes, const double *restrict weights, const int32_t *restrict sources,
                    const int32_t *restrict targets, int64_t n, int64_t m) {
  double *out = calloc(n, sizeof *out);
  for (int64_t i = 0; i < m; i++) out[targets[i]] += weights[i] * nodes[sources[i]];
  return out;
}

void objective(const double *restrict nodes, const double *restrict weights, const int32_t *restrict sources,
               const int32_t *restrict targets, int64_t n, int64_t m, double *restrict out) {
  double *at = sums(nodes, weights, sources, targets, n, m), total = 0;
  for (int64_t i = 0; i < n; i++) total += tanh(at[i]) * tanh(at[i]);
  *out = 0.5 * total;
  free(at);
}

void derivative(const double *restrict nodes, const double *restrict weights, const int32_t *restrict sources,
                const int32_t *restrict targets, int64_t n, int64_t m, double *restrict nodes_out,
                double *restrict weights_out) {
  double *at = sums(nodes, weights, sources, targets, n, m);
  for (int64_t i = 0; i < n; i++) {
    double y = tanh(at[i]);
    at[i] = y * (1 - y * y);
  }
  memset(nodes_out, 0, n * sizeof *nodes_out);
  for (int64_t i = 0; i < m; i++) {
    weights_out[i] = at[targets[i]] * nodes[sources[i]];
    nodes_out[sources[i]] += at[targets[i]] * weights[i];
  }
  free(at);
}
