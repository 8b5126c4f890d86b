/* Places where a program can stop or print. Their tables come after this. */

/* A place in the source, NULL in the prelude; `outer` is the number of the call that brought the code here, or -1. */
typedef struct {
  const char *place;
  i32 outer;
} dz_place;

/* `parts` are texts, and NULL where a noted value goes. */
typedef struct {
  enum {
    DZ_SITE_ASSERT,
    DZ_SITE_DIVISION_BY_ZERO,
    DZ_SITE_NEGATIVE_EXPONENT,
    DZ_SITE_OUT_OF_BOUNDS,
    DZ_SITE_NEGATIVE_SIZE,
    DZ_SITE_MEMORY,
    DZ_SITE_TOO_DEEP,
    DZ_SITE_STOPPED,
    DZ_SITE_CALL,
    DZ_SITE_TRACE
  } kind;
  i32 place;
  i32 count;
  const char *const *parts;
} dz_site;
