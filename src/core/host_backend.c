/* The host's backend: memory aligned to cache lines, the clock, and the table of its operations. Only exec.c uses the table. */
#include "backend.h"

#include <omp.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { CACHE_LINE = 64, PAGE = 4096, MIN_BYTES_HUGE_PAGES = 1 << 22 };

/* Requests huge pages for large fields, which saves address translations. A failed request has no effect. */
static void *host_alloc(gmg_context *c, size_t bytes)
{
  (void)c;
  if (bytes > SIZE_MAX - PAGE) return NULL;
  char *p = aligned_alloc(CACHE_LINE, (bytes + CACHE_LINE - 1) / CACHE_LINE * CACHE_LINE);
  const size_t skip = (PAGE - (uintptr_t)p % PAGE) % PAGE;
  if (p && bytes >= MIN_BYTES_HUGE_PAGES) madvise(p + skip, bytes - skip, MADV_HUGEPAGE);
  return p;
}

static void host_release(gmg_context *c, void *p)
{
  (void)c;
  free(p);
}

static void host_copy(gmg_context *c, void *to, const void *from, size_t bytes)
{
  (void)c;
  if (bytes) memcpy(to, from, bytes);
}

/* Copies what is there already, which doubles every time. */
static void host_repeat(gmg_context *c, void *to, const void *from, size_t bytes, size_t count)
{
  const size_t all = bytes * count;
  (void)c;
  if (all == 0) return;
  memcpy(to, from, bytes);
  for (size_t done = bytes; done < all; done *= 2) memcpy((char *)to + done, to, done < all - done ? done : all - done);
}

static void host_count_up(gmg_context *c, int *to, size_t n, int period, const int at[], int step)
{
  (void)c;
  for (int p = 0; p < period; p++)
    for (size_t i = (size_t)p, value = 0; i < n; i += (size_t)period, value++) to[i] = at[p] + step * (int)value;
}

/* The limit on a solver's memory: Linux grants more than it has, and kills the process that uses it. */
static size_t physical_memory(gmg_context *c)
{
  (void)c;
  const long pages = sysconf(_SC_PHYS_PAGES), bytes = sysconf(_SC_PAGESIZE);
  return pages > 0 && bytes > 0 ? (size_t)pages * (size_t)bytes : SIZE_MAX;
}

static gmg_status always_well(gmg_context *c)
{
  (void)c;
  return GMG_OK;
}

const gmg_memory_ops gmg_memory_host = {.alloc = host_alloc,
                                        .release = host_release,
                                        .max_bytes = physical_memory,
                                        .upload = host_copy,
                                        .download = host_copy,
                                        .repeat = host_repeat,
                                        .count_up = host_count_up,
                                        .health = always_well};

static gmg_status no_marks(gmg_context *c, gmg_clock *clock) { return (void)c, (void)clock, GMG_OK; }
static void do_nothing(gmg_context *c, gmg_clock *clock) { (void)c, (void)clock; }

static void start_timer(gmg_context *c, gmg_clock *clock, int timer)
{
  (void)c;
  const double t = omp_get_wtime();
  if (clock->timer >= 0) clock->seconds[clock->timer] += t - clock->start;
  clock->timer = timer, clock->start = t;
}

static const gmg_trace_ops trace = {.clock_create = no_marks, .clock_destroy = do_nothing, .start_timer = start_timer,
                                    .read_timers = do_nothing};

extern const struct gmg_grid_ops gmg_grid_host_f32, gmg_grid_host_f64;
extern const struct gmg_coarse_kernels gmg_coarse_kernels_host_f32, gmg_coarse_kernels_host_f64;
extern const struct gmg_array_ops gmg_array_host_f32, gmg_array_host_f64;

const gmg_backend_tables gmg_host_backend = {.memory = &gmg_memory_host,
                                             .trace = &trace,
                                             .vector = {[GMG_F32] = &gmg_vector_host_f32, [GMG_F64] = &gmg_vector_host_f64},
                                             .array = {[GMG_F32] = &gmg_array_host_f32, [GMG_F64] = &gmg_array_host_f64},
                                             .grid = {[GMG_F32] = &gmg_grid_host_f32, [GMG_F64] = &gmg_grid_host_f64},
                                             .coarse = {[GMG_F32] = &gmg_coarse_kernels_host_f32,
                                                        [GMG_F64] = &gmg_coarse_kernels_host_f64}, .has_exact_sums = 1};
