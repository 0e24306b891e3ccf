/* Threads of the host: whether as many as are asked for can be had, and whether OpenMP's are still there. A runtime of OpenMP ends
   the process if it cannot start a thread, and in a child of fork() it waits for threads that only the parent has. */
#include "context.h"

#include <ctype.h>
#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>
#include <strings.h>
#include <unistd.h>

/* The process in which OpenMP last had threads for this one; 0: none. A child of fork() has a copy, but not those threads. */
static _Thread_local pid_t team_process;

/* Bytes of a stack as OpenMP's variables give them: a number, by default of kilobytes. 0: not given, or no such number. */
static size_t stack_size_of(const char *text)
{
  static const char units[] = "bkmg";
  char *end = NULL;
  const unsigned long long number = text && *text ? strtoull(text, &end, 10) : 0;
  if (number == 0 || end == text) return 0;
  while (isspace((unsigned char)*end)) end++;
  int shift = 10;
  for (int i = 0; units[i] && *end; i++)
    if (strncasecmp(end, &units[i], 1) == 0) shift = 10 * i;
  return number > SIZE_MAX >> shift ? 0 : (size_t)number << shift;
}

static void *wait_at(void *gate)
{
  pthread_mutex_lock(gate);
  pthread_mutex_unlock(gate);
  return NULL;
}

/* Starts so many threads beside the caller's, all there at once, and ends them. Returns 0 if there are no more. */
static int can_start(int count)
{
  enum { BYTES_OF_RUNTIME = 1 << 14 }; /* an ample share of what the runtime allocates for a thread */
  pthread_attr_t attributes;
  pthread_mutex_t gate = PTHREAD_MUTEX_INITIALIZER;
  pthread_t *thread = malloc((size_t)count * sizeof *thread);
  void *room = malloc((size_t)count * BYTES_OF_RUNTIME);
  const size_t given = stack_size_of(getenv("OMP_STACKSIZE")), size = given ? given : stack_size_of(getenv("GOMP_STACKSIZE"));
  int started = 0;
  if (thread && room && pthread_attr_init(&attributes) == 0) {
    if (size) (void)pthread_attr_setstacksize(&attributes, size); /* too small a size is ignored, as by the runtime */
    pthread_mutex_lock(&gate);
    while (started < count && pthread_create(&thread[started], &attributes, wait_at, &gate) == 0) started++;
    pthread_mutex_unlock(&gate);
    for (int i = 0; i < started; i++) pthread_join(thread[i], NULL);
    pthread_attr_destroy(&attributes);
  }
  free(thread), free(room);
  return started == count;
}

/* The runtime keeps them for the regions of this thread that follow, so that these need no new ones. */
static void start_team(int threads)
{
  int here = 0;
#pragma omp parallel num_threads(threads)
#pragma omp atomic
  here++;
  team_process = getpid();
  (void)here;
}

int gmg_start_threads(int threads)
{
  if (threads < 2 || (team_process && team_process != getpid())) return 1; /* gmg_check_process() refuses what would use them */
  if (!can_start(threads - 1)) return 0;
  start_team(threads);
  return 1;
}

gmg_status gmg_check_process(gmg_context *c, const char *call, int several)
{
  const long me = getpid();
  if (c->device && c->process != me)
    return gmg_fail(c, GMG_ERR_UNSUPPORTED, "%s: the device was opened by process %ld, and process %ld, a child of fork(), cannot "
                    "use it; create a context after fork(), or call exec()", call, c->process, me);
  if (!several || c->threads < 2) return GMG_OK;
  if (team_process && team_process != me)
    return gmg_fail(c, GMG_ERR_UNSUPPORTED, "%s: %d threads of OpenMP cannot be had: this thread had them in process %ld, and "
                    "process %ld is a child of fork(), which has none; use a context of 1 thread there, or call from a thread that "
                    "it starts", call, c->threads, (long)team_process, me);
  team_process = (pid_t)me;
  return GMG_OK;
}
