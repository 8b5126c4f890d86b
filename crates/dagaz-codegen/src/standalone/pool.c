/* The threads that parallel loops run on. They are made when a loop first needs them. */
#include <pthread.h>

enum { DZ_POOL_STACK = 256 << 20, DZ_POOL_RESERVE = 1 << 20, DZ_POOL_PATIENCE = 4096 };

typedef struct {
  struct dz_pool *pool;
  i64 number;
  pthread_t id;
} dz_worker;

typedef struct dz_pool {
  int count; /* threads besides the caller's */
  int started;
  dz_worker *workers;
  pthread_mutex_t lock;
  pthread_cond_t wake, done;
  bool stopping;
  char busy; /* a loop is running: a loop inside of it runs in one thread */
  i64 tickets; /* threads that the loop still wants */
  i64 active;
  void (*work)(void *job, dz_thread thread);
  void *job;
} dz_pool;

/* A job is there, or will not come soon. Looking for a while saves the time of being woken. */
static void dz_pool_watch(const i64 *value, bool until_positive) {
  for (i32 i = 0; i < DZ_POOL_PATIENCE; i++) {
    if ((__atomic_load_n(value, __ATOMIC_ACQUIRE) > 0) == until_positive) return;
    dz_pause();
  }
}

static void *dz_pool_thread(void *shared) {
  const dz_worker *worker = shared;
  dz_pool *pool = worker->pool;
  const dz_thread thread = {(char *)__builtin_frame_address(0) - (DZ_POOL_STACK - DZ_POOL_RESERVE), worker->number};
  for (;;) {
    dz_pool_watch(&pool->tickets, true);
    pthread_mutex_lock(&pool->lock);
    while (pool->tickets == 0 && !pool->stopping) pthread_cond_wait(&pool->wake, &pool->lock);
    if (pool->stopping) break;
    __atomic_fetch_sub(&pool->tickets, 1, __ATOMIC_RELAXED);
    __atomic_fetch_add(&pool->active, 1, __ATOMIC_RELAXED);
    pthread_mutex_unlock(&pool->lock);
    pool->work(pool->job, thread);
    pthread_mutex_lock(&pool->lock);
    if (__atomic_sub_fetch(&pool->active, 1, __ATOMIC_RELEASE) == 0) pthread_cond_signal(&pool->done);
    pthread_mutex_unlock(&pool->lock);
  }
  pthread_mutex_unlock(&pool->lock);
  return NULL;
}

static bool dz_pool_start(dz_pool *pool) {
  pthread_attr_t attributes;
  pool->workers = calloc(pool->count, sizeof *pool->workers);
  if (!pool->workers || pthread_attr_init(&attributes) != 0) return false;
  bool is_large = pthread_attr_setstacksize(&attributes, DZ_POOL_STACK) == 0;
  while (is_large && pool->started < pool->count) {
    dz_worker *worker = &pool->workers[pool->started];
    *worker = (dz_worker){.pool = pool, .number = pool->started + 1};
    if (pthread_create(&worker->id, &attributes, dz_pool_thread, worker) != 0) break;
    pool->started++;
  }
  pthread_attr_destroy(&attributes);
  return pool->started > 0;
}

static dz_pool *dz_pool_new(int threads) {
  dz_pool *pool = calloc(1, sizeof *pool);
  if (!pool) return NULL;
  pool->count = threads - 1;
  pthread_mutex_init(&pool->lock, NULL);
  pthread_cond_init(&pool->wake, NULL);
  pthread_cond_init(&pool->done, NULL);
  return pool;
}

static void dz_pool_free(dz_pool *pool) {
  if (!pool) return;
  pthread_mutex_lock(&pool->lock);
  pool->stopping = true;
  pthread_cond_broadcast(&pool->wake);
  pthread_mutex_unlock(&pool->lock);
  for (int i = 0; i < pool->started; i++) pthread_join(pool->workers[i].id, NULL);
  pthread_mutex_destroy(&pool->lock);
  pthread_cond_destroy(&pool->wake);
  pthread_cond_destroy(&pool->done);
  free(pool->workers);
  free(pool);
}

/* Calls `work` in up to so many threads, one of them this one. Work that finds nothing left to do returns at once, so
   threads that come too late are not waited for. */
static void dz_pool_run(dz_pool *pool, void (*work)(void *, dz_thread), void *job, i64 threads, dz_thread thread) {
  if (!pool || __atomic_test_and_set(&pool->busy, __ATOMIC_ACQUIRE)) {
    work(job, thread);
    return;
  }
  if (pool->started || (!pool->workers && dz_pool_start(pool))) {
    pthread_mutex_lock(&pool->lock);
    pool->work = work;
    pool->job = job;
    __atomic_store_n(&pool->tickets, threads - 1 < pool->started ? threads - 1 : pool->started, __ATOMIC_RELEASE);
    pthread_cond_broadcast(&pool->wake);
    pthread_mutex_unlock(&pool->lock);
    work(job, thread);
    dz_pool_watch(&pool->active, false);
    pthread_mutex_lock(&pool->lock);
    __atomic_store_n(&pool->tickets, 0, __ATOMIC_RELEASE);
    while (pool->active > 0) pthread_cond_wait(&pool->done, &pool->lock);
    pthread_mutex_unlock(&pool->lock);
  } else {
    work(job, thread);
  }
  __atomic_clear(&pool->busy, __ATOMIC_RELEASE);
}
