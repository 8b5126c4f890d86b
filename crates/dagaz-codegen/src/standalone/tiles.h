/* Tiles of matrix products: as many vectors of sums as there are registers for, and some to spare. */
#if defined(__AVX512F__)
enum { DZ_TILE_BYTES = 64, DZ_TILE_ROWS = 12, DZ_TILE_VECTORS = 2 };
#elif defined(__AVX__)
enum { DZ_TILE_BYTES = 32, DZ_TILE_ROWS = 6, DZ_TILE_VECTORS = 2 };
#else
enum { DZ_TILE_BYTES = 16, DZ_TILE_ROWS = 6, DZ_TILE_VECTORS = 2 };
#endif

static i64 dz_host_threads(void *user);
static void dz_host_parallel(void *user, void (*work)(void *, dz_thread), void *job, i64 threads, dz_thread thread);
