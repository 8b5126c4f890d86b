/* Uses examples/dotprod.fut as a C library; see docs/tools.md. */
#include <stdio.h>

#include "dotprod.h"

int main(void) {
  const double xs_data[] = {1, 2, 3}, ys_data[] = {4, 5, 6};
  double product;
  dagaz_context *ctx = dagaz_context_new(NULL);
  dagaz_f64_1d *xs = dagaz_f64_1d_new(ctx, xs_data, 3);
  dagaz_f64_1d *ys = dagaz_f64_1d_new(ctx, ys_data, 3);
  dagaz_f64_1d *pair = dagaz_f64_1d_new(ctx, ys_data, 2);
  if (dagaz_entry_main(ctx, &product, xs, ys) == DAGAZ_SUCCESS) printf("%g\n", product);
  if (dagaz_entry_main(ctx, &product, xs, pair) == DAGAZ_INVALID_ARGUMENT) puts(dagaz_context_error(ctx));
  dagaz_f64_1d_free(ctx, xs);
  dagaz_f64_1d_free(ctx, ys);
  dagaz_f64_1d_free(ctx, pair);
  dagaz_context_free(ctx);
  return 0;
}
