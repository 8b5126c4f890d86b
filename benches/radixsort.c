#include <stdint.h>
#include <stdlib.h>
#include <string.h>

void bench(const uint32_t *restrict keys, int64_t n, uint32_t *restrict out) {
  uint32_t *other = malloc(n * sizeof *other);
  int64_t counts[4][256] = {{0}};
  for (int64_t i = 0; i < n; i++) {
    for (int pass = 0; pass < 4; pass++) counts[pass][keys[i] >> (8 * pass) & 255]++;
  }
  const uint32_t *from = keys;
  for (int pass = 0; pass < 4; pass++) {
    uint32_t *to = pass % 2 == 0 ? other : out;
    int64_t next[256], start = 0;
    for (int d = 0; d < 256; d++) next[d] = start, start += counts[pass][d];
    for (int64_t i = 0; i < n; i++) to[next[from[i] >> (8 * pass) & 255]++] = from[i];
    from = to;
  }
  free(other);
}
