/* OpenMP's threads on the host: checks that the system can start them, and that a child of fork() does not use its parent's.
   Otherwise OpenMP's runtime would end the process if it cannot start a thread, and a child of fork() would wait forever for
   threads that only the parent has. Called when a host context is created, and at the beginning of public calls (mg/call.c). */
#include "context.h"

#include <ctype.h>
#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>
#include <strings.h>
#include <unistd.h>

/* The process in which OpenMP last had threads for the calling thread; 0: none. A child of fork() inherits this number, but not the
   threads. */
static _Thread_local pid_t team_process;

/* The stack size in bytes that an environment variable of OpenMP gives: a number, in kilobytes unless a unit follows. 0: the
   variable is not set or not valid. */
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

/* Whether `count` threads can run at once besides the caller's: starts them all, and then ends them. */
static int can_start(int count)
{
  enum { BYTES_OF_RUNTIME = 1 << 14 }; /* a generous estimate of what the runtime allocates for a thread */
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

/* Runs one parallel region. OpenMP's runtime keeps its threads, so later regions of the calling thread start no new ones. */
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
  /* In a child of fork() gmg_check_process() refuses the calls that need several threads. */
  if (threads < 2 || (team_process && team_process != getpid())) return 1;
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
    return gmg_fail(c, GMG_ERR_UNSUPPORTED, "%s: %d OpenMP threads are not available: OpenMP started them for this thread in "
                    "process %ld, and process %ld, a child of fork(), does not have them; use a context of 1 thread there, or call "
                    "from a thread that it starts", call, c->threads, (long)team_process, me);
  team_process = (pid_t)me;
  return GMG_OK;
}
