/* Rows of elements of 8 bytes that a loop for vector units makes, DZ_ROWS at a time (`turned.rs`). */
enum { DZ_ROWS = 64, DZ_TILE = 8 };

#if defined(__AVX512F__)
typedef u64 dz_word __attribute__((may_alias));
typedef u64 dz_words __attribute__((vector_size(64), aligned(8), may_alias));

/* Makes rows of columns, in registers: neighbours change places, then pairs, then halves. */
static inline __attribute__((always_inline)) void dz_turn_tile(dz_words t[DZ_TILE]) {
  dz_words s[DZ_TILE];
#pragma GCC unroll 8
  for (i64 j = 0; j < 8; j += 2) {
    s[j] = __builtin_shuffle(t[j], t[j + 1], (dz_words){0, 8, 2, 10, 4, 12, 6, 14});
    s[j + 1] = __builtin_shuffle(t[j], t[j + 1], (dz_words){1, 9, 3, 11, 5, 13, 7, 15});
  }
#pragma GCC unroll 8
  for (i64 j = 0; j < 8; j++) {
    if (j & 2) continue;
    t[j] = __builtin_shuffle(s[j], s[j + 2], (dz_words){0, 1, 8, 9, 4, 5, 12, 13});
    t[j + 2] = __builtin_shuffle(s[j], s[j + 2], (dz_words){2, 3, 10, 11, 6, 7, 14, 15});
  }
#pragma GCC unroll 8
  for (i64 j = 0; j < 4; j++) {
    dz_words low = t[j], high = t[j + 4];
    t[j] = __builtin_shuffle(low, high, (dz_words){0, 1, 2, 3, 8, 9, 10, 11});
    t[j + 4] = __builtin_shuffle(low, high, (dz_words){4, 5, 6, 7, 12, 13, 14, 15});
  }
}

/* Where the rows are while they are made, and a place in them. */
static inline void *dz_room_for(void *out, void *room) { return room; }
static inline i64 dz_turned(i64 row, i64 place, i64 width) { return place * DZ_ROWS + row; }

/* Writes rows of `width` elements, a tile at least, from their room to where they belong. Tiles at the end of a row begin
   earlier, and write some elements again. */
static inline __attribute__((always_inline)) void dz_turn(
    void *restrict out, const void *restrict room, i64 width, i64 rows) {
  dz_word *restrict to = out;
  const dz_word *restrict from = room;
  i64 row = 0;
  for (; row + DZ_TILE <= rows; row += DZ_TILE) {
    for (i64 place = 0; place < width; place += DZ_TILE) {
      i64 first = i64_min(place, width - DZ_TILE);
      dz_words t[DZ_TILE];
#pragma GCC unroll 8
      for (i64 j = 0; j < DZ_TILE; j++) t[j] = *(const dz_words *)(from + dz_turned(row, first + j, width));
      dz_turn_tile(t);
#pragma GCC unroll 8
      for (i64 j = 0; j < DZ_TILE; j++) *(dz_words *)(to + (row + j) * width + first) = t[j];
    }
  }
  for (; row < rows; row++)
    for (i64 place = 0; place < width; place++) to[row * width + place] = from[dz_turned(row, place, width)];
}
#else
/* Elements of shorter vectors are written one by one as fast. */
static inline void *dz_room_for(void *out, void *room) { return out; }
static inline i64 dz_turned(i64 row, i64 place, i64 width) { return row * width + place; }
static inline void dz_turn(void *out, const void *room, i64 width, i64 rows) {}
#endif
