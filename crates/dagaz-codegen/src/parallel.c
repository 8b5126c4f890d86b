/* Parallel loops. A task runs a piece of the iterations; the pieces depend on the data only, and so do results. */
typedef i32 (*dz_task)(dz_ctx *ctx, const void *env, i64 from, i64 to);

/* Every thread has a range of the pieces, the same one in all loops with so many: what it wrote in one loop is still in its
   cache in the next one. When nothing is left there, it takes pieces from the ranges of others. */
enum { DZ_RANGES = 64 };

typedef struct dz_job {
  dz_ctx *parent;
  dz_task task;
  const void *env;
  i64 count, grain, pieces, ranges;
  i64 failed; /* the first piece that has failed */
  char lock;
  /* The first piece of a range that nobody has taken, and, in the upper half, the one after the last. Loops are short: it
     takes longer for lines of memory to come from other cores than it takes to wait for one that several threads change. */
  u64 left[DZ_RANGES];
} dz_job;

/* About so many operations are worth a thread's attention. Tests say less. */
#ifndef DZ_PIECE
#define DZ_PIECE 262144.0
#endif

/* How many iterations make a piece, if one takes about `cost` operations. */
static __attribute__((noinline)) i64 dz_grain(i64 count, f64 cost) {
  i64 grain = cost < DZ_PIECE ? (i64)(DZ_PIECE / (cost < 1.0 ? 1.0 : cost)) : 1;
  if (count / grain > 1024) grain = (count + 1023) / 1024;
  return grain > 16 ? (grain + 63) & ~(i64)63 : grain;
}

/* In how many parts the rows of an array are made and used, so that the caches of a core have a part until it is used. An array
   that is near as a whole is one part. For every part, so many other elements are read once more. */
enum { DZ_NEAR = 4 << 20, DZ_PART = 1 << 20 };

static i64 dz_count_parts(const dz_ctx *ctx, i64 rows, i64 row, i64 again, i64 size) {
  const i64 bytes = dz_times(i64_max(row, 1), size), all = dz_times(rows, bytes);
  if (all <= DZ_NEAR) return 1;
  const i64 wanted = rows / i64_max((i64)ctx->threads * DZ_PART / bytes, 1), most = all / dz_times(4 * size, i64_max(again, 1));
  return i64_max(i64_min(wanted, most), 1);
}

/* How many copies of so many bins are worth having for so many values: 1 means none. */
static i64 dz_copies(i64 count, i64 bins) {
  i64 copies = count / 65536;
  if (copies > 16) copies = 16;
  if (bins > 0 && copies > count / 8 / bins) copies = count / 4 / bins < 2 ? 1 : count / 8 / bins < 2 ? 2 : count / 8 / bins;
  return copies < 2 ? 1 : copies;
}

/* How many copies of accumulators with so many elements are worth having, if an iteration takes about `cost`
   operations: 1 means none. */
static i64 dz_acc_copies(i64 count, f64 cost, i64 elements) {
  f64 work = (f64)count * cost, copies = work / DZ_PIECE, affordable = work / (8.0 * (f64)(elements + 1));
  if (copies > affordable) copies = affordable;
  if (copies > 16.0) copies = 16.0;
  if (copies > (f64)count) copies = (f64)count;
  /* Threads come in pairs: with three pieces, one of two would wait for the other. */
  return copies < 2.0 ? 1 : (i64)copies & ~(i64)1;
}

/* Logs of additions have so many parts, which may have so many entries before it is their turn. */
enum { DZ_PARTS = 8, DZ_LOGGED = 16384 };

/* Whether so many iterations are enough for threads that log what they add, and how many of them then make a piece. */
static bool dz_is_logged(i64 count, f64 cost, i64 elements) {
  return count >= 16 && (f64)count * cost >= 2.0 * DZ_PIECE && elements < UINT32_MAX;
}

static i64 dz_log_grain(i64 count, f64 cost) {
  i64 grain = cost < DZ_PIECE ? (i64)(DZ_PIECE / (cost < 1.0 ? 1.0 : cost)) : 1;
  /* Several iterations take more alike than single ones, and pieces wait for those before them. */
  grain = i64_max(grain, i64_min(8, count / 256));
  return count / grain > 65536 ? count / 65536 + 1 : grain;
}

/* The turns of some parts: it is that of the first piece. */
static void dz_begin_turns(i8 *turns, i64 parts, i64 pieces) {
  memset(turns, 0, parts * (pieces + 1));
  for (i64 part = 0; part < parts; part++) turns[part * (pieces + 1)] = 1;
}

/* The next piece of a range, in order for those it belongs to and from its end for others; none if nothing is left. */
static i64 dz_next_piece(u64 *range, bool is_own) {
  u64 left = __atomic_load_n(range, __ATOMIC_RELAXED);
  for (;;) {
    const i64 first = (u32)left, end = left >> 32;
    if (first >= end) return -1;
    const u64 rest = is_own ? left + 1 : left - ((u64)1 << 32);
    if (__atomic_compare_exchange_n(range, &left, rest, true, __ATOMIC_RELAXED, __ATOMIC_RELAXED)) {
      return is_own ? first : end - 1;
    }
  }
}

/* The first piece of a range. Who begins the loop has the first range, with one piece more, if any: others come later. */
static i64 dz_first_piece(const dz_job *job, i64 range) {
  return (range * job->pieces + job->ranges - 1) / job->ranges;
}

static void dz_begin_work(dz_ctx *ctx, dz_job *job, dz_thread thread) {
  memset(ctx, 0, sizeof *ctx);
  ctx->host = job->parent->host;
  ctx->user = job->parent->user;
  ctx->program = job->parent->program;
  ctx->limit = job->parent->limit;
  ctx->depth = job->parent->depth;
  ctx->max_depth = job->parent->max_depth;
  ctx->threads = job->parent->threads;
  ctx->thread = thread;
  ctx->blocks.next = ctx->blocks.prev = &ctx->blocks;
  ctx->job = job;
  ctx->site = -1;
}

static void dz_end_work(dz_ctx *ctx) {
  dz_forget_notes(ctx);
  free(ctx->notes);
  free(ctx->calls);
  dz_free_all(ctx);
}

/* What fails first in order of the pieces is the error, as without threads. */
static void dz_piece_failed(dz_job *job, dz_ctx *ctx, i64 piece) {
  while (__atomic_test_and_set(&job->lock, __ATOMIC_ACQUIRE)) {
  }
  if (piece < job->failed) {
    dz_ctx *parent = job->parent;
    dz_forget_notes(parent);
    free(parent->notes);
    free(parent->calls);
    parent->site = ctx->site;
    parent->notes = ctx->notes, parent->note_count = ctx->note_count, parent->note_room = ctx->note_room;
    parent->calls = ctx->calls, parent->call_count = ctx->call_count, parent->call_room = ctx->call_room;
    ctx->notes = NULL, ctx->note_count = 0, ctx->calls = NULL;
    __atomic_store_n(&job->failed, piece, __ATOMIC_RELAXED);
  }
  __atomic_clear(&job->lock, __ATOMIC_RELEASE);
}

static void dz_work(void *shared, dz_thread thread) {
  dz_job *job = shared;
  dz_ctx ctx;
  dz_begin_work(&ctx, job, thread);
  for (i64 turn = 0; turn < job->ranges; turn++) {
    const i64 range = (thread.number + turn) % job->ranges;
    for (;;) {
      const i64 piece = dz_next_piece(&job->left[range], turn == 0);
      if (piece < 0) break;
      /* Those before the one that has failed can still fail, and are first then. */
      if (piece > __atomic_load_n(&job->failed, __ATOMIC_RELAXED)) continue;
      const i64 from = piece * job->grain, to = from + job->grain;
      if (!job->task(&ctx, job->env, from, to < job->count ? to : job->count)) continue;
      dz_piece_failed(job, &ctx, piece);
      dz_end_work(&ctx);
      dz_begin_work(&ctx, job, thread);
    }
  }
  dz_end_work(&ctx);
}

/* Pieces begin in any order, or in order, where one may wait for the one before it: that one is then at work. */
static __attribute__((noinline)) i32 dz_run_on_threads(dz_ctx *ctx, dz_task task, const void *env, i64 count, i64 grain,
                                                       bool in_order) {
  const i64 pieces = count / grain + (count % grain > 0);
  const i64 threads = pieces < ctx->threads ? pieces : ctx->threads;
  dz_job job;
  job.parent = ctx, job.task = task, job.env = env, job.count = count, job.grain = grain;
  job.failed = INT64_MAX, job.lock = 0, job.pieces = pieces;
  job.ranges = in_order ? 1 : threads < DZ_RANGES ? threads : DZ_RANGES;
  for (i64 i = 0; i < job.ranges; i++) {
    job.left[i] = (u64)dz_first_piece(&job, i + 1) << 32 | (u64)dz_first_piece(&job, i);
  }
  ctx->host->parallel(ctx->user, dz_work, &job, threads, ctx->thread);
  return job.failed != INT64_MAX;
}

static inline i32 dz_run_pieces(dz_ctx *ctx, dz_task task, const void *env, i64 count, i64 grain, bool in_order) {
  /* Less than two whole pieces take hardly longer than a thread needs to come. */
  if (ctx->threads > 1 && count >= 2 * grain && count / grain < INT32_MAX) {
    return dz_run_on_threads(ctx, task, env, count, grain, in_order);
  }
  for (i64 from = 0; from < count; from += grain) {
    i64 to = from + grain < count ? from + grain : count;
    if (DZ_UNLIKELY(task(ctx, env, from, to))) return 1;
  }
  return 0;
}

static __attribute__((noinline)) i32 dz_parallel(dz_ctx *ctx, dz_task task, const void *env, i64 count, i64 grain) {
  return dz_run_pieces(ctx, task, env, count, grain, false);
}

static __attribute__((noinline, unused)) i32 dz_parallel_in_order(dz_ctx *ctx, dz_task task, const void *env, i64 count,
                                                                  i64 grain) {
  return dz_run_pieces(ctx, task, env, count, grain, true);
}

#if defined(__x86_64__) || defined(__i386__)
#define dz_pause() __builtin_ia32_pause()
#else
#define dz_pause() ((void)0)
#endif

/* Waits until the piece before this one has set its flag; one if it never will. */
static i32 dz_wait_for(dz_ctx *ctx, const char *flags, i64 piece) {
  for (i64 turns = 1; !__atomic_load_n(&flags[piece], __ATOMIC_ACQUIRE); turns++) {
    if (ctx->job && __atomic_load_n(&ctx->job->failed, __ATOMIC_RELAXED) < piece) return 1;
    /* Who is waited for may need this core. */
    if (turns % 256 == 0) sched_yield();
    else dz_pause();
  }
  return 0;
}

/* Copies, by threads where there is much to copy. */
typedef struct {
  char *to;
  const char *from;
} dz_copying;

static i32 dz_copy_piece(dz_ctx *ctx, const void *env, i64 from, i64 to) {
  (void)ctx;
  const dz_copying *copying = env;
  memcpy(copying->to + from, copying->from + from, to - from);
  return 0;
}

static void dz_copy(dz_ctx *ctx, void *to, const void *from, i64 bytes) {
  dz_copying copying = {to, from};
  if (bytes < 1 << 21) memcpy(to, from, bytes);
  else dz_parallel(ctx, dz_copy_piece, &copying, bytes, 1 << 19);
}
