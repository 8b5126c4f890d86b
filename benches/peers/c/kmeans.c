#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

static inline float distance(const float *restrict a, const float *restrict b, int64_t d) {
  float sum = 0;
#pragma omp simd reduction(+ : sum)
  for (int64_t j = 0; j < d; j++) sum += (a[j] - b[j]) * (a[j] - b[j]);
  return sum;
}

// With many centres, loops over all of them at once: `by_number` has the centres by their numbers, and `sums` room for all distances.
typedef struct {
  const float *centres;
  float *by_number, *sums;
  int64_t k, d;
} search;

static search prepare(const float *centres, int64_t k, int64_t d) {
  search s = {centres, NULL, NULL, k, d};
  if (k < 64) return s;
  s.by_number = malloc(k * d * sizeof *s.by_number);
  s.sums = malloc(k * sizeof *s.sums);
  for (int64_t c = 0; c < k; c++) {
    for (int64_t j = 0; j < d; j++) s.by_number[j * k + c] = centres[c * d + j];
  }
  return s;
}

static int64_t nearest(const search *s, const float *restrict point, float *least) {
  int64_t best = 0, k = s->k, d = s->d;
  float *restrict sums = s->sums;
  *least = INFINITY;
  if (!sums) {
    for (int64_t c = 0; c < k; c++) {
      float here = distance(point, s->centres + c * d, d);
      if (here < *least) *least = here, best = c;
    }
    return best;
  }
  memset(sums, 0, k * sizeof *sums);
  for (int64_t j = 0; j < d; j++) {
    const float *restrict numbers = s->by_number + j * k;
    float x = point[j];
#pragma omp simd
    for (int64_t c = 0; c < k; c++) sums[c] += (x - numbers[c]) * (x - numbers[c]);
  }
  float smallest = INFINITY;
#pragma omp simd reduction(min : smallest)
  for (int64_t c = 0; c < k; c++) smallest = sums[c] < smallest ? sums[c] : smallest;
  while (sums[best] != smallest) best++;
  *least = smallest;
  return best;
}

void objective(const float *restrict points, const float *restrict centres, int64_t n, int64_t d, int64_t k,
               float *restrict out) {
  search s = prepare(centres, k, d);
  double total = 0;
  for (int64_t i = 0; i < n; i++) {
    float least;
    nearest(&s, points + i * d, &least);
    total += least;
  }
  *out = total;
  free(s.by_number), free(s.sums);
}

// The gradient is twice the sum of c - p over the points of a centre, the second derivative twice their number.
void derivative(const float *restrict points, const float *restrict centres, int64_t n, int64_t d, int64_t k,
                float *restrict out) {
  search s = prepare(centres, k, d);
  float *counts = calloc(k, sizeof *counts);
  memset(out, 0, k * d * sizeof *out);
  for (int64_t i = 0; i < n; i++) {
    float least;
    const float *point = points + i * d;
    int64_t best = nearest(&s, point, &least);
    float *to = out + best * d;
    counts[best]++;
#pragma omp simd
    for (int64_t j = 0; j < d; j++) to[j] += point[j];
  }
  for (int64_t c = 0; c < k; c++) {
    for (int64_t j = 0; j < d; j++) out[c * d + j] = counts[c] == 0 ? 0 : centres[c * d + j] - out[c * d + j] / counts[c];
  }
  free(counts), free(s.by_number), free(s.sums);
}
