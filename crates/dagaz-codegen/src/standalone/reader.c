/* Reads values in the text and the binary format. */
#include <ctype.h>
#include <errno.h>

typedef struct {
  const char *start;
  size_t length, position;
  dz_text error;
} dz_reader;

/* Elements as they are read: the type of the first one is that of all. */
typedef struct {
  i32 type, rank;
  char *data;
  i64 count, room;
  i64 dims[16];
  bool is_typed, is_known[16];
} dz_elements;

static bool dz_complain_at(dz_reader *reader, size_t at, const char *message) {
  if (!reader->error.start) dz_text_format(&reader->error, "%s (at byte %zu)", message, at);
  return false;
}

static bool dz_complain(dz_reader *reader, const char *message) {
  return dz_complain_at(reader, reader->position, message);
}

static int dz_peek(const dz_reader *reader) {
  return reader->position < reader->length ? (unsigned char)reader->start[reader->position] : -1;
}

static bool dz_begins(const dz_reader *reader, const char *token) {
  size_t length = strlen(token);
  return reader->length - reader->position >= length &&
         memcmp(reader->start + reader->position, token, length) == 0;
}

static void dz_skip_blanks(dz_reader *reader) {
  for (;;) {
    while (dz_peek(reader) >= 0 && isspace(dz_peek(reader))) reader->position++;
    if (!dz_begins(reader, "--")) return;
    while (dz_peek(reader) >= 0 && dz_peek(reader) != '\n') reader->position++;
  }
}

static bool dz_eat(dz_reader *reader, const char *token) {
  dz_skip_blanks(reader);
  if (!dz_begins(reader, token)) return false;
  reader->position += strlen(token);
  return true;
}

static i32 dz_type_by_name(const char *name) {
  for (i32 type = 0; type < 12; type++) {
    if (strcmp(dz_type_names[type], name) == 0) return type;
  }
  return -1;
}

/* Letters, digits, points and underscores, the last of which do not count. */
static void dz_word(dz_reader *reader, char *word, size_t room) {
  size_t used = strlen(word);
  for (int c; (c = dz_peek(reader)) >= 0 && (isalnum(c) || c == '_' || c == '.'); reader->position++) {
    if (c != '_' && used + 1 < room) word[used++] = (char)c;
  }
  word[used] = 0;
}

static u64 dz_float_bits(i32 type, f64 x) {
  return type == DZ_F16 ? dz_f16_of_f64(x) : type == DZ_F32 ? dz_bits_f32((f32)x) : dz_bits_f64(x);
}

/* The type that a number says it has, which is taken off; -1 without one. In hexadecimal, f16 and its like are digits. */
static i32 dz_suffix(char *word, bool is_hex) {
  size_t length = strlen(word);
  for (i32 type = 0; type < 11; type++) {
    size_t suffix = strlen(dz_type_names[type]);
    if (is_hex && type >= DZ_F16 && !strpbrk(word, "pP.")) continue;
    if (length <= suffix || strcmp(word + length - suffix, dz_type_names[type]) != 0) continue;
    int before = (unsigned char)word[length - suffix - 1];
    if (!isxdigit(before) && before != '.') continue;
    word[length - suffix] = 0;
    return type;
  }
  return -1;
}

/* Whether a number is within the range of a type. Digits other than decimal ones stand for bits. */
static bool dz_in_range(u64 size, bool is_negative, i32 type, bool is_decimal) {
  u64 all = UINT64_MAX >> (64 - 8 * dz_type_sizes[type]);
  bool is_signed = type <= DZ_I64;
  if (is_negative) return size <= (is_signed ? (all >> 1) + 1 : 0);
  return size <= (is_signed && is_decimal ? all >> 1 : all);
}

/* A number or a truth value; `wanted` is the type of numbers that do not say theirs, or -1. */
static bool dz_read_scalar(dz_reader *reader, i32 wanted, i32 *type, u64 *bits) {
  char word[400] = "", shown[480];
  size_t at = reader->position;
  bool is_negative = dz_peek(reader) == '-';
  if (is_negative) {
    reader->position++;
    dz_skip_blanks(reader);
  }
  dz_word(reader, word, sizeof word);
  bool is_hex = word[0] == '0' && (word[1] == 'x' || word[1] == 'X');
  bool is_binary = word[0] == '0' && (word[1] == 'b' || word[1] == 'B');
  size_t length = strlen(word);
  if (isdigit((unsigned char)word[0]) && strchr(is_hex ? "pP" : "eE", word[length - 1]) &&
      (dz_peek(reader) == '-' || dz_peek(reader) == '+') && length + 2 < sizeof word) {
    word[length] = (char)dz_peek(reader);
    word[length + 1] = 0;
    reader->position++;
    dz_word(reader, word, sizeof word);
  }
  if (!word[0]) return dz_complain_at(reader, at, "a value is expected");
  snprintf(shown, sizeof shown, "'%s' is not a value", word);
  if (!is_negative && (strcmp(word, "true") == 0 || strcmp(word, "false") == 0)) {
    *type = DZ_BOOL;
    *bits = word[0] == 't';
    return true;
  }
  char *point = strchr(word, '.');
  if (point && isalpha((unsigned char)word[0])) {
    *point = 0;
    *type = dz_type_by_name(word);
    bool is_nan = strcmp(point + 1, "nan") == 0;
    if (*type < DZ_F16 || *type > DZ_F64 || (!is_nan && strcmp(point + 1, "inf") != 0)) {
      return dz_complain_at(reader, at, shown);
    }
    f64 size = is_nan ? NAN : INFINITY;
    *bits = dz_float_bits(*type, is_negative ? -size : size);
    return true;
  }
  i32 said = dz_suffix(word, is_hex);
  bool is_floating = !is_binary && strpbrk(word, is_hex ? ".pP" : ".eE");
  bool fits = wanted >= DZ_F16 && wanted <= DZ_F64 ? true : wanted >= 0 && wanted < DZ_F16 && !is_floating;
  *type = said >= 0 ? said : fits ? wanted : is_floating ? DZ_F64 : DZ_I32;
  char *end = word;
  if (!isdigit((unsigned char)word[0]) && word[0] != '.') return dz_complain_at(reader, at, shown);
  errno = 0;
  if (*type >= DZ_F16 && !is_binary) {
    /* Each type rounds the decimal number once. */
    f64 size = *type == DZ_F32 ? (f64)strtof(word, &end) : strtod(word, &end);
    *bits = dz_float_bits(*type, is_negative ? -size : size);
    return *end ? dz_complain_at(reader, at, shown) : true;
  }
  u64 size = strtoull(is_hex || is_binary ? word + 2 : word, &end, is_hex ? 16 : is_binary ? 2 : 10);
  if (*end || errno == ERANGE) return dz_complain_at(reader, at, shown);
  if (said < 0 && *type == wanted && *type < DZ_F16 && !dz_in_range(size, is_negative, *type, !is_hex && !is_binary)) {
    const char *name = dz_type_names[*type];
    snprintf(shown, sizeof shown, "%s%s is not within the range of %s", is_negative ? "-" : "", word, name);
    return dz_complain_at(reader, at, shown);
  }
  if (*type >= DZ_F16) {
    *bits = dz_float_bits(*type, is_negative ? -(f64)size : (f64)size);
  } else {
    *bits = is_negative ? 0 - size : size;
  }
  return true;
}

static bool dz_push(dz_reader *reader, dz_elements *to, u64 bits) {
  i64 size = dz_type_sizes[to->type];
  if (to->count == to->room) {
    i64 room = 2 * to->room + 64;
    char *grown = realloc(to->data, room * size);
    if (!grown) return dz_complain(reader, "out of memory");
    to->data = grown;
    to->room = room;
  }
  memcpy(to->data + to->count++ * size, &bits, size);
  return true;
}

static bool dz_read_element(dz_reader *reader, i32 depth, i32 wanted, dz_elements *to) {
  size_t at = reader->position;
  i32 type;
  u64 bits;
  if (!dz_read_scalar(reader, to->is_typed ? to->type : wanted, &type, &bits)) return false;
  if (!to->is_typed) {
    to->is_typed = true;
    to->type = type;
    to->rank = depth;
  }
  if (to->rank != depth) return dz_complain_at(reader, at, "scalars at different depths of brackets");
  if (to->type != type) return dz_complain_at(reader, at, "elements of different types");
  return dz_push(reader, to, bits);
}

static bool dz_read_string(dz_reader *reader, dz_elements *to);

/* A string inside of an array is a row. */
static bool dz_read_string_row(dz_reader *reader, i32 depth, dz_elements *to) {
  size_t at = reader->position;
  i64 before = to->count, outer = to->dims[0];
  if (to->is_typed && to->rank != depth + 1) {
    return dz_complain_at(reader, at, "scalars at different depths of brackets");
  }
  if (to->is_typed && to->type != DZ_U8) return dz_complain_at(reader, at, "elements of different types");
  if (!dz_read_string(reader, to)) return false;
  to->dims[0] = outer;
  to->is_typed = true;
  to->rank = depth + 1;
  if (to->is_known[depth] && to->dims[depth] != to->count - before) {
    return dz_complain_at(reader, at, "rows of different lengths");
  }
  to->is_known[depth] = true;
  to->dims[depth] = to->count - before;
  return true;
}

static bool dz_read_rows(dz_reader *reader, i32 depth, i32 wanted, dz_elements *to) {
  size_t at = reader->position;
  i64 count = 0;
  if (depth >= 16) return dz_complain(reader, "an array has at most 16 dimensions");
  if (!dz_eat(reader, "[")) return dz_complain(reader, "'[' is expected");
  while (!dz_eat(reader, "]")) {
    if (count > 0) {
      bool is_blank = isspace((unsigned char)reader->start[reader->position - 1]);
      if (!dz_eat(reader, ",") && !is_blank) return dz_complain(reader, "',' is expected");
      if (dz_eat(reader, "]")) break;
    }
    dz_skip_blanks(reader);
    int first = dz_peek(reader);
    if (!(first == '[' ? dz_read_rows(reader, depth + 1, wanted, to)
          : first == '"' ? dz_read_string_row(reader, depth + 1, to)
                         : dz_read_element(reader, depth + 1, wanted, to))) {
      return false;
    }
    count++;
  }
  if (to->is_known[depth] && to->dims[depth] != count) {
    return dz_complain_at(reader, at, "rows of different lengths");
  }
  to->is_known[depth] = true;
  to->dims[depth] = count;
  return true;
}

static bool dz_read_empty(dz_reader *reader, dz_elements *to) {
  char word[64];
  i64 elements = 1;
  reader->position += strlen("empty");
  if (!dz_eat(reader, "(")) return dz_complain(reader, "'(' is expected");
  while (dz_eat(reader, "[")) {
    word[0] = 0;
    dz_skip_blanks(reader);
    dz_word(reader, word, sizeof word);
    char *end;
    i64 size = strtoll(word, &end, 10);
    if (end == word || (*end && strcmp(end, "i64") != 0) || to->rank == 16) {
      return dz_complain(reader, "a size is expected");
    }
    to->dims[to->rank++] = size;
    elements = dz_times(elements, size);
    if (!dz_eat(reader, "]")) return dz_complain(reader, "']' is expected");
  }
  word[0] = 0;
  dz_skip_blanks(reader);
  dz_word(reader, word, sizeof word);
  to->type = dz_type_by_name(word);
  if (to->type < 0) return dz_complain(reader, "a scalar type is expected");
  if (elements != 0) return dz_complain(reader, "an empty array has a dimension of size 0");
  return dz_eat(reader, ")") ? true : dz_complain(reader, "')' is expected");
}

static bool dz_read_string(dz_reader *reader, dz_elements *to) {
  size_t at = reader->position++;
  to->type = DZ_U8;
  to->rank = 1;
  for (int c; (c = dz_peek(reader)) != '"'; reader->position++) {
    if (c == '\\') {
      static const char from[] = "ntr0\\\"'", into[] = "\n\t\r\0\\\"'";
      reader->position++;
      c = dz_peek(reader);
      const char *known = c > 0 ? strchr(from, c) : NULL;
      if (c >= 0 && !known) return dz_complain(reader, "an escape that is not known");
      if (known) c = into[known - from];
    }
    if (dz_peek(reader) < 0) return dz_complain_at(reader, at, "this string does not end");
    if (!dz_push(reader, to, (u64)c)) return false;
  }
  reader->position++;
  to->dims[0] = to->count;
  return true;
}

/* `b`, version 2, rank, type, dimensions, elements, all little endian. */
static bool dz_read_binary(dz_reader *reader, dz_elements *to) {
  const char *bytes = reader->start + reader->position;
  size_t left = reader->length - reader->position;
  if (left < 7) return dz_complain(reader, "the binary value ends too early");
  if (bytes[1] != 2) return dz_complain(reader, "this version of the binary format is not known");
  char name[5] = {bytes[3], bytes[4], bytes[5], bytes[6], 0};
  to->type = dz_type_by_name(name + strspn(name, " "));
  to->rank = (unsigned char)bytes[2];
  if (to->type < 0) return dz_complain(reader, "no type has this name");
  if (to->rank > 16) return dz_complain(reader, "an array has at most 16 dimensions");
  size_t header = 7 + 8 * (size_t)to->rank;
  if (left < header) return dz_complain(reader, "the binary value ends too early");
  memcpy(to->dims, bytes + 7, 8 * (size_t)to->rank);
  i64 size = dz_times(dz_count(to->rank, to->dims), dz_type_sizes[to->type]);
  if (size < 0 || (u64)size > left - header) {
    return dz_complain(reader, "more elements are announced than there are bytes");
  }
  to->count = dz_count(to->rank, to->dims);
  to->data = malloc(size + 1);
  if (!to->data) return dz_complain(reader, "out of memory");
  memcpy(to->data, bytes + header, size);
  reader->position += header + size;
  return true;
}

/* The next value, which has to have a type and a rank. */
static bool dz_read_value(dz_reader *reader, const dz_slot *slot, dz_elements *to) {
  dz_skip_blanks(reader);
  size_t at = reader->position;
  bool is_read;
  u64 bits;
  switch (dz_peek(reader)) {
    case -1: return dz_complain(reader, "a value is expected, not the end of the input");
    case 'b': is_read = dz_read_binary(reader, to); break;
    case '"': is_read = dz_read_string(reader, to); break;
    case '[':
      is_read = dz_read_rows(reader, 0, slot->type, to);
      if (is_read && !to->is_typed) {
        to->type = slot->type;
        to->rank = 1;
        to->dims[0] = 0;
      }
      break;
    default:
      if (dz_begins(reader, "empty")) {
        is_read = dz_read_empty(reader, to);
        break;
      }
      is_read = dz_read_scalar(reader, slot->type, &to->type, &bits) && dz_push(reader, to, bits);
      break;
  }
  if (!is_read) return false;
  if (to->type == slot->type && to->rank == slot->rank) return true;
  dz_text text = {0};
  dz_text_format(&text, "argument '%s' has type ", slot->name);
  for (i32 i = 0; i < to->rank; i++) dz_text_format(&text, "[%lld]", (long long)to->dims[i]);
  dz_text_format(&text, "%s, but ", dz_type_names[to->type]);
  for (i32 i = 0; i < slot->rank; i++) dz_text_add(&text, "[]");
  dz_text_format(&text, "%s is expected", dz_type_names[slot->type]);
  dz_complain_at(reader, at, text.start ? text.start : "a value of another type is expected");
  free(text.start);
  return false;
}
