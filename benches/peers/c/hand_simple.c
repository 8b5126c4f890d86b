// HAND of ADBench, simple, with its Jacobian by hand.
#include "hand_model.h"

void objective(const int32_t *parents, const matrix4 *base_relatives, const matrix4 *inverse_base_absolutes, const double *weights,
               const double *base_positions, bool is_mirrored, const int32_t *correspondences, const double *points,
               const double *theta, int64_t bones, int64_t vertices, int64_t n, double *restrict out) {
  hand h = {parents, base_relatives, inverse_base_absolutes, weights, base_positions, theta, is_mirrored, bones, vertices};
  double *positions = malloc(3 * vertices * sizeof *positions);
  pose(&h);
  place(&h, positions);
  for (int64_t p = 0; p < n; p++)
    for (int i = 0; i < 3; i++) out[3 * p + i] = points[3 * p + i] - positions[i * vertices + correspondences[p]];
  free(positions);
  release(&h);
}

void derivative(const int32_t *parents, const matrix4 *base_relatives, const matrix4 *inverse_base_absolutes, const double *weights,
                const double *base_positions, bool is_mirrored, const int32_t *correspondences, const double *points,
                const double *theta, int64_t bones, int64_t vertices, int64_t n, double *restrict out) {
  hand h = {parents, base_relatives, inverse_base_absolutes, weights, base_positions, theta, is_mirrored, bones, vertices};
  double *scratch = malloc(6 * vertices * sizeof *scratch), *moves = scratch + 3 * vertices;
  pose(&h);
  for (int k = 0; k < THETAS; k++) {
    moved(&h, k, scratch, moves);
    for (int64_t p = 0; p < n; p++)
      for (int i = 0; i < 3; i++) out[3 * (k * n + p) + i] = -moves[i * vertices + correspondences[p]];
  }
  free(scratch);
  release(&h);
}
