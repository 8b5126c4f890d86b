#include <math.h>
#include <stdint.h>

typedef struct {
  double re, im;
} complex;

static inline complex mul(complex a, complex b) { return (complex){a.re * b.re - a.im * b.im, a.re * b.im + a.im * b.re}; }
static inline complex scale(double s, complex a) { return (complex){s * a.re, s * a.im}; }
static inline complex add(complex a, complex b) { return (complex){a.re + b.re, a.im + b.im}; }
static inline complex times_i(complex a) { return (complex){-a.im, a.re}; }
static inline complex over(complex a, complex b) {
  return scale(1 / (b.re * b.re + b.im * b.im), mul(a, (complex){b.re, -b.im}));
}

static double coefficients[10], squares[10];

__attribute__((constructor)) static void make_terms(void) {
  for (int n = 1; n <= 10; n++) {
    coefficients[n - 1] = sqrt(M_PI) / 6 * exp(-(n * M_PI / 12) * (n * M_PI / 12));
    squares[n - 1] = n * M_PI * (n * M_PI);
  }
}

static inline complex faddeeva(complex z) {
  complex square = mul(z, z);
  if (z.re * z.re + z.im * z.im < 36) {
    double size = exp(-12 * z.im);
    complex wave = {size * cos(12 * z.re), size * sin(12 * z.re)}, sum = {0, 0};
#pragma GCC unroll 10
    for (int n = 0; n < 10; n++) {
      double sign = n % 2 ? 1 : -1;
      complex top = {sign * wave.re - 1, sign * wave.im}, bottom = {squares[n] - 144 * square.re, -144 * square.im};
      sum = add(sum, scale(coefficients[n], over(top, bottom)));
    }
    complex first = over((complex){1 - wave.re, -wave.im}, scale(12, z));
    return times_i(add(first, scale(144 / sqrt(M_PI), mul(z, sum))));
  }
  complex one = over((complex){0.5124242247547685, 0}, (complex){square.re - 0.2752551286084110, square.im});
  complex two = over((complex){0.0517653587929878, 0}, (complex){square.re - 2.7247448713915890, square.im});
  return times_i(mul(z, add(one, two)));
}

static inline complex phase(int momentum, double x) {
  double shift = momentum == 0   ? x
                 : momentum == 1 ? x - atan(x)
                 : momentum == 2 ? x - atan(3 * x / (3 - x * x))
                                 : x - atan(x * (15 - x * x) / (15 - 6 * x * x));
  return (complex){cos(2 * shift), -sin(2 * shift)};
}

void objective(const double *restrict energies, const int32_t *restrict where, const int32_t *restrict counts,
               const int32_t *restrict nuclides, const double *restrict densities, const int32_t *restrict lengths,
               const double *restrict background, const double *restrict radii, const int32_t *restrict momenta,
               const complex *restrict positions, const complex *restrict residues, int64_t l, int64_t m, int64_t c,
               int64_t i, int64_t w, int64_t p, double *restrict out) {
  double sum = 0;
  for (int64_t e = 0; e < l; e++) {
    double energy = energies[e], root = sqrt(energy);
    int64_t material = where[e], window = energy * w;
    if (window > w - 1) window = w - 1;
    for (int64_t j = 0; j < counts[material]; j++) {
      int64_t nuclide = nuclides[material * c + j], at = nuclide * w + window;
      complex phases[4];
      for (int k = 0; k < 4; k++) phases[k] = phase(k, radii[nuclide * 4 + k] * root);
      double total = energy * background[at * 3], absorption = energy * background[at * 3 + 1];
      double fission = energy * background[at * 3 + 2];
      for (int64_t q = at * p; q < at * p + lengths[at]; q++) {
        complex broadened = faddeeva((complex){0.5 * (energy - positions[q].re), -0.5 * positions[q].im});
        total += mul(residues[q * 3], mul(broadened, phases[momenta[q]])).re;
        absorption += mul(residues[q * 3 + 1], broadened).re;
        fission += mul(residues[q * 3 + 2], broadened).re;
      }
      sum += densities[material * c + j] * (total + absorption + fission);
    }
  }
  *out = sum;
}
