/* Values as text: for messages, traces and results. */
#include <stdarg.h>
#include <stdio.h>

static const char *const dz_type_names[12] = {"i8",  "i16", "i32", "i64", "u8",  "u16",
                                              "u32", "u64", "f16", "f32", "f64", "bool"};
static const i64 dz_type_sizes[12] = {1, 2, 4, 8, 1, 2, 4, 8, 2, 4, 8, 1};

/* Text that grows. Without memory it stays as it is. */
typedef struct {
  char *start;
  size_t length, room;
} dz_text;

static void dz_text_bytes(dz_text *text, const char *bytes, size_t count) {
  if (text->length + count + 1 > text->room) {
    size_t room = 2 * (text->length + count) + 64;
    char *grown = realloc(text->start, room);
    if (!grown) return;
    text->start = grown;
    text->room = room;
  }
  memcpy(text->start + text->length, bytes, count);
  text->length += count;
  text->start[text->length] = 0;
}

static void dz_text_add(dz_text *text, const char *more) { dz_text_bytes(text, more, strlen(more)); }

static void dz_text_format(dz_text *text, const char *format, ...) {
  char piece[512];
  va_list values;
  va_start(values, format);
  vsnprintf(piece, sizeof piece, format, values);
  va_end(values);
  dz_text_add(text, piece);
}

static f64 dz_round_to(i32 type, f64 x) {
  return type == DZ_F16 ? dz_f16_to_f64(dz_f16_of_f64(x)) : type == DZ_F32 ? (f64)(f32)x : x;
}

static f64 dz_parse_as(i32 type, const char *digits) {
  return type == DZ_F32 ? (f64)strtof(digits, NULL) : dz_round_to(type, strtod(digits, NULL));
}

/* The fewest digits that give the number back; very small and very large ones with an exponent. */
static void dz_text_float(dz_text *text, i32 type, f64 x) {
  char digits[64];
  i32 precision = 0;
  /* Halves that are integers are exact. */
  if (type == DZ_F16 && x == trunc(x)) {
    dz_text_format(text, "%.1f", x);
    return;
  }
  do {
    snprintf(digits, sizeof digits, "%.*e", precision, x);
  } while (dz_parse_as(type, digits) != x && ++precision < 17);
  char *mark = strchr(digits, 'e');
  i32 exponent = atoi(mark + 1);
  *mark = 0;
  if (x != 0 && (exponent < -4 || exponent >= 16)) {
    dz_text_format(text, "%se%d", digits, exponent);
    return;
  }
  if (signbit(x)) dz_text_add(text, "-");
  /* The digits without their point, and zeros where they do not reach. */
  char *first = digits + (digits[0] == '-');
  if (precision > 0) memmove(first + 1, first + 2, strlen(first + 2) + 1);
  if (exponent < 0) dz_text_add(text, "0.");
  for (i32 i = -1; i > exponent; i--) dz_text_add(text, "0");
  for (i32 i = 0; i <= precision || i <= exponent; i++) {
    dz_text_bytes(text, i <= precision ? &first[i] : "0", 1);
    if (i == exponent) dz_text_add(text, i < precision ? "." : ".0");
  }
}

static u64 dz_element(i32 type, const void *data, i64 position) {
  switch (dz_type_sizes[type]) {
    case 1: return ((const u8 *)data)[position];
    case 2: return ((const u16 *)data)[position];
    case 4: return ((const u32 *)data)[position];
    default: return ((const u64 *)data)[position];
  }
}

static void dz_text_scalar(dz_text *text, i32 type, u64 bits, bool bare) {
  f64 x = 0;
  switch (type) {
    case DZ_I8: dz_text_format(text, "%d", (i8)bits); break;
    case DZ_I16: dz_text_format(text, "%d", (i16)bits); break;
    case DZ_I32: dz_text_format(text, "%d", (i32)bits); break;
    case DZ_I64: dz_text_format(text, "%lld", (long long)(i64)bits); break;
    case DZ_U8: dz_text_format(text, "%u", (u8)bits); break;
    case DZ_U16: dz_text_format(text, "%u", (u16)bits); break;
    case DZ_U32: dz_text_format(text, "%u", (u32)bits); break;
    case DZ_U64: dz_text_format(text, "%llu", (unsigned long long)bits); break;
    case DZ_F16: x = dz_f16_to_f64((f16)bits); break;
    case DZ_F32: x = dz_from_f32(bits); break;
    case DZ_F64: x = dz_from_f64(bits); break;
    default: dz_text_add(text, bits & 255 ? "true" : "false"); return;
  }
  if (type >= DZ_F16) {
    if (!isfinite(x)) {
      dz_text_format(text, "%s%s.%s", x == -INFINITY ? "-" : "", dz_type_names[type], x != x ? "nan" : "inf");
      return;
    }
    dz_text_float(text, type, x);
  }
  if (!bare) dz_text_add(text, dz_type_names[type]);
}

static i64 dz_text_rows(dz_text *text, i32 type, const void *data, i32 rank, const i64 *dims, i64 position) {
  if (rank == 0) {
    dz_text_scalar(text, type, dz_element(type, data, position), false);
    return position + 1;
  }
  dz_text_add(text, "[");
  for (i64 i = 0; i < dims[0]; i++) {
    if (i) dz_text_add(text, ", ");
    position = dz_text_rows(text, type, data, rank - 1, dims + 1, position);
  }
  dz_text_add(text, "]");
  return position;
}

static void dz_text_array(dz_text *text, i32 type, const void *data, i32 rank, const i64 *dims) {
  i64 elements = 1;
  for (i32 i = 0; i < rank; i++) elements *= dims[i];
  if (elements) {
    dz_text_rows(text, type, data, rank, dims, 0);
    return;
  }
  dz_text_add(text, "empty(");
  for (i32 i = 0; i < rank; i++) dz_text_format(text, "[%lld]", (long long)dims[i]);
  dz_text_format(text, "%s)", dz_type_names[type]);
}

static void dz_text_note(dz_text *text, const dz_note *note, bool bare) {
  if (note->rank == 0) {
    dz_text_scalar(text, note->type, note->bits, bare);
  } else {
    dz_text_array(text, note->type, note->data, note->rank, note->dims);
  }
}
