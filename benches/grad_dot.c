#include <stdint.h>
#include <string.h>

void bench(const float *restrict xs, const float *restrict ys, int64_t n, float *restrict gx, float *restrict gy) {
  memcpy(gx, ys, n * sizeof *gx);
  memcpy(gy, xs, n * sizeof *gy);
}
