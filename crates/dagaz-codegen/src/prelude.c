/* What all generated programs share: types, memory, errors and integer arithmetic. */
#include <math.h>
#include <sched.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#if defined(__linux__)
#include <sys/mman.h>
#endif

/* Elementary functions have variants for vectors in the GNU C library. Their results can differ from those for single
   numbers in the last bits. */
#if defined(__x86_64__) && defined(__GLIBC__) && defined(__GNUC__) && !defined(__clang__)
#if __GLIBC_PREREQ(2, 35)
#define DZ_VECTOR(name)                                                         \
  extern __attribute__((simd("notinbranch"), const)) double name(double);       \
  extern __attribute__((simd("notinbranch"), const)) float name##f(float);
DZ_VECTOR(exp) DZ_VECTOR(log) DZ_VECTOR(sin) DZ_VECTOR(cos) DZ_VECTOR(tan) DZ_VECTOR(tanh)
DZ_VECTOR(log2) DZ_VECTOR(log10) DZ_VECTOR(log1p) DZ_VECTOR(asin) DZ_VECTOR(acos) DZ_VECTOR(atan)
DZ_VECTOR(sinh) DZ_VECTOR(cosh) DZ_VECTOR(cbrt) DZ_VECTOR(asinh) DZ_VECTOR(acosh) DZ_VECTOR(atanh)
DZ_VECTOR(erf) DZ_VECTOR(erfc)
extern __attribute__((simd("notinbranch"), const)) double pow(double, double);
extern __attribute__((simd("notinbranch"), const)) float powf(float, float);
#endif
#endif

typedef int8_t i8;
typedef int16_t i16;
typedef int32_t i32;
typedef int64_t i64;
typedef uint8_t u8;
typedef uint16_t u16;
typedef uint32_t u32;
typedef uint64_t u64;
typedef uint16_t f16; /* the bits; the host computes with them */
typedef float f32;
typedef double f64;

/* Elements with the number of variables that refer to them. All blocks are in one list, to be freed after an error. */
typedef struct dz_block {
  i64 refs;
  i64 bytes; /* room for elements */
  void *data;
  bool borrowed; /* the elements belong to the caller */
  struct dz_ctx *owner; /* who counts its references */
  struct dz_block *prev, *next;
} dz_block;

enum { DZ_CLASSES = 64, DZ_SPARES = 128 };

/* A scalar (bits) or an array, as the caller passes it. */
typedef struct {
  u64 bits;
  void *data;
  dz_block *mem;
  i64 dims[16];
} dz_value;

/* A value that belongs to a message. */
typedef struct {
  i32 type;
  i32 rank; /* 0 for a scalar */
  u64 bits;
  void *data; /* a copy of the elements */
  i64 dims[16];
} dz_note;

/* How far apart the parts of a batch, the rows and the columns of a matrix are. */
typedef struct {
  i64 batch, row, col;
} dz_strides;

/* Products of matrices, m times k by k times n, or sums of c with them. */
typedef struct {
  i64 batch, m, n, k;
  dz_strides a, b, c;
  bool add;
  bool is_alone; /* no other threads are at work */
  const void *packed; /* b in the order of the caller's kernels, or nothing */
} dz_product;

/* A thread: the lowest address of its stack that may be used, and its number among those that work together. */
typedef struct {
  char *stack_low;
  i64 number;
} dz_thread;

/* What the caller computes for us: operations that the C library has not, or has with other roundings. */
typedef struct {
  u64 (*unop)(i32 op, i32 type, u64 x);
  u64 (*binop)(i32 op, i32 type, u64 x, u64 y);
  u64 (*ternop)(i32 op, i32 type, u64 x, u64 y, u64 z);
  u64 (*convert)(i32 from, i32 to, u64 x);
  i32 (*poll)(void *user);
  void (*trace)(void *user, i32 site, dz_note *notes, i64 count);
  /* Calls `work` in so many threads at once, one of them this one, each with who it is, and returns when all have
     returned. */
  void (*parallel)(void *user, void (*work)(void *job, dz_thread thread), void *job, i64 threads, dz_thread thread);
  /* Large products; nobody, where a caller has no better way than loops. */
  void (*product)(void *user, i32 type, const dz_product *shape, const void *a, const void *b, void *c);
  /* The number of elements of b in the order of kernels for products, to which they are copied if that is not NULL; none if
     it is not worth while. Nobody, where there is no such order. */
  i64 (*pack)(i32 type, const dz_product *shape, const void *b, void *to);
} dz_host;

/* What one thread knows. The first context of a program is followed by its top-level constants. */
typedef struct dz_ctx {
  const dz_host *host;
  void *user;
  struct dz_ctx *program; /* the first one */
  i64 live, limit, peak;  /* bytes; counted in the first context, for all */
  i64 turns;              /* how many blocks there were */
  i32 patience, depth, max_depth, threads;
  dz_thread thread;
  dz_block blocks;
  /* Blocks to be used again: small ones by size, and some large ones, as a step of a simulation may have dozens of arrays. */
  dz_block *small[DZ_CLASSES];
  dz_block *spare[DZ_SPARES];
  struct dz_job *job; /* the parallel loop that this thread is in */
  /* The error: where it is told, the calls around it, the values in its message. */
  i32 site;
  i32 *calls;
  i64 call_count, call_room;
  dz_note *notes;
  i64 note_count, note_room;
} dz_ctx;

/* What a loop reads instead of an element that is not there, before it fails. */
static const u64 dz_nothing[64] = {0};

/* One of two values, without a branch. */
#define DZ_SELECT(T) \
  static inline T dz_select_##T(bool c, T a, T b) { return (T)((a & -(T)c) | (b & ~-(T)c)); }
DZ_SELECT(i8) DZ_SELECT(i16) DZ_SELECT(i32) DZ_SELECT(i64)
DZ_SELECT(u8) DZ_SELECT(u16) DZ_SELECT(u32) DZ_SELECT(u64) DZ_SELECT(f16)
#define DZ_SELECT_FLOAT(T, B)                                                   \
  static inline T dz_select_##T(bool c, T a, T b) {                             \
    union { T x; B bits; } one = {a}, other = {b};                              \
    one.bits = (one.bits & -(B)c) | (other.bits & ~-(B)c);                      \
    return one.x;                                                               \
  }
DZ_SELECT_FLOAT(f32, i32) DZ_SELECT_FLOAT(f64, i64)
static inline bool dz_select_bool(bool c, bool a, bool b) { return (c & a) | (!c & b); }

#define DZ_UNLIKELY(c) __builtin_expect(!!(c), 0)
/* The pointer is computed now, and not in parts in the loops that use it. */
#define DZ_IN_REGISTER(pointer) __asm__("" : "+r"(pointer))
/* Asks memory for what is there, if anything is. */
#define DZ_FETCH(address, is_written) __builtin_prefetch((const void *)(address), is_written)
/* The same for a row of so many bytes, the first 512 of them: the processor finds out about the rest. A loop would end now here,
   now there, where rows begin anywhere in lines of memory, and branches that nobody foresees take longer than all this. */
#define DZ_FETCH_ROW(address, bytes, is_written)                   \
  do {                                                             \
    const u64 dz_row = (u64)(address), dz_size = (u64)(bytes);     \
    DZ_FETCH(dz_row, is_written);                                  \
    DZ_FETCH(dz_row + i64_min(dz_size, 512) - 1, is_written);      \
    if (DZ_UNLIKELY(dz_size > 128)) {                              \
      DZ_FETCH(dz_row + 64, is_written);                           \
      DZ_FETCH(dz_row + 128, is_written);                          \
      if (dz_size > 256) {                                         \
        DZ_FETCH(dz_row + 192, is_written);                        \
        DZ_FETCH(dz_row + 256, is_written);                        \
        DZ_FETCH(dz_row + 320, is_written);                        \
        DZ_FETCH(dz_row + 384, is_written);                        \
      }                                                            \
    }                                                              \
  } while (false)
/* The same, but not as near as can be. */
#define DZ_FETCH_NEAR(address) __builtin_prefetch((const void *)(address), 0, 2)
/* The same for the row after one of so many bytes. */
#define DZ_FETCH_NEXT_ROW(row, bytes)                                                                     \
  do {                                                                                                    \
    const u64 dz_size = (u64)(bytes), dz_next = (u64)(row) + dz_size;                                     \
    for (u64 dz_at = 0; dz_at < dz_size; dz_at += 64) DZ_FETCH_NEAR(dz_next + dz_at);                     \
  } while (false)
/* In a loop: it is not worth vectors. */
#define DZ_NO_VECTORS() __asm__ volatile("")

/* Whether vector units can leave out lanes. */
#if defined(__AVX512VL__)
#define DZ_MASKS 1
#else
#define DZ_MASKS 0
#endif
/* Sums and products have one part for each lane of the vectors that the compiler makes of loops; in the end these are added
   up or multiplied in pairs. */
#if defined(__AVX512F__) && (defined(__tune_znver3__) || defined(__tune_znver4__) || defined(__tune_znver5__))
#define DZ_VECTOR_BYTES 64
#define DZ_ALL_PAIRS(t, name, op) DZ_PAIRS(t, name, op, 64, 32) DZ_PAIRS(t, name, op, 32, 16)
#define DZ_LAST(t, name, lanes) dz_##name##_of_32_##t(dz_##name##_of_64_##t(lanes))
#elif defined(__AVX__)
#define DZ_VECTOR_BYTES 32
#define DZ_ALL_PAIRS(t, name, op) DZ_PAIRS(t, name, op, 32, 16)
#define DZ_LAST(t, name, lanes) dz_##name##_of_32_##t(lanes)
#else
#define DZ_VECTOR_BYTES 16
#define DZ_ALL_PAIRS(t, name, op)
#define DZ_LAST(t, name, lanes) (lanes)
#endif
#define DZ_PAIRS(t, name, op, bytes, half)                                            \
  static inline dz_##half##_##t dz_##name##_of_##bytes##_##t(dz_##bytes##_##t x) {    \
    union { dz_##bytes##_##t all; dz_##half##_##t parts[2]; } pair = {x};             \
    return pair.parts[0] op pair.parts[1];                                            \
  }
/* What all lanes are together, in pairs. */
#define DZ_TOTAL(t, name, op, value)                                                  \
  DZ_ALL_PAIRS(t, name, op)                                                           \
  static inline t dz_##name##_##t(dz_sums_##t lanes) {                                \
    dz_16_##t x = DZ_LAST(t, name, lanes);                                            \
    return value;                                                                     \
  }
#define DZ_LANES(t, sum, product)                                                     \
  typedef t dz_64_##t __attribute__((vector_size(64)));                               \
  typedef t dz_32_##t __attribute__((vector_size(32)));                               \
  typedef t dz_16_##t __attribute__((vector_size(16)));                               \
  typedef t dz_sums_##t __attribute__((vector_size(DZ_VECTOR_BYTES)));                \
  enum { DZ_LANES_##t = DZ_VECTOR_BYTES / sizeof(t) };                                \
  static inline dz_sums_##t dz_parts_##t(const t *parts) {                            \
    dz_sums_##t lanes;                                                                \
    memcpy(&lanes, parts, sizeof lanes);                                              \
    return lanes;                                                                     \
  }                                                                                   \
  DZ_TOTAL(t, total, +, sum)                                                          \
  DZ_TOTAL(t, multiplied, *, product)
DZ_LANES(f32, (x[0] + x[2]) + (x[1] + x[3]), (x[0] * x[2]) * (x[1] * x[3]))
DZ_LANES(f64, x[0] + x[1], x[0] * x[1])

static i32 dz_fail(dz_ctx *ctx, i32 site) {
  ctx->site = site;
  return 1;
}

/* Errors are rare: what leads to them need not be fast. */
static __attribute__((noinline, cold)) void dz_note_any(dz_ctx *ctx, dz_note note) {
  if (ctx->note_count == ctx->note_room) {
    i64 room = 2 * ctx->note_room + 8;
    dz_note *grown = realloc(ctx->notes, room * sizeof *grown);
    if (!grown) return;
    ctx->notes = grown;
    ctx->note_room = room;
  }
  ctx->notes[ctx->note_count++] = note;
}

static __attribute__((noinline, cold)) void dz_note_scalar(dz_ctx *ctx, i32 type, u64 bits) {
  dz_note note = {.type = type, .bits = bits};
  dz_note_any(ctx, note);
}

static void dz_note_array(dz_ctx *ctx, i32 type, const void *data, i64 size, i32 rank, const i64 *dims) {
  dz_note note = {.type = type, .rank = rank};
  i64 bytes = size;
  for (i32 i = 0; i < rank; i++) {
    note.dims[i] = dims[i];
    bytes *= dims[i];
  }
  note.data = malloc(bytes ? bytes : 1);
  if (!note.data) return;
  memcpy(note.data, data, bytes);
  dz_note_any(ctx, note);
}

static void dz_forget_notes(dz_ctx *ctx) {
  for (i64 i = 0; i < ctx->note_count; i++) free(ctx->notes[i].data);
  ctx->note_count = 0;
}

static i32 dz_called(dz_ctx *ctx, i32 site) {
  if (ctx->call_count == ctx->call_room) {
    i64 room = 2 * ctx->call_room + 8;
    i32 *grown = realloc(ctx->calls, room * sizeof *grown);
    if (!grown) return 1;
    ctx->calls = grown;
    ctx->call_room = room;
  }
  ctx->calls[ctx->call_count++] = site;
  return 1;
}

static __attribute__((noinline)) i64 dz_times(i64 a, i64 b) {
  i64 product;
  if (a < 0 || b < 0 || __builtin_mul_overflow(a, b, &product)) return INT64_MAX;
  return product;
}

static inline i64 dz_class(i64 bytes) { return (bytes + 63) >> 6; }

static void dz_link(dz_ctx *ctx, dz_block *block) {
  block->owner = ctx;
  block->prev = &ctx->blocks;
  block->next = ctx->blocks.next;
  block->next->prev = block;
  ctx->blocks.next = block;
}

/* Elements of large blocks are on large pages where there are some, apart from what is known of the block. */
enum { DZ_LARGE = 4 << 20, DZ_PAGE = 2 << 20 };
/* So many bytes are in the cache of a core, and getting them anew takes longer than much that is done with them. */
enum { DZ_LITTLE = 256 << 10 };

static void dz_give_to_system(dz_ctx *ctx, dz_block *block) {
  __atomic_fetch_sub(&ctx->program->live, block->bytes, __ATOMIC_RELAXED);
  if (block->bytes >= DZ_LARGE) free((void *)((uintptr_t)block->data & ~(uintptr_t)(DZ_PAGE - 1)));
  free(block);
}

/* Arrays begin at different places of their pages, so that a loop over several does not use the same places at once. */
static dz_block *dz_get_from_system(dz_ctx *ctx, i64 bytes) {
  const i64 header = 64;
  i64 turn = __atomic_fetch_add(&ctx->program->turns, 1, __ATOMIC_RELAXED);
  i64 shift = bytes < 32768 ? 0 : (turn * 17 & 63) * 64;
  if (bytes < DZ_LARGE) {
    dz_block *block = aligned_alloc(64, header + shift + bytes + 64);
    if (block) block->data = (char *)block + header + shift;
    return block;
  }
  dz_block *block = malloc(sizeof *block);
  if (!block) return NULL;
  i64 room = (bytes + shift + 64 + DZ_PAGE - 1) & ~(i64)(DZ_PAGE - 1);
  char *data = aligned_alloc(DZ_PAGE, room);
  if (!data) {
    free(block);
    return NULL;
  }
  block->data = data + shift;
#if defined(MADV_HUGEPAGE)
  madvise(data, room, MADV_HUGEPAGE);
#endif
  return block;
}

static void dz_drop_spares(dz_ctx *ctx) {
  for (i64 i = 0; i < DZ_SPARES; i++) {
    if (ctx->spare[i]) dz_give_to_system(ctx, ctx->spare[i]);
    ctx->spare[i] = NULL;
  }
}

static i64 dz_plus(i64 a, i64 b) {
  i64 sum;
  return __builtin_add_overflow(a, b, &sum) ? (b < 0 ? INT64_MIN : INT64_MAX) : sum;
}

/* A block for at least so many bytes that was used before, or none. */
static dz_block *dz_used_block(dz_ctx *ctx, i64 bytes) {
  if (dz_class(bytes) < DZ_CLASSES) {
    dz_block *block = ctx->small[dz_class(bytes)];
    if (block) ctx->small[dz_class(bytes)] = block->next;
    return block;
  }
  for (i64 i = 0; i < DZ_SPARES; i++) {
    dz_block *block = ctx->spare[i];
    if (block && block->bytes >= bytes && block->bytes - bytes <= bytes / 8) {
      ctx->spare[i] = NULL;
      return block;
    }
  }
  /* Spares are kept as long as there is no more memory than was in use before, or little; the oldest go first. */
  i64 room = ctx->program->peak > DZ_LITTLE ? ctx->program->peak : DZ_LITTLE;
  if (room > ctx->limit) room = ctx->limit;
  for (i64 i = DZ_SPARES - 1; i >= 0 && dz_plus(ctx->program->live, bytes + 64) > room; i--) {
    if (ctx->spare[i]) dz_give_to_system(ctx, ctx->spare[i]);
    ctx->spare[i] = NULL;
  }
  return NULL;
}

static __attribute__((noinline)) dz_block *dz_new_block(dz_ctx *ctx, i32 site, i64 elements, i64 size, i32 type) {
  i64 bytes = dz_times(elements, size);
  dz_block *block = NULL;
  i64 limit = ctx->limit;
  if (bytes < INT64_MAX - 4 * DZ_PAGE) {
    bytes = dz_class(bytes) << 6;
    i64 live = __atomic_add_fetch(&ctx->program->live, bytes, __ATOMIC_RELAXED);
    if (live <= limit) {
      /* Threads that come here at the same time may miss a little. */
      if (live > ctx->program->peak) __atomic_store_n(&ctx->program->peak, live, __ATOMIC_RELAXED);
      block = dz_get_from_system(ctx, bytes);
      if (!block) limit = ctx->program->live - bytes;
    }
    if (!block) __atomic_fetch_sub(&ctx->program->live, bytes, __ATOMIC_RELAXED);
  }
  if (!block) {
    dz_note_scalar(ctx, 3, elements);
    dz_note_scalar(ctx, 3, type);
    dz_note_scalar(ctx, 3, limit);
    dz_fail(ctx, site);
    return NULL;
  }
  block->bytes = bytes;
  block->borrowed = false;
  return block;
}

static dz_block *dz_alloc(dz_ctx *ctx, i32 site, i64 elements, i64 size, i32 type) {
  i64 bytes = dz_times(elements, size);
  dz_block *block = dz_used_block(ctx, bytes);
  if (!block) block = dz_new_block(ctx, site, elements, size, type);
  if (DZ_UNLIKELY(!block)) return NULL;
  block->refs = 1;
  dz_link(ctx, block);
  return block;
}

static __attribute__((noinline)) void dz_free_block(dz_ctx *ctx, dz_block *block) {
  block->prev->next = block->next;
  block->next->prev = block->prev;
  if (block->borrowed) {
    free(block);
  } else if (dz_class(block->bytes) < DZ_CLASSES) {
    block->next = ctx->small[dz_class(block->bytes)];
    ctx->small[dz_class(block->bytes)] = block;
  } else {
    /* The latest are in front. They move up to the first place that is free; without one, the oldest goes. */
    i64 place = 0;
    while (place < DZ_SPARES - 1 && ctx->spare[place]) place++;
    if (ctx->spare[place]) dz_give_to_system(ctx, ctx->spare[place]);
    for (; place > 0; place--) ctx->spare[place] = ctx->spare[place - 1];
    ctx->spare[0] = block;
  }
}

/* Threads of a parallel loop share the blocks from outside, which stay until its end. They do not count references to
   them: threads that write to the same place all the time wait for each other. */
static inline void dz_retain(dz_ctx *ctx, dz_block *block) {
  if (block && block->owner == ctx) block->refs++;
}

static inline void dz_release(dz_ctx *ctx, dz_block *block) {
  if (block && block->owner == ctx && --block->refs == 0) dz_free_block(ctx, block);
}

/* Whether nobody else refers to a block. */
static inline bool dz_is_shared_by(dz_ctx *ctx, const dz_block *block, i64 arrays) {
  return block->owner == ctx && block->refs == arrays;
}

static inline bool dz_is_unique(dz_ctx *ctx, const dz_block *block) { return dz_is_shared_by(ctx, block, 1); }

/* The block itself if nobody else refers to it, or else a new one with the elements from `data` on. */
static dz_block *dz_unique(dz_ctx *ctx, i32 site, dz_block *block, const void *data, i64 elements, i64 size, i32 type) {
  dz_block *copy = dz_alloc(ctx, site, elements, size, type);
  if (!copy) return NULL;
  memcpy(copy->data, data, elements * size);
  dz_release(ctx, block);
  return copy;
}

/* Now and then, asks the caller whether to go on. */
static __attribute__((noinline)) i32 dz_poll(dz_ctx *ctx) {
  ctx->patience = 4096;
  return ctx->host->poll(ctx->user);
}
#define DZ_TICK(ctx) (DZ_UNLIKELY(--(ctx)->patience < 0) && dz_poll(ctx))

static inline i32 dz_enter(dz_ctx *ctx) {
  if (DZ_UNLIKELY(ctx->depth >= ctx->max_depth || (char *)__builtin_frame_address(0) < ctx->thread.stack_low)) {
    dz_note_scalar(ctx, 3, ctx->depth);
    return 1;
  }
  ctx->depth++;
  return 0;
}

#define DZ_BITS(t)                                                              \
  static inline u64 dz_bits_##t(t x) {                                          \
    u64 bits = 0;                                                               \
    memcpy(&bits, &x, sizeof x);                                                \
    return bits;                                                                \
  }                                                                             \
  static inline t dz_from_##t(u64 bits) {                                       \
    t x;                                                                        \
    memcpy(&x, &bits, sizeof x);                                                \
    return x;                                                                   \
  }
DZ_BITS(i8) DZ_BITS(i16) DZ_BITS(i32) DZ_BITS(i64) DZ_BITS(u8) DZ_BITS(u16) DZ_BITS(u32) DZ_BITS(u64)
DZ_BITS(f16) DZ_BITS(f32) DZ_BITS(f64) DZ_BITS(bool)

/* Integers. Overflow wraps: the compiler is told so. */
#define DZ_INT(t, u, bits)                                                      \
  static inline t t##_min(t x, t y) { return x < y ? x : y; }                   \
  static inline t t##_max(t x, t y) { return x > y ? x : y; }                   \
  static inline t t##_pow(t x, t y) {                                           \
    t power = 1;                                                                \
    while (y != 0) {                                                            \
      if (y & 1) power = (t)((u)x * (u)power);                                  \
      x = (t)((u)x * (u)x);                                                     \
      y >>= 1;                                                                  \
    }                                                                           \
    return power;                                                               \
  }                                                                             \
  static inline t t##_shl(t x, t y) {                                           \
    return (i64)y < 0 || (i64)y >= bits ? 0 : (t)((u)x << (u)y);                \
  }                                                                             \
  static inline t t##_lshr(t x, t y) {                                          \
    return (i64)y < 0 || (i64)y >= bits ? 0 : (t)((u)x >> (u)y);                \
  }                                                                             \
  static inline i32 t##_popc(t x) { return __builtin_popcountll((u)x); }        \
  static inline i32 t##_clz(t x) { return (u)x ? __builtin_clzll((u)x) - (64 - bits) : bits; } \
  static inline i32 t##_ctz(t x) { return (u)x ? __builtin_ctzll((u)x) : bits; }

#define DZ_SIGNED(t, u, wide, bits, least, most)                                \
  DZ_INT(t, u, bits)                                                            \
  static inline t t##_quot(t x, t y) { return y == -1 ? (t)(0 - (u)x) : (t)(x / y); } \
  static inline t t##_rem(t x, t y) { return y == -1 ? 0 : (t)(x % y); }        \
  static inline t t##_div(t x, t y) {                                           \
    t q = t##_quot(x, y);                                                       \
    return t##_rem(x, y) != 0 && (x < 0) != (y < 0) ? (t)(q - 1) : q;           \
  }                                                                             \
  static inline t t##_mod(t x, t y) {                                           \
    t r = t##_rem(x, y);                                                        \
    return r != 0 && (r < 0) != (y < 0) ? (t)(r + y) : r;                       \
  }                                                                             \
  static inline t t##_ashr(t x, t y) {                                          \
    return (t)(x >> ((i64)y < 0 || (i64)y >= bits ? bits - 1 : y));             \
  }                                                                             \
  static inline t t##_mulhi(t x, t y) { return (t)(((wide)x * (wide)y) >> bits); } \
  static inline t t##_abs(t x) { return x < 0 ? (t)(0 - (u)x) : x; }            \
  static inline t t##_signum(t x) { return (t)((x > 0) - (x < 0)); }            \
  static inline t t##_of_f64(f64 x) {                                           \
    if (!isfinite(x)) return 0;                                                 \
    return x >= -(f64)least ? most : x <= (f64)least ? least : (t)x;            \
  }

#define DZ_UNSIGNED(t, signed_t, wide, bits, most)                              \
  DZ_INT(t, t, bits)                                                            \
  static inline t t##_quot(t x, t y) { return x / y; }                          \
  static inline t t##_rem(t x, t y) { return x % y; }                           \
  static inline t t##_div(t x, t y) { return x / y; }                           \
  static inline t t##_mod(t x, t y) { return x % y; }                           \
  static inline t t##_ashr(t x, t y) {                                          \
    return (t)((signed_t)x >> ((i64)y < 0 || (i64)y >= bits ? bits - 1 : y));   \
  }                                                                             \
  static inline t t##_mulhi(t x, t y) { return (t)(((wide)x * (wide)y) >> bits); } \
  static inline t t##_abs(t x) { return x; }                                    \
  static inline t t##_signum(t x) { return x != 0; }                            \
  static inline t t##_of_f64(f64 x) {                                           \
    if (!isfinite(x)) return 0;                                                 \
    if (x < 0) return (t)signed_t##_of_f64(x);                                  \
    return x >= 2.0 * (f64)((t)1 << (bits - 1)) ? most : (t)x;                  \
  }

DZ_SIGNED(i8, u8, i16, 8, INT8_MIN, INT8_MAX)
DZ_SIGNED(i16, u16, i32, 16, INT16_MIN, INT16_MAX)
DZ_SIGNED(i32, u32, i64, 32, INT32_MIN, INT32_MAX)
DZ_SIGNED(i64, u64, __int128, 64, INT64_MIN, INT64_MAX)
DZ_UNSIGNED(u8, i8, u16, 8, UINT8_MAX)
DZ_UNSIGNED(u16, i16, u32, 16, UINT16_MAX)
DZ_UNSIGNED(u32, i32, u64, 32, UINT32_MAX)
DZ_UNSIGNED(u64, i64, unsigned __int128, 64, UINT64_MAX)

/* The lesser and the greater number; the other one where one is not a number. */
#define DZ_FLOAT(t)                                                             \
  static inline t t##_min(t x, t y) { return x != x ? y : y < x ? y : x; }      \
  static inline t t##_max(t x, t y) { return x != x ? y : y > x ? y : x; }      \
  static inline t t##_signum(t x) { return x != x || x == 0 ? x : x > 0 ? 1 : -1; }
DZ_FLOAT(f32)
DZ_FLOAT(f64)

/* For the caller. */
i64 dz_context_size(void);
void dz_start(void *memory, const dz_host *host, void *user, i64 limit, i32 max_depth, char *stack_low, i32 threads) {
  dz_ctx *ctx = memory;
  ctx->program = ctx;
  ctx->threads = threads;
  ctx->host = host;
  ctx->user = user;
  ctx->limit = limit;
  ctx->patience = 0;
  ctx->depth = 0;
  ctx->max_depth = max_depth;
  ctx->thread = (dz_thread){stack_low, 0};
  ctx->site = -1;
  ctx->call_count = 0;
  dz_forget_notes(ctx);
  if (!ctx->blocks.next) ctx->blocks.next = ctx->blocks.prev = &ctx->blocks;
}

/* The most bytes that were in use at once. */
i64 dz_peak(void *memory) { return ((dz_ctx *)memory)->peak; }

/* A block for elements of the caller. Two references keep it from being changed or freed. */
i32 dz_lend(void *memory, dz_value *value, void *data, i64 bytes) {
  dz_ctx *ctx = memory;
  dz_block *block = malloc(sizeof *block);
  if (!block) return 1;
  block->refs = 2;
  block->bytes = bytes;
  block->data = data;
  block->borrowed = true;
  dz_link(ctx, block);
  value->data = data;
  value->mem = block;
  return 0;
}

void dz_give_back(void *memory, dz_block *block) {
  dz_release(memory, block);
}

i32 dz_error_site(void *memory) { return ((dz_ctx *)memory)->site; }

i64 dz_error_calls(void *memory, const i32 **calls) {
  *calls = ((dz_ctx *)memory)->calls;
  return ((dz_ctx *)memory)->call_count;
}

i64 dz_error_notes(void *memory, const dz_note **notes) {
  *notes = ((dz_ctx *)memory)->notes;
  return ((dz_ctx *)memory)->note_count;
}

static void dz_free_all(dz_ctx *ctx) {
  dz_block *block = ctx->blocks.next;
  while (block != &ctx->blocks) {
    dz_block *next = block->next;
    if (block->borrowed) free(block);
    else dz_give_to_system(ctx, block);
    block = next;
  }
  ctx->blocks.next = ctx->blocks.prev = &ctx->blocks;
  for (i64 i = 0; i < DZ_CLASSES; i++) {
    for (block = ctx->small[i]; block;) {
      dz_block *next = block->next;
      dz_give_to_system(ctx, block);
      block = next;
    }
    ctx->small[i] = NULL;
  }
  dz_drop_spares(ctx);
}

/* Frees everything: after an error, and at the end. */
void dz_clear(void *memory) {
  dz_ctx *ctx = memory;
  if (!ctx->blocks.next) return;
  dz_free_all(ctx);
  dz_forget_notes(ctx);
  free(ctx->notes);
  free(ctx->calls);
  memset(ctx, 0, dz_context_size());
}
