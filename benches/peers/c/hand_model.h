// The hand of HAND of ADBench by hand: where vertices are, and how they move with each of the 26 numbers. A joint of a finger
// moves the bones behind it alone, of which there are three at most.
#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum { THETAS = 26 };
typedef double matrix4[4][4];

typedef struct {
  const int32_t *parents;
  const matrix4 *base_relatives, *inverse_base_absolutes;
  const double *weights, *base_positions, *theta;
  bool is_mirrored;
  int64_t bones, vertices;
  matrix4 *relatives, *absolutes;
  double *positions;  // Before the hand as a whole is turned and moved, but mirrored.
  double rotation[3][3];
} hand;

static void multiply(const matrix4 a, const matrix4 b, matrix4 out) {
  matrix4 product = {{0}};
  for (int i = 0; i < 4; i++)
    for (int k = 0; k < 4; k++)
      for (int j = 0; j < 4; j++) product[i][j] += a[i][k] * b[k][j];
  memcpy(out, product, sizeof product);
}

// The angles of a joint, and its derivative by one of them: 0 for x, 1 for z, -1 for the joint itself.
static void joint(const double *theta, int64_t bone, int by, matrix4 out) {
  bool turns = bone >= 1 && bone <= 20 && bone % 4 != 1, has_two = turns && bone % 4 == 2;
  double x = !turns ? 0 : has_two ? theta[bone + 4] : theta[bone + 5], z = has_two ? theta[bone + 5] : 0;
  double cx = cos(x), sx = sin(x), cz = cos(z), sz = sin(z);
  matrix4 plain = {{cz, -cx * sz, sx * sz, 0}, {sz, cx * cz, -sx * cz, 0}, {0, sx, cx, 0}, {0, 0, 0, 1}};
  matrix4 by_x = {{0, sx * sz, cx * sz, 0}, {0, -sx * cz, -cx * cz, 0}, {0, cx, -sx, 0}, {0}};
  matrix4 by_z = {{-sz, -cx * cz, sx * cz, 0}, {cz, -cx * sz, sx * sz, 0}, {0}, {0}};
  memcpy(out, by < 0 ? plain : by == 0 ? by_x : by_z, sizeof plain);
}

// The rotation of the whole hand, or its derivative by one of the three numbers.
static void whole_rotation(const double *axis, int by, double out[3][3]) {
  double angle = sqrt(axis[0] * axis[0] + axis[1] * axis[1] + axis[2] * axis[2]), n[3], tangent[3];
  if (angle < 0.0001) {
    for (int i = 0; i < 3; i++)
      for (int j = 0; j < 3; j++) out[i][j] = by < 0 && i == j;
    return;
  }
  double s = sin(angle), c = cos(angle);
  for (int i = 0; i < 3; i++) n[i] = axis[i] / angle;
  for (int i = 0; i < 3; i++) tangent[i] = by < 0 ? 0 : ((i == by) - n[i] * n[by]) / angle;
  double skew[3][3] = {{0, -n[2], n[1]}, {n[2], 0, -n[0]}, {-n[1], n[0], 0}};
  double turn[3][3] = {{0, -tangent[2], tangent[1]}, {tangent[2], 0, -tangent[0]}, {-tangent[1], tangent[0], 0}};
  for (int i = 0; i < 3; i++)
    for (int j = 0; j < 3; j++)
      out[i][j] = by < 0 ? c * (i == j) + s * skew[i][j] + (1 - c) * n[i] * n[j]
                         : n[by] * (c * skew[i][j] - s * (i == j) + s * n[i] * n[j]) + s * turn[i][j] +
                               (1 - c) * (tangent[i] * n[j] + n[i] * tangent[j]);
}

// Adds what a bone with this transform does to all vertices.
static void add_bone(const hand *h, int64_t bone, const matrix4 transform, double *restrict positions) {
  int64_t m = h->vertices;
  const double *restrict weights = h->weights + bone * m, *restrict base = h->base_positions;
  for (int i = 0; i < 3; i++) {
    double a = transform[i][0], b = transform[i][1], c = transform[i][2], d = transform[i][3];
    if (h->is_mirrored && i == 0) a = -a, b = -b, c = -c, d = -d;
    double *restrict to = positions + i * m;
#pragma omp simd
    for (int64_t v = 0; v < m; v++) to[v] += weights[v] * (a * base[v] + b * base[m + v] + c * base[2 * m + v] + d * base[3 * m + v]);
  }
}

static void pose(hand *h) {
  h->relatives = malloc(h->bones * sizeof *h->relatives), h->absolutes = malloc(h->bones * sizeof *h->absolutes);
  h->positions = calloc(3 * h->vertices, sizeof *h->positions);
  for (int64_t bone = 0; bone < h->bones; bone++) {
    matrix4 turned, transform;
    joint(h->theta, bone, -1, turned);
    multiply(h->base_relatives[bone], turned, h->relatives[bone]);
    if (h->parents[bone] == -1) memcpy(h->absolutes[bone], h->relatives[bone], sizeof turned);
    else multiply(h->absolutes[h->parents[bone]], h->relatives[bone], h->absolutes[bone]);
    multiply(h->absolutes[bone], h->inverse_base_absolutes[bone], transform);
    add_bone(h, bone, transform, h->positions);
  }
  whole_rotation(h->theta, -1, h->rotation);
}

static void release(hand *h) { free(h->relatives), free(h->absolutes), free(h->positions); }

static double turned(const double rotation[3][3], const double *positions, int64_t m, int i, int64_t v) {
  return rotation[i][0] * positions[v] + rotation[i][1] * positions[m + v] + rotation[i][2] * positions[2 * m + v];
}

static void place(const hand *h, double *restrict out) {
  for (int i = 0; i < 3; i++)
    for (int64_t v = 0; v < h->vertices; v++)
      out[i * h->vertices + v] = turned(h->rotation, h->positions, h->vertices, i, v) + h->theta[3 + i];
}

// How all vertices move with one number.
static void moved(const hand *h, int which, double *restrict scratch, double *restrict out) {
  int64_t m = h->vertices;
  if (which < 6) {
    double rotation[3][3] = {{0}};
    if (which < 3) whole_rotation(h->theta, which, rotation);
    for (int i = 0; i < 3; i++)
      for (int64_t v = 0; v < m; v++) out[i * m + v] = which < 3 ? turned(rotation, h->positions, m, i, v) : which - 3 == i;
    return;
  }
  // Fingers have four numbers each: two of their second bone, and one of the third and of the fourth.
  int finger = (which - 6) / 4, number = (which - 6) % 4, first = 4 * finger + 2 + (number == 0 ? 0 : number - 1);
  int last = 4 * finger + 4;
  matrix4 joint_tan, tangent, transform;
  memset(scratch, 0, 3 * m * sizeof *scratch);
  joint(h->theta, first, number == 1 ? 1 : 0, joint_tan);
  multiply(h->base_relatives[first], joint_tan, tangent);
  multiply(h->absolutes[h->parents[first]], tangent, tangent);
  for (int bone = first; bone <= last && bone < h->bones; bone++) {
    if (bone > first) multiply(tangent, h->relatives[bone], tangent);
    multiply(tangent, h->inverse_base_absolutes[bone], transform);
    add_bone(h, bone, transform, scratch);
  }
  for (int i = 0; i < 3; i++)
    for (int64_t v = 0; v < m; v++) out[i * m + v] = turned(h->rotation, scratch, m, i, v);
}
