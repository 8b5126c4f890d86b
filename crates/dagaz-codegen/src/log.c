/* Additions to arrays of ELEM by pieces of a loop, which take place in the order of the pieces (`logged.rs`). */

typedef struct {
  u32 place;
  ELEM value;
} dz_addition_ELEM;

typedef struct {
  ELEM *target;
  /* Places belong to parts by their upper bits. For each part, a flag for each piece: whether it is its turn. */
  i64 shift;
  char *turns;
  i64 pieces, piece;
  dz_block *memory;
  dz_addition_ELEM *entries;
  i64 used[DZ_PARTS];
} dz_log_ELEM;

/* The log of a piece: one if there is no memory for it. */
static i32 dz_open_log_ELEM(
    dz_ctx *ctx, i32 site, dz_log_ELEM *log, ELEM *target, i64 size, char *turns, i64 pieces, i64 piece) {
  memset(log, 0, sizeof *log);
  log->target = target;
  while ((size - 1) >> log->shift >= DZ_PARTS) log->shift++;
  log->turns = turns, log->pieces = pieces, log->piece = piece;
  log->memory = dz_alloc(ctx, site, DZ_PARTS * DZ_LOGGED, sizeof(dz_addition_ELEM), CODE);
  if (DZ_UNLIKELY(!log->memory)) return 1;
  log->entries = log->memory->data;
  return 0;
}

/* Makes the additions of one part, when all pieces before this one have made theirs; one if one of these has failed. */
static __attribute__((noinline)) i32 dz_add_logged_ELEM(dz_ctx *ctx, dz_log_ELEM *log, i64 part) {
  if (dz_wait_for(ctx, log->turns + part * (log->pieces + 1), log->piece)) return 1;
  ELEM *target = log->target;
  const dz_addition_ELEM *entries = log->entries + part * DZ_LOGGED;
  i64 used = log->used[part];
  for (i64 i = 0; i < used; i++) {
    __builtin_prefetch(&target[entries[i + 16 < used ? i + 16 : i].place], 1);
    target[entries[i].place] += entries[i].value;
  }
  log->used[part] = 0;
  return 0;
}

static inline i32 dz_add_ELEM(dz_ctx *ctx, dz_log_ELEM *log, i64 place, ELEM value) {
  i64 part = place >> log->shift, used = log->used[part]++;
  log->entries[part * DZ_LOGGED + used] = (dz_addition_ELEM){(u32)place, value};
  return DZ_UNLIKELY(used + 1 == DZ_LOGGED) && dz_add_logged_ELEM(ctx, log, part);
}

static i32 dz_close_log_ELEM(dz_ctx *ctx, dz_log_ELEM *log) {
  for (i64 part = 0; part < DZ_PARTS; part++) {
    if (dz_add_logged_ELEM(ctx, log, part)) return 1;
    __atomic_store_n(&log->turns[part * (log->pieces + 1) + log->piece + 1], 1, __ATOMIC_RELEASE);
  }
  dz_release(ctx, log->memory);
  return 0;
}
