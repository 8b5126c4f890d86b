#include <stdint.h>
#include <stdlib.h>
#include <string.h>

static const int dx[19] = {0, 0, 0, 1, -1, 0, 0, 1, -1, 1, -1, 0, 0, 0, 0, 1, 1, -1, -1};
static const int dy[19] = {0, 1, -1, 0, 0, 0, 0, 1, 1, -1, -1, 1, 1, -1, -1, 0, 0, 0, 0};
static const int dz[19] = {0, 0, 0, 0, 0, 1, -1, 0, 0, 0, 0, 1, -1, 1, -1, 1, -1, 1, -1};
static const int opposite[19] = {0, 2, 1, 4, 3, 6, 5, 10, 9, 8, 7, 14, 13, 12, 11, 18, 17, 16, 15};

#define ALL _Pragma("GCC unroll 19") for (int q = 0; q < 19; q++)

static inline void cell(const float *const *from, float *const *to, const int8_t *flags, int64_t x) {
  const float omega = 1.95f;
  float f[19], rho = 0, ux = 0, uy = 0, uz = 0;
  int flag = flags[x];
  ALL f[q] = from[q][x];
  ALL {
    rho += f[q];
    ux += dx[q] * f[q];
    uy += dy[q] * f[q];
    uz += dz[q] * f[q];
  }
  ux = flag == 2 ? 0.005f : ux / rho;
  uy = flag == 2 ? 0.002f : uy / rho;
  uz = flag == 2 ? 0.0f : uz / rho;
  float rest = 1 - 1.5f * (ux * ux + uy * uy + uz * uz);
  ALL {
    float along = dx[q] * ux + dy[q] * uy + dz[q] * uz, weight = q == 0 ? 1 / 3.0f : q < 7 ? 1 / 18.0f : 1 / 36.0f;
    float relaxed = (1 - omega) * f[q] + omega * weight * rho * (rest + along * (3 + 4.5f * along));
    to[q][x] = flag == 1 ? f[opposite[q]] : relaxed;
  }
}

// One row of cells; what streams from other rows is read there, unless the row is at the border.
static void row(const float *restrict grid, float *restrict out, const int8_t *restrict flags, int64_t cells, int64_t at,
                int64_t m, int64_t n, int border) {
  const float *own[19], *from[19];
  float *to[19];
  ALL {
    own[q] = grid + q * cells + at;
    from[q] = border ? own[q] : own[q] - (dz[q] * m + dy[q]) * n - dx[q];
    to[q] = out + q * cells + at;
  }
  cell(own, to, flags + at, 0);
  if (n > 1) cell(own, to, flags + at, n - 1);
#pragma omp simd
  for (int64_t x = 1; x < n - 1; x++) cell(from, to, flags + at, x);
}

void objective(int64_t steps, const int8_t *restrict flags, const float *restrict start, int64_t l, int64_t m, int64_t n,
               float *restrict result) {
  int64_t cells = l * m * n;
  float *grid = malloc(19 * cells * sizeof *grid), *other = malloc(19 * cells * sizeof *other);
  memcpy(grid, start, 19 * cells * sizeof *grid);
  for (int64_t i = 0; i < steps; i++) {
    for (int64_t z = 0; z < l; z++) {
      for (int64_t y = 0; y < m; y++) {
        row(grid, other, flags, cells, (z * m + y) * n, m, n, z == 0 || z == l - 1 || y == 0 || y == m - 1);
      }
    }
    float *swap = grid;
    grid = other;
    other = swap;
  }
  double total = 0;
  for (int64_t i = 0; i < 19 * cells; i++) total += grid[i] * grid[i];
  *result = 0.5 * total;
  free(grid), free(other);
}
