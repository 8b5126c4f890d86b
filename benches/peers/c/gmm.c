// GMM of ADBench, with its gradient by hand. Points come in blocks, and the inner loops run over the points of a block, so that
// vector units are busy whatever the dimension is; half of the work is saved because Q is a triangle.
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum { BLOCK = 64 };
typedef double lane[BLOCK];

typedef struct {
  int64_t n, d, k, l, m;
  double gamma;
  const double *alphas, *means, *icf, *x;
  double *qs, *log_determinants;  // Triangles by rows, one after the other.
  lane *points, *centred, *terms;
} mixture;

static double logsumexp(const double *xs, int64_t n) {
  double most = -INFINITY, sum = 0;
  for (int64_t i = 0; i < n; i++) most = xs[i] > most ? xs[i] : most;
  for (int64_t i = 0; i < n; i++) sum += exp(xs[i] - most);
  return most + log(sum);
}

static void unpack(mixture *g) {
  int64_t d = g->d;
  for (int64_t c = 0; c < g->k; c++) {
    const double *icf = g->icf + c * g->l, *below = icf + d;
    double *q = g->qs + c * g->l, sum = 0;
    for (int64_t j = 0; j < d; j++) {
      sum += icf[j];
      q[j * (j + 1) / 2 + j] = exp(icf[j]);
      for (int64_t i = j + 1; i < d; i++) q[i * (i + 1) / 2 + j] = *below++;
    }
    g->log_determinants[c] = sum;
  }
}

static void allocate(mixture *g) {
  g->qs = malloc(g->k * g->l * sizeof *g->qs), g->log_determinants = malloc(g->k * sizeof *g->log_determinants);
  g->points = aligned_alloc(64, g->d * sizeof *g->points), g->centred = aligned_alloc(64, g->d * sizeof *g->centred);
  g->terms = aligned_alloc(64, g->k * sizeof *g->terms);
  unpack(g);
}

static void release(mixture *g) { free(g->qs), free(g->log_determinants), free(g->points), free(g->centred), free(g->terms); }

// The points of a block by coordinates; those beyond the last are zero.
static void load(mixture *g, int64_t start, int64_t count) {
  for (int64_t j = 0; j < g->d; j++)
    for (int64_t p = 0; p < BLOCK; p++) g->points[j][p] = p < count ? g->x[(start + p) * g->d + j] : 0;
}

static void centre(mixture *g, int64_t c) {
  for (int64_t j = 0; j < g->d; j++)
    for (int64_t p = 0; p < BLOCK; p++) g->centred[j][p] = g->points[j][p] - g->means[c * g->d + j];
}

// The terms of component `c` for a block; with `ys`, Q (x - mean) stays there.
static void component(mixture *g, int64_t c, lane *restrict ys) {
  const double *q = g->qs + c * g->l;
  lane squares = {0};
  centre(g, c);
  for (int64_t i = 0; i < g->d; i++) {
    lane sum = {0};
    for (int64_t j = 0; j <= i; j++) {
      double entry = *q++;
#pragma omp simd
      for (int p = 0; p < BLOCK; p++) sum[p] += entry * g->centred[j][p];
    }
#pragma omp simd
    for (int p = 0; p < BLOCK; p++) squares[p] += sum[p] * sum[p];
    if (ys) memcpy(ys[i], sum, sizeof sum);
  }
  for (int p = 0; p < BLOCK; p++) g->terms[c][p] = g->alphas[c] + g->log_determinants[c] - 0.5 * squares[p];
}

// The logarithms of the sums over all components.
static void combine(mixture *g, double *restrict out) {
  lane most, sum = {0};
  memcpy(most, g->terms[0], sizeof most);
  for (int64_t c = 1; c < g->k; c++)
    for (int p = 0; p < BLOCK; p++) most[p] = g->terms[c][p] > most[p] ? g->terms[c][p] : most[p];
  for (int64_t c = 0; c < g->k; c++)
#pragma omp simd
    for (int p = 0; p < BLOCK; p++) sum[p] += exp(g->terms[c][p] - most[p]);
  for (int p = 0; p < BLOCK; p++) out[p] = most[p] + log(sum[p]);
}

static double prior(const mixture *g) {
  double n = (double)(g->d + g->m + 1), squares = 0, determinants = 0;
  double log_gamma = 0.25 * (double)(g->d * (g->d - 1)) * log(M_PI);
  for (int64_t j = 0; j < g->d; j++) log_gamma += lgamma(0.5 * n - 0.5 * (double)j);
#pragma omp simd reduction(+ : squares)
  for (int64_t i = 0; i < g->k * g->l; i++) squares += g->qs[i] * g->qs[i];
  for (int64_t c = 0; c < g->k; c++) determinants += g->log_determinants[c];
  double constant = n * (double)g->d * (log(g->gamma) - 0.5 * log(2)) - log_gamma;
  return 0.5 * g->gamma * g->gamma * squares - (double)g->m * determinants - (double)g->k * constant;
}

void objective(const double *alphas, const double *means, const double *icf, const double *x, double gamma, int64_t m, int64_t n,
               int64_t d, int64_t k, int64_t l, double *restrict out) {
  mixture g = {n, d, k, l, m, gamma, alphas, means, icf, x};
  double total = 0;
  allocate(&g);
  for (int64_t start = 0; start < n; start += BLOCK) {
    int64_t count = n - start < BLOCK ? n - start : BLOCK;
    lane logs;
    load(&g, start, count);
    for (int64_t c = 0; c < k; c++) component(&g, c, NULL);
    combine(&g, logs);
    for (int64_t p = 0; p < count; p++) total += logs[p];
  }
  *out = total - (double)n * (0.5 * (double)d * log(2 * M_PI) + logsumexp(alphas, k)) + prior(&g);
  release(&g);
}

static double dot(const double *restrict a, const double *restrict b) {
  double sum = 0;
#pragma omp simd reduction(+ : sum)
  for (int p = 0; p < BLOCK; p++) sum += a[p] * b[p];
  return sum;
}

// The weight of a component in a point scales -Q(x - mean) (x - mean)ᵀ, which is what Q gets.
static void component_back(mixture *g, int64_t c, lane *restrict ys, double *restrict q_adj, double *restrict mean_adj) {
  centre(g, c);
  for (int64_t i = 0; i < g->d; i++) {
    double sum = 0;
#pragma omp simd reduction(+ : sum)
    for (int p = 0; p < BLOCK; p++) sum += ys[i][p] *= g->terms[c][p];
    mean_adj[i] += sum;
    for (int64_t j = 0; j <= i; j++) *q_adj++ -= dot(ys[i], g->centred[j]);
  }
}

void derivative(const double *alphas, const double *means, const double *icf, const double *x, double gamma, int64_t m, int64_t n,
                int64_t d, int64_t k, int64_t l, double *restrict out_alphas, double *restrict out_means, double *restrict out_icf) {
  mixture g = {n, d, k, l, m, gamma, alphas, means, icf, x};
  double *qs_adj = calloc(k * l, sizeof *qs_adj), *means_adj = calloc(k * d, sizeof *means_adj), all = logsumexp(alphas, k);
  lane *ys = aligned_alloc(64, k * d * sizeof *ys);
  allocate(&g);
  memset(out_alphas, 0, k * sizeof *out_alphas);
  for (int64_t start = 0; start < n; start += BLOCK) {
    int64_t count = n - start < BLOCK ? n - start : BLOCK;
    lane logs;
    load(&g, start, count);
    for (int64_t c = 0; c < k; c++) component(&g, c, ys + c * d);
    combine(&g, logs);
    for (int64_t c = 0; c < k; c++) {
      double sum = 0;
#pragma omp simd reduction(+ : sum)
      for (int p = 0; p < BLOCK; p++) sum += g.terms[c][p] = p < count ? exp(g.terms[c][p] - logs[p]) : 0;
      out_alphas[c] += sum;
      component_back(&g, c, ys + c * d, qs_adj + c * l, means_adj + c * d);
    }
  }
  for (int64_t c = 0; c < k; c++) {
    const double *q = g.qs + c * l, *q_adj = qs_adj + c * l;
    double weight = out_alphas[c], *below = out_icf + c * l + d;
    for (int64_t j = 0; j < d; j++) {
      double sum = 0, diagonal = q[j * (j + 1) / 2 + j];
      out_icf[c * l + j] = (q_adj[j * (j + 1) / 2 + j] + gamma * gamma * diagonal) * diagonal + weight - (double)m;
      for (int64_t i = j; i < d; i++) sum += q[i * (i + 1) / 2 + j] * means_adj[c * d + i];
      out_means[c * d + j] = sum;
      for (int64_t i = j + 1; i < d; i++) *below++ = q_adj[i * (i + 1) / 2 + j] + gamma * gamma * q[i * (i + 1) / 2 + j];
    }
    out_alphas[c] = weight - (double)n * exp(alphas[c] - all);
  }
  free(qs_adj), free(means_adj), free(ys);
  release(&g);
}
