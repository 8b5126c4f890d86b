#include <stdint.h>
#include <string.h>

void bench(int64_t bins, const int32_t *restrict is, const float *restrict vs, int64_t n, float *restrict out) {
  memset(out, 0, bins * sizeof *out);
  for (int64_t i = 0; i < n; i++) {
    int64_t bin = is[i];
    if (bin >= 0 && bin < bins) out[bin] += vs[i];
  }
}
