#include <stdint.h>
#include <string.h>

/* Blocks of both matrices stay in the cache; four rows share every row of the second matrix that is loaded. */
enum { DEPTH = 128, WIDTH = 512 };

void bench(const float *restrict a, const float *restrict b, int64_t n, int64_t m, int64_t p, float *restrict out) {
  memset(out, 0, n * p * sizeof *out);
  for (int64_t j0 = 0; j0 < p; j0 += WIDTH) {
    int64_t j1 = j0 + WIDTH < p ? j0 + WIDTH : p;
    for (int64_t l0 = 0; l0 < m; l0 += DEPTH) {
      int64_t l1 = l0 + DEPTH < m ? l0 + DEPTH : m;
      int64_t i = 0;
      for (; i + 4 <= n; i += 4) {
        float *restrict c0 = out + i * p, *restrict c1 = c0 + p, *restrict c2 = c1 + p, *restrict c3 = c2 + p;
        for (int64_t l = l0; l < l1; l++) {
          const float *restrict row = b + l * p;
          float a0 = a[i * m + l], a1 = a[(i + 1) * m + l], a2 = a[(i + 2) * m + l], a3 = a[(i + 3) * m + l];
#pragma omp simd
          for (int64_t j = j0; j < j1; j++) {
            c0[j] += a0 * row[j];
            c1[j] += a1 * row[j];
            c2[j] += a2 * row[j];
            c3[j] += a3 * row[j];
          }
        }
      }
      for (; i < n; i++) {
        for (int64_t l = l0; l < l1; l++) {
#pragma omp simd
          for (int64_t j = j0; j < j1; j++) out[i * p + j] += a[i * m + l] * b[l * p + j];
        }
      }
    }
  }
}
