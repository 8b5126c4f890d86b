/* What all generated programs share: types, memory, errors and integer arithmetic. */
#include <math.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

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
  i64 bytes;
  void *data;
  bool borrowed; /* the elements belong to the caller */
  struct dz_block *prev, *next;
} dz_block;

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
} dz_product;

/* What the caller computes for us: operations that the C library has not, or has with other roundings. */
typedef struct {
  u64 (*unop)(i32 op, i32 type, u64 x);
  u64 (*binop)(i32 op, i32 type, u64 x, u64 y);
  u64 (*ternop)(i32 op, i32 type, u64 x, u64 y, u64 z);
  u64 (*convert)(i32 from, i32 to, u64 x);
  i32 (*poll)(void *user);
  void (*trace)(void *user, i32 site, dz_note *notes, i64 count);
  void (*product)(void *user, i32 type, const dz_product *shape, const void *a, const void *b, void *c);
} dz_host;

typedef struct {
  const dz_host *host;
  void *user;
  i64 live, limit;
  i32 patience, depth, max_depth;
  char *stack_low;
  dz_block blocks;
  /* The error: where it is told, the calls around it, the values in its message. */
  i32 site;
  i32 *calls;
  i64 call_count, call_room;
  dz_note *notes;
  i64 note_count, note_room;
} dz_ctx;

#define DZ_UNLIKELY(c) __builtin_expect(!!(c), 0)

static i32 dz_fail(dz_ctx *ctx, i32 site) {
  ctx->site = site;
  return 1;
}

static void dz_note_any(dz_ctx *ctx, dz_note note) {
  if (ctx->note_count == ctx->note_room) {
    i64 room = 2 * ctx->note_room + 8;
    dz_note *grown = realloc(ctx->notes, room * sizeof *grown);
    if (!grown) return;
    ctx->notes = grown;
    ctx->note_room = room;
  }
  ctx->notes[ctx->note_count++] = note;
}

static void dz_note_scalar(dz_ctx *ctx, i32 type, u64 bits) {
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

static i64 dz_times(i64 a, i64 b) {
  i64 product;
  if (a < 0 || b < 0 || __builtin_mul_overflow(a, b, &product)) return INT64_MAX;
  return product;
}

static dz_block *dz_alloc(dz_ctx *ctx, i32 site, i64 elements, i64 size, i32 type) {
  i64 bytes = dz_times(elements, size);
  if (bytes == INT64_MAX || ctx->live > ctx->limit - bytes) {
    dz_note_scalar(ctx, 3, elements);
    dz_note_scalar(ctx, 3, type);
    dz_note_scalar(ctx, 3, ctx->limit);
    dz_fail(ctx, site);
    return NULL;
  }
  const i64 header = 64;
  char *memory = aligned_alloc(64, header + ((bytes + 63) & ~(i64)63) + 64);
  if (!memory) {
    dz_note_scalar(ctx, 3, elements);
    dz_note_scalar(ctx, 3, type);
    dz_note_scalar(ctx, 3, ctx->live);
    dz_fail(ctx, site);
    return NULL;
  }
  dz_block *block = (dz_block *)memory;
  block->refs = 1;
  block->bytes = bytes;
  block->data = memory + header;
  block->borrowed = false;
  block->prev = &ctx->blocks;
  block->next = ctx->blocks.next;
  block->next->prev = block;
  ctx->blocks.next = block;
  ctx->live += bytes;
  return block;
}

static __attribute__((noinline)) void dz_free_block(dz_ctx *ctx, dz_block *block) {
  block->prev->next = block->next;
  block->next->prev = block->prev;
  if (!block->borrowed) ctx->live -= block->bytes;
  free(block);
}

static inline void dz_retain(dz_block *block) {
  if (block) block->refs++;
}

static inline void dz_release(dz_ctx *ctx, dz_block *block) {
  if (block && --block->refs == 0) dz_free_block(ctx, block);
}

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
  if (DZ_UNLIKELY(ctx->depth >= ctx->max_depth || (char *)__builtin_frame_address(0) < ctx->stack_low)) {
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
void dz_start(void *memory, const dz_host *host, void *user, i64 limit, i32 max_depth, char *stack_low) {
  dz_ctx *ctx = memory;
  ctx->host = host;
  ctx->user = user;
  ctx->limit = limit;
  ctx->patience = 0;
  ctx->depth = 0;
  ctx->max_depth = max_depth;
  ctx->stack_low = stack_low;
  ctx->site = -1;
  ctx->call_count = 0;
  dz_forget_notes(ctx);
  if (!ctx->blocks.next) ctx->blocks.next = ctx->blocks.prev = &ctx->blocks;
}

/* A block for elements of the caller. Two references keep it from being changed or freed. */
i32 dz_lend(void *memory, dz_value *value, void *data, i64 bytes) {
  dz_ctx *ctx = memory;
  dz_block *block = malloc(sizeof *block);
  if (!block) return 1;
  block->refs = 2;
  block->bytes = bytes;
  block->data = data;
  block->borrowed = true;
  block->prev = &ctx->blocks;
  block->next = ctx->blocks.next;
  block->next->prev = block;
  ctx->blocks.next = block;
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

/* Frees everything: after an error, and at the end. */
void dz_clear(void *memory) {
  dz_ctx *ctx = memory;
  if (!ctx->blocks.next) return;
  dz_block *block = ctx->blocks.next;
  while (block != &ctx->blocks) {
    dz_block *next = block->next;
    free(block);
    block = next;
  }
  dz_forget_notes(ctx);
  free(ctx->notes);
  free(ctx->calls);
  memset(ctx, 0, dz_context_size());
}
