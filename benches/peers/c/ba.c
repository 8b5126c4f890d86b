// BA of ADBench, with its Jacobian by hand.
#include <math.h>
#include <stdint.h>

// The derivative of the rotated point by the point, and by the rotation, as matrices of three rows.
typedef struct {
  double seen[3], by_point[3][3], by_rotation[3][3];
} turned;

static void cross(const double *a, const double *b, double *out) {
  out[0] = a[1] * b[2] - a[2] * b[1], out[1] = a[2] * b[0] - a[0] * b[2], out[2] = a[0] * b[1] - a[1] * b[0];
}

static double dot(const double *a, const double *b) { return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]; }

static void rotate(const double *restrict rotation, const double *restrict point, double *restrict seen) {
  double squared = dot(rotation, rotation), axis[3], across[3];
  if (squared == 0) {
    cross(rotation, point, across);
    for (int i = 0; i < 3; i++) seen[i] = point[i] + across[i];
    return;
  }
  double angle = sqrt(squared), inverse = 1 / angle, cosine = cos(angle), sine = sin(angle);
  for (int i = 0; i < 3; i++) axis[i] = rotation[i] * inverse;
  cross(axis, point, across);
  double along = dot(axis, point) * (1 - cosine);
  for (int i = 0; i < 3; i++) seen[i] = cosine * point[i] + sine * across[i] + along * axis[i];
}

static void rotate_with_derivative(const double *restrict rotation, const double *restrict point, turned *restrict out) {
  double squared = dot(rotation, rotation);
  if (squared == 0) {
    double skew[3][3] = {{0, point[2], -point[1]}, {-point[2], 0, point[0]}, {point[1], -point[0], 0}};
    for (int i = 0; i < 3; i++) {
      out->seen[i] = point[i];
      for (int j = 0; j < 3; j++) out->by_point[i][j] = i == j, out->by_rotation[i][j] = skew[i][j];
    }
    return;
  }
  double angle = sqrt(squared), inverse = 1 / angle, c = cos(angle), s = sin(angle), a[3], across[3];
  for (int i = 0; i < 3; i++) a[i] = rotation[i] * inverse;
  cross(a, point, across);
  double along = dot(a, point), skew[3][3] = {{0, -a[2], a[1]}, {a[2], 0, -a[0]}, {-a[1], a[0], 0}};
  for (int i = 0; i < 3; i++) {
    out->seen[i] = c * point[i] + s * across[i] + along * (1 - c) * a[i];
    for (int j = 0; j < 3; j++) out->by_point[i][j] = c * (i == j) + s * skew[i][j] + (1 - c) * a[i] * a[j];
  }
  for (int k = 0; k < 3; k++) {
    double axis_tan[3], across_tan[3];
    for (int i = 0; i < 3; i++) axis_tan[i] = ((i == k) - a[i] * a[k]) * inverse;
    cross(axis_tan, point, across_tan);
    double along_tan = dot(axis_tan, point);
    for (int i = 0; i < 3; i++)
      out->by_rotation[i][k] = a[k] * (c * across[i] - s * point[i] + s * along * a[i]) + s * across_tan[i] +
                               (1 - c) * (along_tan * a[i] + along * axis_tan[i]);
  }
}

void objective(const double *restrict cameras, const double *restrict points, const double *restrict weights,
               const int32_t *restrict observations, const double *restrict features, int64_t n, int64_t m, int64_t p,
               double *restrict errors, double *restrict weight_errors) {
  for (int64_t i = 0; i < p; i++) {
    const double *camera = cameras + 11 * observations[2 * i], *point = points + 3 * observations[2 * i + 1];
    double offset[3], seen[3];
    for (int j = 0; j < 3; j++) offset[j] = point[j] - camera[3 + j];
    rotate(camera, offset, seen);
    double inverse = 1 / seen[2], x = seen[0] * inverse, y = seen[1] * inverse, squared = x * x + y * y;
    double scale = camera[6] * (1 + camera[9] * squared + camera[10] * squared * squared);
    errors[2 * i] = weights[i] * (camera[7] + scale * x - features[2 * i]);
    errors[2 * i + 1] = weights[i] * (camera[8] + scale * y - features[2 * i + 1]);
    weight_errors[i] = 1 - weights[i] * weights[i];
  }
}

static void block(const double *restrict camera, const double *restrict point, double weight, const double *restrict feature,
                  double *restrict out) {
  double offset[3];
  turned t;
  for (int j = 0; j < 3; j++) offset[j] = point[j] - camera[3 + j];
  rotate_with_derivative(camera, offset, &t);
  double inverse = 1 / t.seen[2], flat[2] = {t.seen[0] * inverse, t.seen[1] * inverse};
  double squared = flat[0] * flat[0] + flat[1] * flat[1], focal = camera[6];
  double distortion = 1 + camera[9] * squared + camera[10] * squared * squared;
  double slope = 2 * focal * (camera[9] + 2 * camera[10] * squared);
  for (int r = 0; r < 2; r++) {
    double *row = out + 15 * r, own = flat[r];
    double by_x = own * slope * flat[0] + (r == 0) * focal * distortion;
    double by_y = own * slope * flat[1] + (r == 1) * focal * distortion;
    double by_seen[3] = {by_x * inverse, by_y * inverse, -(by_x * flat[0] + by_y * flat[1]) * inverse};
    for (int k = 0; k < 3; k++) {
      double by_rotation = 0, by_point = 0;
      for (int i = 0; i < 3; i++) by_rotation += by_seen[i] * t.by_rotation[i][k], by_point += by_seen[i] * t.by_point[i][k];
      row[k] = weight * by_rotation;
      row[3 + k] = -weight * by_point;
      row[11 + k] = weight * by_point;
    }
    row[6] = weight * distortion * own;
    row[7] = weight * (r == 0);
    row[8] = weight * (r == 1);
    row[9] = weight * focal * squared * own;
    row[10] = weight * focal * squared * squared * own;
    row[14] = camera[7 + r] + focal * distortion * own - feature[r];
  }
}

void derivative(const double *restrict cameras, const double *restrict points, const double *restrict weights,
                const int32_t *restrict observations, const double *restrict features, int64_t n, int64_t m, int64_t p,
                int32_t *restrict starts, int32_t *restrict columns, double *restrict values) {
  for (int64_t i = 0; i < p; i++) {
    int32_t c = observations[2 * i], q = observations[2 * i + 1], own = (int32_t)(11 * n + 3 * m + i);
    block(cameras + 11 * c, points + 3 * q, weights[i], features + 2 * i, values + 30 * i);
    for (int r = 0; r < 2; r++) {
      int32_t *row = columns + 30 * i + 15 * r;
      for (int j = 0; j < 11; j++) row[j] = 11 * c + j;
      for (int j = 0; j < 3; j++) row[11 + j] = (int32_t)(11 * n) + 3 * q + j;
      row[14] = own;
    }
    starts[2 * i] = (int32_t)(30 * i), starts[2 * i + 1] = (int32_t)(30 * i + 15);
    columns[30 * p + i] = own;
    values[30 * p + i] = -2 * weights[i];
  }
  for (int64_t i = 0; i <= p; i++) starts[2 * p + i] = (int32_t)(30 * p + i);
}
