/* Contexts, arrays, and calls of entry points with the values of a C program. */

typedef struct {
  enum { DZ_DIM_CONSTANT, DZ_DIM_SIZE, DZ_DIM_ARGUMENT } kind;
  i64 value;
} dz_dim;

/* One value of an entry point. */
typedef struct {
  const char *name;
  i32 type, rank;
  const dz_dim *dims;
} dz_slot;

/* How results are printed: a text, then so many values, shown or not. */
typedef struct {
  const char *text;
  i32 values;
  bool shown;
} dz_shown;

typedef struct {
  const char *name;
  i32 (*run)(dz_ctx *, dz_value *, dz_value *);
  i32 size_params, params, size_results, results;
  const dz_slot *param_slots, *result_slots;
  const dz_shown *shown;
  i32 shown_count;
  const char *signature;
} dz_entry;

struct dagaz_config {
  int threads;
};

struct dagaz_context {
  dz_ctx *state;
  pthread_mutex_t lock;
  dz_pool *pool;
  int threads;
  i64 held; /* bytes that belong to arrays of the caller */
  char *error;
};

/* What is behind every array type. */
typedef struct {
  dagaz_context *owner;
  i32 type, rank;
  dz_value value;
} dz_array;

/* What is behind every record, tuple and sum type. */
typedef struct {
  dagaz_context *owner;
  i32 count;
  dz_value values[];
} dz_record;

static i32 dz_host_poll(void *user) { return 0; }

static void dz_host_trace(void *user, i32 site, dz_note *notes, i64 count) {
  dz_text text = {0};
  dz_text_format(&text, "%s: ", dz_sites[site].parts[0]);
  for (i64 i = 0; i < count; i++) {
    if (i) dz_text_add(&text, " ");
    dz_text_note(&text, &notes[i], false);
  }
  if (text.start) fprintf(stderr, "%s\n", text.start);
  free(text.start);
}

static void dz_host_parallel(void *user, void (*work)(void *, dz_thread), void *job, i64 threads, dz_thread thread) {
  dz_pool_run(((dagaz_context *)user)->pool, work, job, threads, thread);
}

static __attribute__((unused)) i64 dz_host_threads(void *user) { return ((dagaz_context *)user)->threads; }

static const dz_host dz_standalone_host = {
    .unop = dz_host_unop,
    .binop = dz_host_binop,
    .ternop = dz_host_ternop,
    .convert = dz_host_convert,
    .poll = dz_host_poll,
    .trace = dz_host_trace,
    .parallel = dz_host_parallel,
    .product = dz_host_product,
};

/* Where the stack of this thread ends, with something left for one more call. The system takes long to tell where stacks
   are, so each thread asks once. */
static char *dz_stack_low(void) {
  char *here = __builtin_frame_address(0);
  size_t left = 256 * 1024;
#ifdef __linux__
  static __thread char *low, *high;
  pthread_attr_t attributes;
  if (!high && pthread_getattr_np(pthread_self(), &attributes) == 0) {
    void *start;
    size_t size;
    if (pthread_attr_getstack(&attributes, &start, &size) == 0) low = start, high = low + size;
    pthread_attr_destroy(&attributes);
  }
  if (low < here && here < high) left = here - low;
#endif
  size_t reserve = left > (4 << 20) ? 1 << 20 : left / 4;
  return here - (left - reserve);
}

static void dz_prepare(dagaz_context *ctx) {
  dz_start(ctx->state, &dz_standalone_host, ctx, INT64_MAX, 100000, dz_stack_low(), ctx->threads);
}

static int dz_report(dagaz_context *ctx, int code, dz_text text) {
  free(ctx->error);
  ctx->error = text.start;
  return code;
}

static i64 dz_noted(const dz_note *notes, i64 count, i64 i) { return i < count ? (i64)notes[i].bits : 0; }

static void dz_text_message(dz_text *text, const dz_site *site, const dz_note *notes, i64 count) {
  i64 used = 0;
  switch (site->kind) {
    case DZ_SITE_ASSERT:
      for (i32 i = 0; i < site->count; i++) {
        if (site->parts[i]) {
          dz_text_add(text, site->parts[i]);
        } else if (used < count) {
          dz_text_note(text, &notes[used++], true);
        } else {
          dz_text_add(text, "?");
        }
      }
      break;
    case DZ_SITE_DIVISION_BY_ZERO:
      dz_text_add(text, "division by zero: ");
      if (count) dz_text_note(text, &notes[0], false);
      dz_text_add(text, " divided by 0");
      break;
    case DZ_SITE_NEGATIVE_EXPONENT:
      dz_text_add(text, "negative exponent: ");
      if (count) dz_text_note(text, &notes[0], false);
      dz_text_add(text, " to the power ");
      if (count > 1) dz_text_note(text, &notes[1], false);
      break;
    case DZ_SITE_OUT_OF_BOUNDS:
      dz_text_add(text, "Index [");
      for (i64 i = 0; i < site->count; i++) {
        dz_text_format(text, "%s%lld", i ? ", " : "", (long long)dz_noted(notes, count, i));
      }
      dz_text_add(text, "] out of bounds for array of shape ");
      for (i64 i = site->count; i < count; i++) {
        dz_text_format(text, "[%lld]", (long long)dz_noted(notes, count, i));
      }
      dz_text_add(text, ".");
      break;
    case DZ_SITE_NEGATIVE_SIZE:
      dz_text_format(text, "%s is negative: %lld", site->parts[0], (long long)dz_noted(notes, count, 0));
      break;
    case DZ_SITE_TOO_DEEP:
      dz_text_format(text, "recursion too deep: %lld calls", (long long)dz_noted(notes, count, 0));
      break;
    default: dz_text_add(text, "internal error: an error without a message"); break;
  }
}

static void dz_text_memory(dz_text *text, const dz_note *notes, i64 count) {
  i64 elements = dz_noted(notes, count, 0), type = dz_noted(notes, count, 1);
  if (elements == INT64_MAX) {
    dz_text_add(text, "an array is too large");
  } else {
    dz_text_format(text, "out of memory: there is no room for %lld elements of %s", (long long)elements,
                   type >= 0 && type < 12 ? dz_type_names[type] : "i64");
  }
}

/* The place of an error and of the calls around it. */
static void dz_text_places(dz_text *text, i32 place, const char **lead) {
  for (i32 steps = 0; place >= 0 && steps < 64; place = dz_places[place].outer, steps++) {
    if (!dz_places[place].place) continue;
    dz_text_format(text, "\n  %s %s", *lead, dz_places[place].place);
    *lead = "called from";
  }
}

/* The error that the generated code has stopped with. Frees what the call has left. */
static int dz_report_stop(dagaz_context *ctx) {
  dz_text text = {0};
  const i32 *calls;
  const dz_note *notes;
  i64 call_count = dz_error_calls(ctx->state, &calls), count = dz_error_notes(ctx->state, &notes);
  i32 number = dz_error_site(ctx->state);
  int code = DAGAZ_PROGRAM_ERROR;
  const char *lead = "at";
  if (number < 0 || dz_sites[number].kind == DZ_SITE_MEMORY) {
    dz_text_memory(&text, notes, count);
    code = DAGAZ_OUT_OF_MEMORY;
  } else {
    dz_text_message(&text, &dz_sites[number], notes, count);
  }
  if (number >= 0) dz_text_places(&text, dz_sites[number].place, &lead);
  for (i64 i = 0; i < call_count; i++) dz_text_places(&text, dz_sites[calls[i]].place, &lead);
  dz_clear(ctx->state);
  dz_prepare(ctx);
  ctx->state->live = ctx->held;
  return dz_report(ctx, code, text);
}

static int dz_invalid(dagaz_context *ctx, const char *message) {
  dz_text text = {0};
  dz_text_add(&text, message);
  return dz_report(ctx, DAGAZ_INVALID_ARGUMENT, text);
}

static int dz_no_memory(dagaz_context *ctx) {
  dz_text text = {0};
  dz_text_add(&text, "out of memory");
  return dz_report(ctx, DAGAZ_OUT_OF_MEMORY, text);
}

dagaz_config *dagaz_config_new(void) {
  dagaz_config *config = malloc(sizeof *config);
  if (config) config->threads = 1;
  return config;
}

void dagaz_config_free(dagaz_config *config) { free(config); }

void dagaz_config_set_threads(dagaz_config *config, int threads) { config->threads = threads < 1 ? 1 : threads; }

dagaz_context *dagaz_context_new(const dagaz_config *config) {
  dagaz_context *ctx = calloc(1, sizeof *ctx);
  if (!ctx) return NULL;
  ctx->state = calloc(1, dz_context_size());
  if (!ctx->state || pthread_mutex_init(&ctx->lock, NULL) != 0) {
    free(ctx->state);
    free(ctx);
    return NULL;
  }
  ctx->threads = config ? config->threads : 1;
  if (ctx->threads > 1) ctx->pool = dz_pool_new(ctx->threads);
  dz_prepare(ctx);
  return ctx;
}

void dagaz_context_free(dagaz_context *ctx) {
  if (!ctx) return;
  dz_pool_free(ctx->pool);
  dz_clear(ctx->state);
  free(ctx->state);
  free(ctx->error);
  pthread_mutex_destroy(&ctx->lock);
  free(ctx);
}

const char *dagaz_context_error(const dagaz_context *ctx) { return ctx->error ? ctx->error : ""; }

/* Takes a block out of the list of those that go with an error: it belongs to the caller now. */
static void dz_hold(dagaz_context *ctx, dz_block *block) {
  if (block->next == block) return;
  block->prev->next = block->next;
  block->next->prev = block->prev;
  block->next = block->prev = block;
  ctx->held += block->bytes;
}

static void dz_let_go(dagaz_context *ctx, dz_block *block) {
  if (!block) return;
  if (block->refs == 1) ctx->held -= block->bytes;
  dz_release(ctx->state, block);
}

static i64 dz_count(i32 rank, const i64 *dims) {
  i64 elements = 1;
  for (i32 i = 0; i < rank; i++) elements = dz_times(elements, dims[i]);
  return elements;
}

/* A new block for elements of the caller. */
static dz_block *dz_caller_block(dagaz_context *ctx, i32 type, i64 elements, const void *data) {
  dz_block *block = dz_alloc(ctx->state, -1, elements, dz_type_sizes[type], type);
  if (!block) {
    dz_report_stop(ctx);
    return NULL;
  }
  if (elements) memcpy(block->data, data, elements * dz_type_sizes[type]);
  dz_hold(ctx, block);
  return block;
}

static dz_array *dz_array_new(dagaz_context *ctx, i32 type, i32 rank, const void *data, const i64 *dims) {
  pthread_mutex_lock(&ctx->lock);
  dz_array *array = NULL;
  for (i32 i = 0; i < rank; i++) {
    if (dims[i] < 0) {
      dz_invalid(ctx, "a dimension is negative");
      goto end;
    }
  }
  dz_prepare(ctx);
  dz_block *block = dz_caller_block(ctx, type, dz_count(rank, dims), data);
  if (!block) goto end;
  array = calloc(1, sizeof *array);
  if (!array) {
    dz_let_go(ctx, block);
    dz_no_memory(ctx);
    goto end;
  }
  *array = (dz_array){.owner = ctx, .type = type, .rank = rank};
  array->value.data = block->data;
  array->value.mem = block;
  memcpy(array->value.dims, dims, rank * sizeof *dims);
end:
  pthread_mutex_unlock(&ctx->lock);
  return array;
}

static void dz_array_free(dagaz_context *ctx, dz_array *array) {
  if (!array) return;
  pthread_mutex_lock(&ctx->lock);
  dz_let_go(ctx, array->value.mem);
  pthread_mutex_unlock(&ctx->lock);
  free(array);
}

static int dz_array_values(dagaz_context *ctx, const dz_array *array, void *out) {
  if (!array || array->owner != ctx) return dz_invalid(ctx, "the array is not one of this context");
  i64 elements = dz_count(array->rank, array->value.dims);
  if (elements) memcpy(out, array->value.data, elements * dz_type_sizes[array->type]);
  return DAGAZ_SUCCESS;
}

static void dz_record_free(dagaz_context *ctx, dz_record *record) {
  if (!record) return;
  pthread_mutex_lock(&ctx->lock);
  for (i32 i = 0; i < record->count; i++) dz_let_go(ctx, record->values[i].mem);
  pthread_mutex_unlock(&ctx->lock);
  free(record);
}

/* A call under way: the values that go in and come out, and the references that those of the caller had before. */
typedef struct {
  dagaz_context *ctx;
  const dz_entry *entry;
  dz_value *in, *out;
  i64 *refs;
  i32 passed, taken, status;
} dz_call;

static void dz_call_begin(dz_call *call) { pthread_mutex_lock(&call->ctx->lock); }

static void dz_pass(dz_call *call, const dz_value *value, i64 refs) {
  call->refs[call->passed] = refs;
  call->in[call->entry->size_params + call->passed] = *value;
  call->passed++;
}

static void dz_pass_scalar(dz_call *call, u64 bits) {
  dz_value value = {.bits = bits};
  dz_pass(call, &value, 0);
}

static void dz_pass_values(dz_call *call, const dagaz_context *owner, const dz_value *values, i32 count) {
  if (owner != call->ctx && !call->status) {
    dz_text text = {0};
    dz_text_format(&text, "argument '%s' is not a value of this context",
                   call->entry->param_slots[call->passed].name);
    call->status = dz_report(call->ctx, DAGAZ_INVALID_ARGUMENT, text);
  }
  const dz_value nothing = {0};
  for (i32 i = 0; i < count; i++) {
    const dz_value *value = owner == call->ctx ? &values[i] : &nothing;
    dz_pass(call, value, value->mem ? value->mem->refs : 0);
  }
}

static void dz_pass_array(dz_call *call, const dz_array *array) {
  dz_pass_values(call, array ? array->owner : NULL, array ? &array->value : NULL, 1);
}

static void dz_pass_record(dz_call *call, const dz_record *record, i32 count) {
  dz_pass_values(call, record ? record->owner : NULL, record ? record->values : NULL, count);
}

/* Reads the sizes off the arguments, and checks all others. */
static int dz_call_sizes(dz_call *call) {
  const dz_entry *entry = call->entry;
  dz_value *args = call->in + entry->size_params;
  for (i32 i = 0; i < entry->size_params; i++) call->in[i] = (dz_value){.bits = (u64)-1};
  for (i32 i = 0; i < entry->params; i++) {
    const dz_slot *slot = &entry->param_slots[i];
    for (i32 axis = 0; axis < slot->rank; axis++) {
      dz_dim dim = slot->dims[axis];
      i64 actual = args[i].dims[axis], expected = dim.value;
      if (dim.kind == DZ_DIM_SIZE) {
        if (call->in[dim.value].bits == (u64)-1) call->in[dim.value].bits = actual;
        expected = (i64)call->in[dim.value].bits;
      }
      if (dim.kind == DZ_DIM_ARGUMENT) expected = (i64)args[dim.value].bits;
      if (actual == expected) continue;
      dz_text text = {0};
      dz_text_format(&text, "argument '%s' has type ", slot->name);
      for (i32 j = 0; j < slot->rank; j++) dz_text_format(&text, "[%lld]", (long long)args[i].dims[j]);
      dz_text_format(&text, "%s, but dimension %d must have size %lld", dz_type_names[slot->type], axis,
                     (long long)expected);
      return dz_report(call->ctx, DAGAZ_INVALID_ARGUMENT, text);
    }
  }
  return DAGAZ_SUCCESS;
}

static int dz_call_run(dz_call *call) {
  const dz_entry *entry = call->entry;
  if (!call->status) call->status = dz_call_sizes(call);
  if (call->status) return call->status;
  dz_prepare(call->ctx);
  dz_value *args = call->in + entry->size_params;
  for (i32 i = 0; i < entry->params; i++) dz_retain(call->ctx->state, args[i].mem);
  if (entry->run(call->ctx->state, call->in, call->out) == 0) return DAGAZ_SUCCESS;
  /* Backwards, so that an array that was passed twice has its first number in the end. */
  for (i32 i = entry->params - 1; i >= 0; i--) {
    if (args[i].mem) args[i].mem->refs = call->refs[i];
  }
  return call->status = dz_report_stop(call->ctx);
}

/* The next result. What a constant of the program or another result shares is copied. */
static dz_value dz_take(dz_call *call) {
  i32 number = call->taken++;
  dz_value value = call->out[call->entry->size_results + number];
  const dz_slot *slot = &call->entry->result_slots[number];
  if (slot->rank == 0 || call->status) return value;
  i64 elements = dz_count(slot->rank, value.dims);
  dz_block *block = value.mem;
  bool is_ours = block && block->next != block;
  if (!block || (is_ours && block->refs > 1)) {
    value.mem = dz_caller_block(call->ctx, slot->type, elements, value.data);
    if (!value.mem) {
      call->status = DAGAZ_OUT_OF_MEMORY;
      return value;
    }
    value.data = value.mem->data;
    dz_release(call->ctx->state, block);
  } else {
    dz_hold(call->ctx, block);
  }
  return value;
}

static u64 dz_take_scalar(dz_call *call) { return dz_take(call).bits; }

static dz_array *dz_take_array(dz_call *call) {
  const dz_slot *slot = &call->entry->result_slots[call->taken];
  dz_array *array = calloc(1, sizeof *array);
  dz_value value = dz_take(call);
  if (!array) call->status = dz_no_memory(call->ctx);
  if (call->status) {
    free(array);
    return NULL;
  }
  *array = (dz_array){.owner = call->ctx, .type = slot->type, .rank = slot->rank, .value = value};
  return array;
}

static dz_record *dz_record_alloc(dagaz_context *ctx, i32 count) {
  dz_record *record = calloc(1, sizeof *record + count * sizeof(dz_value));
  if (record) *record = (dz_record){.owner = ctx, .count = count};
  return record;
}

static dz_record *dz_take_record(dz_call *call, i32 count) {
  dz_record *record = dz_record_alloc(call->ctx, count);
  for (i32 i = 0; i < count; i++) {
    dz_value value = dz_take(call);
    if (record) record->values[i] = value;
  }
  if (!record) call->status = dz_no_memory(call->ctx);
  if (!call->status) return record;
  free(record);
  return NULL;
}

static int dz_call_end(dz_call *call) {
  pthread_mutex_unlock(&call->ctx->lock);
  return call->status;
}

/* Some values of a record as values of their own, which share the elements. */
static void dz_share(dagaz_context *ctx, dz_value *to, const dz_value *from, i32 count) {
  for (i32 i = 0; i < count; i++) {
    to[i] = from[i];
    dz_retain(ctx->state, to[i].mem);
  }
}

static int dz_get_array(dagaz_context *ctx, dz_array **out, const dz_record *record, i32 at, i32 type, i32 rank) {
  if (!record || record->owner != ctx) return dz_invalid(ctx, "the value is not one of this context");
  dz_array *array = calloc(1, sizeof *array);
  if (!array) return dz_no_memory(ctx);
  *array = (dz_array){.owner = ctx, .type = type, .rank = rank};
  dz_share(ctx, &array->value, &record->values[at], 1);
  *out = array;
  return DAGAZ_SUCCESS;
}

static int dz_get_record(dagaz_context *ctx, dz_record **out, const dz_record *record, i32 at, i32 count) {
  if (!record || record->owner != ctx) return dz_invalid(ctx, "the value is not one of this context");
  dz_record *part = dz_record_alloc(ctx, count);
  if (!part) return dz_no_memory(ctx);
  dz_share(ctx, part->values, &record->values[at], count);
  *out = part;
  return DAGAZ_SUCCESS;
}

static int dz_get_scalar(dagaz_context *ctx, u64 *out, const dz_record *record, i32 at) {
  if (!record || record->owner != ctx) return dz_invalid(ctx, "the value is not one of this context");
  *out = record->values[at].bits;
  return DAGAZ_SUCCESS;
}
