#include <stdint.h>

void bench(const float *restrict xs, int64_t n, float *restrict out) {
  float sum = 0;
  for (int64_t i = 0; i < n; i++) out[i] = sum += xs[i];
}
