/* The main function of an executable: reads arguments, calls an entry point, prints its results. */
#include <time.h>
#include <unistd.h>

/* As `dagaz run`: 1 for an error of the program, 2 for a wrong use. */
enum { DZ_EXIT_PROGRAM = 1, DZ_EXIT_MISUSE = 2 };

typedef struct {
  const dz_entry *entry;
  const char *times;
  i64 runs, threads;
  bool binary;
  int code;
} dz_options;

static const char dz_usage[] =
    "Reads arguments from standard input, calls an entry point, and prints its results.\n\n"
    "  -e, --entry NAME     the entry point, main if not given\n"
    "  -t, --times FILE     write how long each call took, in microseconds\n"
    "  -r, --runs N         call so many times, and print the last results\n"
    "  -b, --binary         print results in the binary format\n"
    "      --threads N      how many threads to use; by default as many as there are processors\n"
    "  -h, --help           print this\n";

static int dz_misuse(const char *format, const char *what) {
  fprintf(stderr, "error: ");
  fprintf(stderr, format, what);
  fprintf(stderr, "\n");
  return DZ_EXIT_MISUSE;
}

static int dz_no_entry(const char *name) {
  fprintf(stderr, "error: there is no entry point '%s'; there are: ", name);
  for (i32 i = 0; i < DZ_ENTRY_COUNT; i++) fprintf(stderr, "%s%s", i ? ", " : "", dz_entries[i].name);
  fprintf(stderr, "%s\n", DZ_ENTRY_COUNT ? "" : "none");
  return DZ_EXIT_MISUSE;
}

static char *dz_read_all(size_t *length) {
  size_t room = 1 << 16;
  char *input = malloc(room);
  *length = 0;
  while (input) {
    size_t got = fread(input + *length, 1, room - *length, stdin);
    *length += got;
    if (got == 0) return input;
    if (*length == room) {
      char *grown = realloc(input, room *= 2);
      if (!grown) free(input);
      input = grown;
    }
  }
  return NULL;
}

/* The arguments as values of the context. */
static int dz_arguments(dagaz_context *ctx, const dz_entry *entry, dz_array *args) {
  dz_reader reader = {0};
  if (entry->params == 0) return 0;
  reader.start = dz_read_all(&reader.length);
  if (!reader.start) return dz_misuse("%s", "out of memory");
  for (i32 i = 0; i < entry->params; i++) {
    const dz_slot *slot = &entry->param_slots[i];
    dz_elements elements = {0};
    dz_skip_blanks(&reader);
    if (dz_peek(&reader) < 0) {
      fprintf(stderr, "error: '%s' takes %d values (%s), but %d are given\n", entry->name, entry->params,
              entry->signature, i);
      return DZ_EXIT_MISUSE;
    }
    if (!dz_read_value(&reader, slot, &elements)) {
      return dz_misuse("standard input: %s", reader.error.start ? reader.error.start : "out of memory");
    }
    if (slot->rank == 0) {
      memcpy(&args[i].value.bits, elements.data, dz_type_sizes[slot->type]);
      args[i].owner = ctx;
    } else {
      dz_array *array = dz_array_new(ctx, slot->type, slot->rank, elements.data, elements.dims);
      if (!array) return dz_misuse("%s", dagaz_context_error(ctx));
      args[i] = *array;
      free(array);
    }
    free(elements.data);
  }
  dz_skip_blanks(&reader);
  bool is_over = dz_peek(&reader) < 0;
  free((char *)reader.start);
  return is_over ? 0 : dz_misuse("standard input: %s", "there are more values than the entry point takes");
}

static void dz_write_binary(const dz_slot *slot, const dz_value *value) {
  fwrite("b\002", 1, 2, stdout);
  fputc(slot->rank, stdout);
  fprintf(stdout, "%4s", dz_type_names[slot->type]);
  fwrite(value->dims, 8, slot->rank, stdout);
  if (slot->rank == 0) {
    fwrite(&value->bits, dz_type_sizes[slot->type], 1, stdout);
  } else {
    fwrite(value->data, dz_type_sizes[slot->type], dz_count(slot->rank, value->dims), stdout);
  }
}

static void dz_print_results(const dz_entry *entry, const dz_value *results, bool binary) {
  dz_text text = {0};
  i32 at = 0;
  if (binary) {
    for (i32 i = 0; i < entry->results; i++) dz_write_binary(&entry->result_slots[i], &results[i]);
    return;
  }
  for (i32 i = 0; i < entry->shown_count; i++) {
    dz_text_add(&text, entry->shown[i].text);
    if (entry->shown[i].shown) {
      const dz_slot *slot = &entry->result_slots[at];
      if (slot->rank == 0) {
        dz_text_scalar(&text, slot->type, results[at].bits, false);
      } else {
        dz_text_array(&text, slot->type, results[at].data, slot->rank, results[at].dims);
      }
    }
    at += entry->shown[i].values;
  }
  if (text.start) fwrite(text.start, 1, text.length, stdout);
  free(text.start);
}

/* One call; gives the time that it took, in microseconds. */
static int dz_one_call(dagaz_context *ctx, const dz_entry *entry, dz_array *args, dz_value *room, i64 *refs,
                       dz_value *results, i64 *taken) {
  dz_call call = {ctx, entry, room, room + entry->size_params + entry->params, refs, 0, 0, 0};
  struct timespec before, after;
  dz_call_begin(&call);
  for (i32 i = 0; i < entry->params; i++) dz_pass_array(&call, &args[i]);
  clock_gettime(CLOCK_MONOTONIC, &before);
  dz_call_run(&call);
  clock_gettime(CLOCK_MONOTONIC, &after);
  *taken = (after.tv_sec - before.tv_sec) * 1000000 + (after.tv_nsec - before.tv_nsec) / 1000;
  for (i32 i = 0; i < entry->results && !call.status; i++) results[i] = dz_take(&call);
  return dz_call_end(&call);
}

static int dz_calls(dagaz_context *ctx, const dz_options *options) {
  const dz_entry *entry = options->entry;
  i32 values = entry->size_params + entry->params + entry->size_results + entry->results;
  dz_array *args = calloc(entry->params + 1, sizeof *args);
  dz_value *room = calloc(values + 1, sizeof *room), *results = calloc(entry->results + 1, sizeof *results);
  i64 *refs = calloc(entry->params + 1, sizeof *refs);
  if (!args || !room || !results || !refs) return dz_misuse("%s", "out of memory");
  int code = dz_arguments(ctx, entry, args);
  FILE *times = NULL;
  if (!code && options->times && !(times = fopen(options->times, "w"))) {
    code = dz_misuse("cannot write %s", options->times);
  }
  for (i64 run = 0; run < options->runs && !code; run++) {
    i64 taken;
    for (i32 i = 0; i < entry->results && run > 0; i++) dz_let_go(ctx, results[i].mem);
    int status = dz_one_call(ctx, entry, args, room, refs, results, &taken);
    if (status) {
      fprintf(stderr, "error: %s\n", dagaz_context_error(ctx));
      code = DZ_EXIT_PROGRAM;
    } else if (times) {
      fprintf(times, "%lld\n", (long long)taken);
    }
  }
  if (times) fclose(times);
  if (!code) {
    dz_print_results(entry, results, options->binary);
    for (i32 i = 0; i < entry->results; i++) dz_let_go(ctx, results[i].mem);
  }
  for (i32 i = 0; i < entry->params; i++) dz_let_go(ctx, args[i].value.mem);
  free(args);
  free(room);
  free(results);
  free(refs);
  return code;
}

static void *dz_on_large_stack(void *shared) {
  dz_options *options = shared;
  dagaz_config *config = dagaz_config_new();
  if (config) dagaz_config_set_threads(config, (int)options->threads);
  dagaz_context *ctx = dagaz_context_new(config);
  dagaz_config_free(config);
  options->code = ctx ? dz_calls(ctx, options) : dz_misuse("%s", "out of memory");
  dagaz_context_free(ctx);
  return NULL;
}

static bool dz_is(const char *option, const char *brief, const char *full) {
  return (brief && strcmp(option, brief) == 0) || strcmp(option, full) == 0;
}

static bool dz_number(const char *text, i64 *number) {
  char *end;
  *number = strtoll(text, &end, 10);
  return !*end && end != text && *number > 0;
}

int main(int count, char **words) {
  const char *name = "main";
  dz_options options = {.runs = 1, .threads = sysconf(_SC_NPROCESSORS_ONLN)};
  for (int i = 1; i < count; i++) {
    const char *word = words[i], *value = i + 1 < count ? words[i + 1] : NULL;
    if (dz_is(word, "-h", "--help")) {
      fputs(dz_usage, stdout);
      return 0;
    }
    if (dz_is(word, "-b", "--binary")) {
      options.binary = true;
      continue;
    }
    bool is_entry = dz_is(word, "-e", "--entry"), is_times = dz_is(word, "-t", "--times");
    bool is_runs = dz_is(word, "-r", "--runs"), is_threads = dz_is(word, NULL, "--threads");
    if (!is_entry && !is_times && !is_runs && !is_threads) return dz_misuse("there is no option '%s'", word);
    if (!value) return dz_misuse("the option '%s' needs a value", word);
    if (is_entry) name = value;
    if (is_times) options.times = value;
    if ((is_runs && !dz_number(value, &options.runs)) || (is_threads && !dz_number(value, &options.threads))) {
      return dz_misuse("'%s' is not a positive number", value);
    }
    i++;
  }
  for (i32 i = 0; i < DZ_ENTRY_COUNT; i++) {
    if (strcmp(dz_entries[i].name, name) == 0) options.entry = &dz_entries[i];
  }
  if (!options.entry) return dz_no_entry(name);
  /* Recursive programs may use much stack, of which only what is used becomes memory. */
  pthread_t thread;
  pthread_attr_t attributes;
  pthread_attr_init(&attributes);
  pthread_attr_setstacksize(&attributes, (size_t)1 << 30);
  if (pthread_create(&thread, &attributes, dz_on_large_stack, &options) == 0) {
    pthread_join(thread, NULL);
  } else {
    dz_on_large_stack(&options);
  }
  return options.code;
}
