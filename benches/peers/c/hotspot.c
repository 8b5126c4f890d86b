#include <stdint.h>
#include <stdlib.h>
#include <string.h>

// A cell after a step is `near` times itself, `next` times each neighbour, and what comes from air and power; at the border a cell
// is its own neighbour.
static const float next = 0.05f * 0.1f, near = 1 - 0.05f * (0.4f + 0.02f);

static void spread(const float *restrict t, int64_t n, int64_t m, float *restrict out) {
  for (int64_t i = 0; i < n; i++) {
    const float *row = t + i * m, *north = i > 0 ? row - m : row, *south = i < n - 1 ? row + m : row;
    float *to = out + i * m;
    to[0] = near * row[0] + next * (north[0] + south[0] + row[m > 1] + row[0]);
#pragma omp simd
    for (int64_t j = 1; j < m - 1; j++) to[j] = near * row[j] + next * (north[j] + south[j] + row[j + 1] + row[j - 1]);
    if (m > 1) to[m - 1] = near * row[m - 1] + next * (north[m - 1] + south[m - 1] + row[m - 1] + row[m - 2]);
  }
}

static void add_power(float *restrict t, const float *restrict power, int64_t count) {
#pragma omp simd
  for (int64_t i = 0; i < count; i++) t[i] += 0.05f * (power[i] + 80 * 0.02f);
}

static float *simulate(int64_t steps, const float *restrict t, const float *restrict power, int64_t n, int64_t m,
                       float **scratch) {
  float *from = malloc(n * m * sizeof *from), *to = malloc(n * m * sizeof *to);
  memcpy(from, t, n * m * sizeof *from);
  for (int64_t s = 0; s < steps; s++) {
    spread(from, n, m, to);
    add_power(to, power, n * m);
    float *swap = from;
    from = to;
    to = swap;
  }
  *scratch = to;
  return from;
}

void objective(int64_t steps, const float *restrict t, const float *restrict power, int64_t n, int64_t m,
               float *restrict out) {
  float *scratch, *last = simulate(steps, t, power, n, m, &scratch);
  double total = 0;
  for (int64_t i = 0; i < n * m; i++) total += (last[i] - 80) * (last[i] - 80);
  *out = 0.5 * total;
  free(last), free(scratch);
}

// The matrix of a step is symmetric, so that a step backwards is the one forwards, without power.
void derivative(int64_t steps, const float *restrict t, const float *restrict power, int64_t n, int64_t m,
                float *restrict t_out, float *restrict power_out) {
  float *scratch, *adjoint = simulate(steps, t, power, n, m, &scratch);
  for (int64_t i = 0; i < n * m; i++) adjoint[i] -= 80;
  memset(power_out, 0, n * m * sizeof *power_out);
  for (int64_t s = 0; s < steps; s++) {
#pragma omp simd
    for (int64_t i = 0; i < n * m; i++) power_out[i] += 0.05f * adjoint[i];
    spread(adjoint, n, m, scratch);
    float *swap = adjoint;
    adjoint = scratch;
    scratch = swap;
  }
  memcpy(t_out, adjoint, n * m * sizeof *t_out);
  free(adjoint), free(scratch);
}
