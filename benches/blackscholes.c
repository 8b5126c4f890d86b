#include <math.h>
#include <stdint.h>

static inline float normal(float d) {
  float k = 1 / (1 + 0.2316419f * fabsf(d));
  float poly = k * (0.31938153f + k * (-0.356563782f + k * (1.781477937f + k * (-1.821255978f + k * 1.330274429f))));
  float tail = 0.39894228f * expf(-0.5f * d * d) * poly;
  return d > 0 ? 1 - tail : tail;
}

void bench(float r, float v, const float *restrict ss, const float *restrict xs, const float *restrict ts, int64_t n,
           float *restrict calls, float *restrict puts) {
#pragma omp simd
  for (int64_t i = 0; i < n; i++) {
    float root = sqrtf(ts[i]);
    float d1 = (logf(ss[i] / xs[i]) + (r + 0.5f * v * v) * ts[i]) / (v * root);
    float d2 = d1 - v * root;
    float n1 = normal(d1), n2 = normal(d2), discounted = xs[i] * expf(-r * ts[i]);
    calls[i] = ss[i] * n1 - discounted * n2;
    puts[i] = discounted * (1 - n2) - ss[i] * (1 - n1);
  }
}
