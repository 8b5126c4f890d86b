// GMM of ADBench, with its gradient by hand. A point's term of a component needs Q (x - mean) once more for the gradient, so
// a block of points keeps those of one component at a time.
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum { BLOCK = 32 };

static double logsumexp(const double *xs, int64_t n) {
  double most = -INFINITY, sum = 0;
  for (int64_t i = 0; i < n; i++) most = xs[i] > most ? xs[i] : most;
  for (int64_t i = 0; i < n; i++) sum += exp(xs[i] - most);
  return most + log(sum);
}

// Row j of the transposed triangle has Q[j..d][j], so that the inner loops run along what is consecutive.
static void unpack(const double *restrict icf, int64_t d, double *restrict columns, double *restrict log_determinant) {
  double sum = 0;
  const double *below = icf + d;
  for (int64_t j = 0; j < d; j++) {
    sum += icf[j];
    columns[j * d + j] = exp(icf[j]);
    for (int64_t i = j + 1; i < d; i++) columns[j * d + i] = *below++;
  }
  *log_determinant = sum;
}

static void transform(const double *restrict columns, const double *restrict centred, int64_t d, double *restrict out) {
  memset(out, 0, d * sizeof *out);
  for (int64_t j = 0; j < d; j++) {
    const double *column = columns + j * d, c = centred[j];
#pragma omp simd
    for (int64_t i = j; i < d; i++) out[i] += column[i] * c;
  }
}

static double prior(double gamma, int64_t m, int64_t k, int64_t d, double squares, double log_determinants) {
  double n = (double)(d + m + 1), log_gamma = 0.25 * (double)(d * (d - 1)) * log(M_PI);
  for (int64_t j = 0; j < d; j++) log_gamma += lgamma(0.5 * n - 0.5 * (double)j);
  double constant = n * (double)d * (log(gamma) - 0.5 * log(2)) - log_gamma;
  return 0.5 * gamma * gamma * squares - (double)m * log_determinants - (double)k * constant;
}

static double sum_of_squares(const double *columns, int64_t d) {
  double sum = 0;
  for (int64_t j = 0; j < d; j++)
    for (int64_t i = j; i < d; i++) sum += columns[j * d + i] * columns[j * d + i];
  return sum;
}

void objective(const double *restrict alphas, const double *restrict means, const double *restrict icf,
               const double *restrict x, double gamma, int64_t m, int64_t n, int64_t d, int64_t k, int64_t l,
               double *restrict out) {
  double *columns = malloc(k * d * d * sizeof *columns), *log_determinants = malloc(k * sizeof *log_determinants);
  double *terms = malloc(BLOCK * k * sizeof *terms), *centred = malloc(2 * d * sizeof *centred), *y = centred + d;
  double total = 0, squares = 0, determinants = 0;
  for (int64_t c = 0; c < k; c++) {
    unpack(icf + c * l, d, columns + c * d * d, log_determinants + c);
    squares += sum_of_squares(columns + c * d * d, d);
    determinants += log_determinants[c];
  }
  for (int64_t start = 0; start < n; start += BLOCK) {
    int64_t count = n - start < BLOCK ? n - start : BLOCK;
    for (int64_t c = 0; c < k; c++)
      for (int64_t p = 0; p < count; p++) {
        const double *point = x + (start + p) * d, *mean = means + c * d;
        for (int64_t i = 0; i < d; i++) centred[i] = point[i] - mean[i];
        transform(columns + c * d * d, centred, d, y);
        double sum = 0;
#pragma omp simd reduction(+ : sum)
        for (int64_t i = 0; i < d; i++) sum += y[i] * y[i];
        terms[p * k + c] = alphas[c] + log_determinants[c] - 0.5 * sum;
      }
    for (int64_t p = 0; p < count; p++) total += logsumexp(terms + p * k, k);
  }
  *out = total - (double)n * (0.5 * (double)d * log(2 * M_PI) + logsumexp(alphas, k)) +
         prior(gamma, m, k, d, squares, determinants);
  free(columns), free(log_determinants), free(terms), free(centred);
}

void derivative(const double *restrict alphas, const double *restrict means, const double *restrict icf,
                const double *restrict x, double gamma, int64_t m, int64_t n, int64_t d, int64_t k, int64_t l,
                double *restrict out_alphas, double *restrict out_means, double *restrict out_icf) {
  double *columns = malloc(k * d * d * sizeof *columns), *log_determinants = malloc(k * sizeof *log_determinants);
  double *terms = malloc(BLOCK * k * sizeof *terms), *centred = malloc(d * sizeof *centred);
  double *ys = malloc(BLOCK * k * d * sizeof *ys), *columns_adj = calloc(k * d * d, sizeof *columns_adj);
  double *means_adj = calloc(k * d, sizeof *means_adj);
  for (int64_t c = 0; c < k; c++) unpack(icf + c * l, d, columns + c * d * d, log_determinants + c);
  memset(out_alphas, 0, k * sizeof *out_alphas);
  for (int64_t start = 0; start < n; start += BLOCK) {
    int64_t count = n - start < BLOCK ? n - start : BLOCK;
    for (int64_t c = 0; c < k; c++)
      for (int64_t p = 0; p < count; p++) {
        const double *point = x + (start + p) * d, *mean = means + c * d;
        double *y = ys + (p * k + c) * d, sum = 0;
        for (int64_t i = 0; i < d; i++) centred[i] = point[i] - mean[i];
        transform(columns + c * d * d, centred, d, y);
#pragma omp simd reduction(+ : sum)
        for (int64_t i = 0; i < d; i++) sum += y[i] * y[i];
        terms[p * k + c] = alphas[c] + log_determinants[c] - 0.5 * sum;
      }
    for (int64_t p = 0; p < count; p++) {
      double all = logsumexp(terms + p * k, k);
      for (int64_t c = 0; c < k; c++) out_alphas[c] += terms[p * k + c] = exp(terms[p * k + c] - all);
    }
    // The weight of a component in a point scales -Q(x - mean) (x - mean)ᵀ, which is what Q gets.
    for (int64_t c = 0; c < k; c++)
      for (int64_t p = 0; p < count; p++) {
        const double *point = x + (start + p) * d, *mean = means + c * d;
        double *y = ys + (p * k + c) * d, *mean_adj = means_adj + c * d, weight = terms[p * k + c];
#pragma omp simd
        for (int64_t i = 0; i < d; i++) y[i] *= weight, mean_adj[i] += y[i];
        for (int64_t j = 0; j < d; j++) {
          double *to = columns_adj + (c * d + j) * d, z = point[j] - mean[j];
#pragma omp simd
          for (int64_t i = j; i < d; i++) to[i] -= y[i] * z;
        }
      }
  }
  double all = logsumexp(alphas, k);
  for (int64_t c = 0; c < k; c++) {
    const double *q = columns + c * d * d, *q_adj = columns_adj + c * d * d;
    double weight = out_alphas[c], *below = out_icf + c * l + d;
    for (int64_t j = 0; j < d; j++) {
      double sum = 0, diagonal = q[j * d + j];
      out_icf[c * l + j] = (q_adj[j * d + j] + gamma * gamma * diagonal) * diagonal + weight - (double)m;
      for (int64_t i = j; i < d; i++) sum += q[j * d + i] * means_adj[c * d + i];
      out_means[c * d + j] = sum;
      for (int64_t i = j + 1; i < d; i++) *below++ = q_adj[j * d + i] + gamma * gamma * q[j * d + i];
    }
    out_alphas[c] = weight - (double)n * exp(alphas[c] - all);
  }
  free(columns), free(log_determinants), free(terms), free(centred), free(ys), free(columns_adj), free(means_adj);
}
