// HAND of ADBench, complicated, with its Jacobian by hand.
#include "hand_model.h"

static double mean(const double *row, const int32_t *corners, const double *u) {
  return u[0] * row[corners[0]] + u[1] * row[corners[1]] + (1 - u[0] - u[1]) * row[corners[2]];
}

void objective(const int32_t *parents, const matrix4 *base_relatives, const matrix4 *inverse_base_absolutes, const double *weights,
               const double *base_positions, const int32_t *triangles, bool is_mirrored, const int32_t *correspondences,
               const double *points, const double *theta, const double *us, int64_t bones, int64_t vertices, int64_t n,
               double *restrict out) {
  hand h = {parents, base_relatives, inverse_base_absolutes, weights, base_positions, theta, is_mirrored, bones, vertices};
  double *positions = malloc(3 * vertices * sizeof *positions);
  pose(&h);
  place(&h, positions);
  for (int64_t p = 0; p < n; p++)
    for (int i = 0; i < 3; i++)
      out[3 * p + i] = points[3 * p + i] - mean(positions + i * vertices, triangles + 3 * correspondences[p], us + 2 * p);
  free(positions);
  release(&h);
}

void derivative(const int32_t *parents, const matrix4 *base_relatives, const matrix4 *inverse_base_absolutes, const double *weights,
                const double *base_positions, const int32_t *triangles, bool is_mirrored, const int32_t *correspondences,
                const double *points, const double *theta, const double *us, int64_t bones, int64_t vertices, int64_t n,
                double *restrict out) {
  hand h = {parents, base_relatives, inverse_base_absolutes, weights, base_positions, theta, is_mirrored, bones, vertices};
  double *scratch = malloc(6 * vertices * sizeof *scratch), *moves = scratch + 3 * vertices;
  pose(&h);
  place(&h, moves);
  for (int64_t p = 0; p < n; p++) {
    const int32_t *corners = triangles + 3 * correspondences[p];
    for (int i = 0; i < 3; i++) {
      const double *row = moves + i * vertices;
      out[3 * p + i] = row[corners[2]] - row[corners[0]];
      out[3 * (n + p) + i] = row[corners[2]] - row[corners[1]];
    }
  }
  for (int k = 0; k < THETAS; k++) {
    moved(&h, k, scratch, moves);
    for (int64_t p = 0; p < n; p++)
      for (int i = 0; i < 3; i++)
        out[3 * ((k + 2) * n + p) + i] = -mean(moves + i * vertices, triangles + 3 * correspondences[p], us + 2 * p);
  }
  free(scratch);
  release(&h);
}
