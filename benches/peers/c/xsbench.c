#include <stdint.h>
#include <string.h>

static int64_t search(const double *grid, int64_t n, double energy) {
  int64_t low = 0, high = n - 1;
  while (high - low > 1) {
    int64_t middle = low + (high - low) / 2;
    if (grid[middle] > energy) high = middle;
    else low = middle;
  }
  return low;
}

static inline int64_t point(const int32_t *indices, int64_t row, int64_t i, int64_t nuclide, int64_t g) {
  int64_t at = indices[row * i + nuclide];
  return nuclide * g + (at < g - 2 ? at : g - 2);
}

void objective(const double *restrict energies, const int32_t *restrict where, const int32_t *restrict counts,
               const int32_t *restrict nuclides, const double *restrict densities, const double *restrict unionised,
               const int32_t *restrict indices, const double *restrict grid, const double *restrict sections, int64_t l,
               int64_t m, int64_t c, int64_t u, int64_t i, int64_t g, double *restrict out) {
  double total = 0;
  for (int64_t p = 0; p < l; p++) {
    double energy = energies[p], macro[5] = {0};
    int64_t material = where[p], row = search(unionised, u, energy);
    for (int64_t j = 0; j < counts[material]; j++) {
      int64_t at = point(indices, row, i, nuclides[material * c + j], g);
      double f = (grid[at + 1] - energy) / (grid[at + 1] - grid[at]), density = densities[material * c + j];
      const double *low = sections + at * 5, *high = low + 5;
      for (int s = 0; s < 5; s++) macro[s] += density * (high[s] - f * (high[s] - low[s]));
    }
    for (int s = 0; s < 5; s++) total += macro[s];
  }
  *out = total;
}

void derivative(const double *restrict energies, const int32_t *restrict where, const int32_t *restrict counts,
                const int32_t *restrict nuclides, const double *restrict densities, const double *restrict unionised,
                const int32_t *restrict indices, const double *restrict grid, const double *restrict sections, int64_t l,
                int64_t m, int64_t c, int64_t u, int64_t i, int64_t g, double *restrict grid_out,
                double *restrict sections_out) {
  memset(grid_out, 0, i * g * sizeof *grid_out);
  memset(sections_out, 0, i * g * 5 * sizeof *sections_out);
  for (int64_t p = 0; p < l; p++) {
    double energy = energies[p];
    int64_t material = where[p], row = search(unionised, u, energy);
    for (int64_t j = 0; j < counts[material]; j++) {
      int64_t at = point(indices, row, i, nuclides[material * c + j], g);
      double below = grid[at], above = grid[at + 1], width = above - below;
      double f = (above - energy) / width, density = densities[material * c + j], by_f = 0;
      const double *low = sections + at * 5, *high = low + 5;
      for (int s = 0; s < 5; s++) {
        sections_out[at * 5 + s] += density * f;
        sections_out[at * 5 + 5 + s] += density * (1 - f);
        by_f -= density * (high[s] - low[s]);
      }
      grid_out[at] += by_f * f / width;
      grid_out[at + 1] += by_f * (1 - f) / width;
    }
  }
}
