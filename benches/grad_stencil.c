#include <stdint.h>
#include <stdlib.h>
#include <string.h>

static void step(const float *restrict a, int64_t n, int64_t m, int64_t k, float *restrict out) {
  for (int64_t x = 0; x < n; x++) {
    for (int64_t y = 0; y < m; y++) {
      const float *row = a + (x * m + y) * k;
      float *to = out + (x * m + y) * k;
      if (x == 0 || x == n - 1 || y == 0 || y == m - 1 || k < 3) {
        memcpy(to, row, k * sizeof *to);
        continue;
      }
      const float *left = row - m * k, *right = row + m * k, *up = row - k, *down = row + k;
      to[0] = row[0];
#pragma omp simd
      for (int64_t z = 1; z < k - 1; z++) {
        to[z] = 0.4f * row[z] + 0.1f * (left[z] + right[z] + up[z] + down[z] + row[z - 1] + row[z + 1]);
      }
      to[k - 1] = row[k - 1];
    }
  }
}

/* What a cell gives to itself and gets from neighbours that are inside. `inner` says whether a row is inside; a row of
   zeros stands for neighbours that are not. */
static void back(const float *restrict a, int64_t n, int64_t m, int64_t k, const float *restrict zeros,
                 float *restrict out) {
  for (int64_t x = 0; x < n; x++) {
    for (int64_t y = 0; y < m; y++) {
      const float *row = a + (x * m + y) * k;
      float *to = out + (x * m + y) * k;
      int in_x = x > 0 && x < n - 1, in_y = y > 0 && y < m - 1, inner = in_x && in_y;
      const float *left = in_y && x - 1 > 0 ? row - m * k : zeros;
      const float *right = in_y && x + 1 < n - 1 ? row + m * k : zeros;
      const float *up = in_x && y - 1 > 0 ? row - k : zeros;
      const float *down = in_x && y + 1 < m - 1 ? row + k : zeros;
      const float *self = inner ? row : zeros;
      float own = inner ? 0.4f : 1;
      to[0] = row[0] + (k > 2 ? 0.1f * self[1] : 0);
      if (k > 2) {
        to[1] = own * row[1] + 0.1f * (left[1] + right[1] + up[1] + down[1] + (k > 3 ? self[2] : 0));
      }
#pragma omp simd
      for (int64_t z = 2; z < k - 2; z++) {
        to[z] = own * row[z] + 0.1f * (left[z] + right[z] + up[z] + down[z] + self[z - 1] + self[z + 1]);
      }
      if (k > 3) {
        to[k - 2] = own * row[k - 2] + 0.1f * (left[k - 2] + right[k - 2] + up[k - 2] + down[k - 2] + self[k - 3]);
      }
      if (k > 1) to[k - 1] = row[k - 1] + (k > 2 ? 0.1f * self[k - 2] : 0);
    }
  }
}

void bench(const float *restrict a, int64_t n, int64_t m, int64_t k, float *restrict out) {
  float *stepped = malloc(n * m * k * sizeof *stepped), *zeros = calloc(k, sizeof *zeros);
  step(a, n, m, k, stepped);
  back(stepped, n, m, k, zeros, out);
  free(stepped);
  free(zeros);
}
