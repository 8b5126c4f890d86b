/* Uses examples/dotprod.fut as a C library; see docs/tools.md. */
#include <stdio.h>

#include "dotprod.h"

int main(void) {
  const double xs_data[] = {1, 2, 3}, ys_data[] = {4, 5, 6};
  double product;
  dotprod_context *ctx = dotprod_context_new(NULL);
  dotprod_f64_1d *xs = dotprod_f64_1d_new(ctx, xs_data, 3);
  dotprod_f64_1d *ys = dotprod_f64_1d_new(ctx, ys_data, 3);
  dotprod_f64_1d *pair = dotprod_f64_1d_new(ctx, ys_data, 2);
  if (dotprod_entry_main(ctx, &product, xs, ys) == DOTPROD_SUCCESS) printf("%g\n", product);
  if (dotprod_entry_main(ctx, &product, xs, pair) == DOTPROD_INVALID_ARGUMENT) puts(dotprod_context_error(ctx));
  dotprod_f64_1d_free(ctx, xs);
  dotprod_f64_1d_free(ctx, ys);
  dotprod_f64_1d_free(ctx, pair);
  dotprod_context_free(ctx);
  return 0;
}
