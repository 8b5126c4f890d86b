#include <stdint.h>
#include <stdlib.h>
#include <string.h>

static float score(const float *restrict table, const float *restrict layer, const int32_t *restrict words, int64_t d,
                   int64_t s, float *restrict mean) {
  memset(mean, 0, d * sizeof *mean);
  for (int64_t i = 0; i < s; i++) {
    const float *row = table + words[i] * d;
#pragma omp simd
    for (int64_t j = 0; j < d; j++) mean[j] += row[j];
  }
  float sum = 0;
#pragma omp simd reduction(+ : sum)
  for (int64_t j = 0; j < d; j++) {
    mean[j] /= s;
    sum += layer[j] * mean[j];
  }
  return sum;
}

void objective(const float *restrict table, const float *restrict layer, const int32_t *restrict words,
               const float *restrict targets, int64_t v, int64_t d, int64_t b, int64_t s, float *restrict out) {
  float *mean = malloc(d * sizeof *mean);
  double total = 0;
  for (int64_t i = 0; i < b; i++) {
    float error = score(table, layer, words + i * s, d, s, mean) - targets[i];
    total += error * error;
  }
  *out = total / b;
  free(mean);
}

void derivative(const float *restrict table, const float *restrict layer, const int32_t *restrict words,
                const float *restrict targets, int64_t v, int64_t d, int64_t b, int64_t s, float *restrict table_out,
                float *restrict layer_out) {
  float *mean = malloc(d * sizeof *mean);
  memset(table_out, 0, v * d * sizeof *table_out);
  memset(layer_out, 0, d * sizeof *layer_out);
  for (int64_t i = 0; i < b; i++) {
    float by_score = 2 * (score(table, layer, words + i * s, d, s, mean) - targets[i]) / b;
    for (int64_t j = 0; j < d; j++) layer_out[j] += by_score * mean[j];
    for (int64_t k = 0; k < s; k++) {
      float *to = table_out + words[i * s + k] * d;
#pragma omp simd
      for (int64_t j = 0; j < d; j++) to[j] += by_score / s * layer[j];
    }
  }
  free(mean);
}
