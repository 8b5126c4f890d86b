/* Counts the time of statements, each without those inside of it, and how often they run. Threads of parallel loops count
   nothing: their time belongs to the loop. */
#include <time.h>

static struct { i64 nanoseconds, runs; } dz_profile[DZ_PROFILED + 1];
static i64 dz_profile_inside;

static i64 dz_profile_clock(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return now.tv_sec * 1000000000L + now.tv_nsec;
}

static i64 dz_profile_start(dz_ctx *ctx, i64 *inside) {
  if (ctx->job) return 0;
  *inside = dz_profile_inside;
  dz_profile_inside = 0;
  return dz_profile_clock();
}

static void dz_profile_stop(dz_ctx *ctx, i64 number, i64 start, i64 inside) {
  if (ctx->job) return;
  i64 passed = dz_profile_clock() - start;
  dz_profile[number].nanoseconds += passed - dz_profile_inside;
  dz_profile[number].runs++;
  dz_profile_inside = inside + passed;
}

/* Two numbers for every statement. */
void dz_profile_read(i64 *numbers) { memcpy(numbers, dz_profile, DZ_PROFILED * sizeof *dz_profile); }
