#include <stdint.h>

void bench(int64_t height, int64_t width, int32_t limit, int32_t *restrict out) {
  for (int64_t y = 0; y < height; y++) {
    for (int64_t x = 0; x < width; x++) {
      float cr = -2 + 3 * (float)x / (float)width, ci = -1.5f + 3 * (float)y / (float)height;
      float zr = 0, zi = 0;
      int32_t i = 0;
      while (i < limit && zr * zr + zi * zi <= 4) {
        float next = zr * zr - zi * zi + cr;
        zi = 2 * zr * zi + ci;
        zr = next;
        i++;
      }
      out[y * width + x] = i;
    }
  }
}
