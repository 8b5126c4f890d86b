// D-LSTM of ADBench, with its gradient by hand: the way there keeps gates and states, the way back reads them.
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

static double sigmoid(double x) { return 1 / (1 + exp(-x)); }

enum { FORGET, INGATE, OUTGATE, CHANGE, TANH, INPUT, HIDDEN, CELL, KEPT };

// One step through all layers. With `kept`, what the way back needs of each layer is written there.
static void predict(const double *restrict main, const double *restrict extra, const double *restrict input, int64_t l, int64_t d,
                    double *restrict state, double *restrict x, double *restrict kept, double *restrict prediction) {
  for (int64_t j = 0; j < d; j++) x[j] = input[j] * extra[j];
  for (int64_t i = 0; i < l; i++) {
    const double *weight = main + i * 8 * d, *bias = weight + 4 * d;
    double *hidden = state + i * 2 * d, *cell = hidden + d, *keep = kept ? kept + i * KEPT * d : NULL;
#pragma omp simd
    for (int64_t j = 0; j < d; j++) {
      double forget = sigmoid(x[j] * weight[j] + bias[j]), ingate = sigmoid(hidden[j] * weight[d + j] + bias[d + j]);
      double outgate = sigmoid(x[j] * weight[2 * d + j] + bias[2 * d + j]);
      double change = tanh(hidden[j] * weight[3 * d + j] + bias[3 * d + j]);
      double next = cell[j] * forget + ingate * change, bent = tanh(next);
      if (keep) {
        keep[FORGET * d + j] = forget, keep[INGATE * d + j] = ingate, keep[OUTGATE * d + j] = outgate;
        keep[CHANGE * d + j] = change, keep[TANH * d + j] = bent, keep[INPUT * d + j] = x[j];
        keep[HIDDEN * d + j] = hidden[j], keep[CELL * d + j] = cell[j];
      }
      cell[j] = next;
      hidden[j] = x[j] = outgate * bent;
    }
  }
  for (int64_t j = 0; j < d; j++) prediction[j] = x[j] * extra[d + j] + extra[2 * d + j];
}

void objective(const double *restrict main, const double *restrict extra, const double *restrict state0,
               const double *restrict sequence, int64_t l, int64_t d, int64_t t, double *restrict out) {
  double *state = malloc((2 * l + 2) * d * sizeof *state), *x = state + 2 * l * d, *prediction = x + d, total = 0;
  memcpy(state, state0, 2 * l * d * sizeof *state);
  for (int64_t i = 0; i + 1 < t; i++) {
    const double *next = sequence + (i + 1) * d;
    predict(main, extra, sequence + i * d, l, d, state, x, NULL, prediction);
    double sum = 2;
    for (int64_t j = 0; j < d; j++) sum += exp(prediction[j]);
    double normaliser = log(sum);
    for (int64_t j = 0; j < d; j++) total += next[j] * (prediction[j] - normaliser);
  }
  *out = -total / (double)(d * (t - 1));
  free(state);
}

// The way back through one layer: takes what the output and the state after it are worth, gives those before it.
static void layer_back(const double *restrict weight, const double *restrict keep, int64_t d, double *restrict weight_adj,
                       double *restrict x_adj, double *restrict hidden_adj, double *restrict cell_adj) {
  double *bias_adj = weight_adj + 4 * d;
#pragma omp simd
  for (int64_t j = 0; j < d; j++) {
    double forget = keep[FORGET * d + j], ingate = keep[INGATE * d + j], outgate = keep[OUTGATE * d + j];
    double change = keep[CHANGE * d + j], bent = keep[TANH * d + j], x = keep[INPUT * d + j], hidden = keep[HIDDEN * d + j];
    double out_adj = x_adj[j] + hidden_adj[j], next_adj = cell_adj[j] + out_adj * outgate * (1 - bent * bent);
    double forget_adj = next_adj * keep[CELL * d + j] * forget * (1 - forget);
    double ingate_adj = next_adj * change * ingate * (1 - ingate), outgate_adj = out_adj * bent * outgate * (1 - outgate);
    double change_adj = next_adj * ingate * (1 - change * change);
    weight_adj[j] += forget_adj * x, bias_adj[j] += forget_adj;
    weight_adj[d + j] += ingate_adj * hidden, bias_adj[d + j] += ingate_adj;
    weight_adj[2 * d + j] += outgate_adj * x, bias_adj[2 * d + j] += outgate_adj;
    weight_adj[3 * d + j] += change_adj * hidden, bias_adj[3 * d + j] += change_adj;
    x_adj[j] = forget_adj * weight[j] + outgate_adj * weight[2 * d + j];
    hidden_adj[j] = ingate_adj * weight[d + j] + change_adj * weight[3 * d + j];
    cell_adj[j] = next_adj * forget;
  }
}

void derivative(const double *restrict main, const double *restrict extra, const double *restrict state0,
                const double *restrict sequence, int64_t l, int64_t d, int64_t t, double *restrict main_adj,
                double *restrict extra_adj) {
  int64_t steps = t - 1, step_size = (l * KEPT + 2) * d;
  double *kept = malloc(steps * step_size * sizeof *kept), *state = calloc((4 * l + 1) * d, sizeof *state);
  double *state_adj = state + 2 * l * d, *x_adj = state_adj + 2 * l * d, scale = -1 / (double)(d * steps);
  memcpy(state, state0, 2 * l * d * sizeof *state);
  memset(main_adj, 0, l * 8 * d * sizeof *main_adj);
  memset(extra_adj, 0, 3 * d * sizeof *extra_adj);
  for (int64_t i = 0; i < steps; i++) {
    double *keep = kept + i * step_size, *x = keep + l * KEPT * d;
    predict(main, extra, sequence + i * d, l, d, state, x, keep, x + d);
  }
  for (int64_t i = steps - 1; i >= 0; i--) {
    const double *keep = kept + i * step_size, *x = keep + l * KEPT * d, *prediction = x + d;
    const double *input = sequence + i * d, *next = sequence + (i + 1) * d;
    double sum = 2, weights = 0;
    for (int64_t j = 0; j < d; j++) sum += exp(prediction[j]), weights += next[j];
    for (int64_t j = 0; j < d; j++) {
      double adj = scale * (next[j] - weights * exp(prediction[j]) / sum);
      extra_adj[d + j] += adj * x[j], extra_adj[2 * d + j] += adj;
      x_adj[j] = adj * extra[d + j];
    }
    for (int64_t layer = l - 1; layer >= 0; layer--)
      layer_back(main + layer * 8 * d, keep + layer * KEPT * d, d, main_adj + layer * 8 * d, x_adj, state_adj + 2 * layer * d,
                 state_adj + (2 * layer + 1) * d);
    for (int64_t j = 0; j < d; j++) extra_adj[j] += x_adj[j] * input[j];
  }
  free(kept), free(state);
}
