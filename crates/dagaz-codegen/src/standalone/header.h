/* A library made by dagaz. Compile the .c file with -fwrapv (integers wrap), and to be fast with -O3 -march=native
   -fopenmp-simd -fno-math-errno; with -ffp-contract=off, results are those of `dagaz run`. Link with -lm -lpthread.

   A context holds a program's state; everything belongs to the context that it was made with, and is freed before it.
   Several threads may use one context, one after the other; threads that work at the same time have contexts of their
   own. Functions that give an int give 0, or one of the codes below; dagaz_context_error then says what happened. */
#include <stdbool.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

enum {
  DAGAZ_SUCCESS = 0,
  DAGAZ_PROGRAM_ERROR = 1,   /* the program has stopped: an index out of bounds, a failed assertion, ... */
  DAGAZ_OUT_OF_MEMORY = 2,
  DAGAZ_INVALID_ARGUMENT = 3 /* shapes that do not agree, or a value of another context */
};

typedef struct dagaz_config dagaz_config;
typedef struct dagaz_context dagaz_context;

dagaz_config *dagaz_config_new(void);
void dagaz_config_free(dagaz_config *config);
/* How many threads a call may use: 1 unless set. Results are the same for every number. */
void dagaz_config_set_threads(dagaz_config *config, int threads);

/* A config may be freed after this; without one (NULL), all settings are the usual ones. NULL if there is no memory. */
dagaz_context *dagaz_context_new(const dagaz_config *config);
void dagaz_context_free(dagaz_context *ctx);
/* What the last error was, with its place in the source. The text lives until the next error. */
const char *dagaz_context_error(const dagaz_context *ctx);
