/* See ranks.h. mpirun's own variables tell how many processes there are, so a program that is started alone does not start MPI. */
#include "ranks.h"

#include <math.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Open MPI's; that of MPICH and its relatives. */
static const char *const numbers_of_processes[] = {"OMPI_COMM_WORLD_SIZE", "PMI_SIZE"};

int demo_ranks_started(void)
{
  int most = 1;
  for (size_t i = 0; i < sizeof numbers_of_processes / sizeof *numbers_of_processes; i++) {
    const char *text = getenv(numbers_of_processes[i]);
    int number;
    if (text && demo_parse_int(text, 1, 1 << 30, &number) && number > most) most = number;
  }
  return most;
}

#ifdef DEMO_MPI
#include "gmg_mpi.h"

static int rank, ranks = 1, uses_mpi;

void demo_ranks_begin(int *argc, char ***argv)
{
  int provided;
  if (demo_ranks_started() == 1) return;
  MPI_Init_thread(argc, argv, MPI_THREAD_FUNNELED, &provided);
  uses_mpi = 1;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  if (rank == 0) return;
  if (!freopen("/dev/null", "w", stdout) || !freopen("/dev/null", "w", stderr)) MPI_Abort(MPI_COMM_WORLD, 1);
}

int demo_ranks_end(int code)
{
  if (!uses_mpi) return code;
  MPI_Allreduce(MPI_IN_PLACE, &code, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
  MPI_Finalize();
  return code;
}

int demo_rank(void) { return rank; }
int demo_ranks(void) { return ranks; }

int demo_ranks_agree(const demo_options *o, int failed)
{
  struct {
    int number, rank;
  } mine = {failed ? rank : ranks, rank}, first = mine;
  char text[DEMO_LONGEST_FAILURE];
  if (ranks == 1) return failed;
  MPI_Allreduce(&mine.number, &first.number, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
  if (first.number == ranks) return 0;
  memcpy(text, demo_last_failure(), sizeof text);
  MPI_Bcast(text, sizeof text, MPI_CHAR, first.number, MPI_COMM_WORLD);
  if (first.number > 0) demo_fail(o, "process %d: %s", first.number, text);
  return failed > 1 ? failed : 1;
}

void demo_ranks_sum(int count, double *values)
{
  if (ranks > 1) MPI_Allreduce(MPI_IN_PLACE, values, count, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
}

double demo_ranks_max(double value)
{
  double both[2] = {isnan(value) ? INFINITY : value, isnan(value)};
  if (ranks > 1) MPI_Allreduce(MPI_IN_PLACE, both, 2, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
  return both[1] > 0 ? NAN : both[0];
}

size_t demo_ranks_largest(const demo_box *mine)
{
  unsigned long long n = mine->n[0] * mine->n[1] * mine->n[2];
  if (ranks > 1) MPI_Allreduce(MPI_IN_PLACE, &n, 1, MPI_UNSIGNED_LONG_LONG, MPI_MAX, MPI_COMM_WORLD);
  return (size_t)n;
}

enum { TAG_BOX, TAG_FIELD, MOST_AT_ONCE = 1 << 30 };

/* A message may be longer than an int can tell. */
static void pass(int to, int from, char *field, size_t bytes)
{
  for (size_t at = 0; at < bytes; at += MOST_AT_ONCE) {
    const int some = (int)(bytes - at < MOST_AT_ONCE ? bytes - at : MOST_AT_ONCE);
    if (rank == from) MPI_Send(field + at, some, MPI_BYTE, to, TAG_FIELD, MPI_COMM_WORLD);
    else MPI_Recv(field + at, some, MPI_BYTE, from, TAG_FIELD, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  }
}

void demo_ranks_bring(int r, const demo_box *mine, const void *own, size_t value_bytes, demo_box *box, void *field)
{
  if (rank == r) {
    MPI_Send(mine, sizeof *mine, MPI_BYTE, 0, TAG_BOX, MPI_COMM_WORLD);
    pass(0, r, (char *)own, mine->n[0] * mine->n[1] * mine->n[2] * value_bytes);
  } else if (rank == 0) {
    MPI_Recv(box, sizeof *box, MPI_BYTE, r, TAG_BOX, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    pass(0, r, field, box->n[0] * box->n[1] * box->n[2] * value_bytes);
  }
}

/* Processes on this machine, and the number of this one among them. */
static void find_neighbours(int *mine, int *all)
{
  MPI_Comm here;
  MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, rank, MPI_INFO_NULL, &here);
  MPI_Comm_rank(here, mine);
  MPI_Comm_size(here, all);
  MPI_Comm_free(&here);
}

/* An equal share of the cores, or those that mpirun has bound this process to, if they are fewer. */
static int fair_threads(int processes)
{
  cpu_set_t set;
  const int cores = (int)sysconf(_SC_NPROCESSORS_ONLN), share = cores / processes;
  const int bound = sched_getaffinity(0, sizeof set, &set) == 0 ? CPU_COUNT(&set) : cores;
  const int threads = bound < share ? bound : share;
  return threads > 0 ? threads : 1;
}

static int on_hosts(demo_options *o, const int *cut, int here, const char *why, gmg_context **context)
{
  const int threads = o->threads > 0 ? o->threads : fair_threads(here);
  o->device.kind = DEMO_HOST;
  snprintf(o->device_name, sizeof o->device_name, "host");
  const gmg_status status = gmg_context_create_mpi(MPI_COMM_WORLD, cut, threads, context);
  if (status) return demo_fail(o, "%s: contexts of %d processes with %d threads each", gmg_status_string(status), ranks, threads);
  if (!o->quiet) printf("device   host, %d processes, %d threads each%s%s%s\n", ranks, threads, why ? " (" : "", why ? why : "", why ? ")" : "");
  return 0;
}

int demo_ranks_context(demo_options *o, gmg_context **context)
{
  int cut[3] = {1, 1, 1}, number, here;
  if (o->cut.count == 0) cut[0] = cut[1] = cut[2] = 0;
  for (int a = 0; a < o->cut.count; a++) cut[a] = (int)o->cut.value[a];
  if (ranks == 1) return demo_context_create(o, context);
  find_neighbours(&number, &here);
  if (o->device.kind == DEMO_HOST) return on_hosts(o, cut, here, NULL, context);
  if (o->device.kind == DEMO_BEST && o->threads > 0) return on_hosts(o, cut, here, "as --threads asks for", context);
  o->device.number += number;
  const gmg_status status = gmg_context_create_mpi_cuda(MPI_COMM_WORLD, cut, o->device.number, NULL, context);
  if (status && o->device.kind == DEMO_BEST) return on_hosts(o, cut, here, demo_why_no_device(status), context);
  if (status) return demo_fail(o, "--device cuda: %d devices, one for each process: %s", ranks, demo_why_no_device(status));
  if (!o->quiet) printf("device   cuda, %d processes with a device each\n", ranks);
  return demo_ranks_agree(o, demo_use_device(o) ? 0 : demo_fail(o, "cuda:%d cannot be used", o->device.number));
}

#else

void demo_ranks_begin(int *argc, char ***argv) { (void)argc, (void)argv; }
int demo_ranks_end(int code) { return code; }
int demo_rank(void) { return 0; }
int demo_ranks(void) { return 1; }
int demo_ranks_agree(const demo_options *o, int failed) { return (void)o, failed; }
void demo_ranks_sum(int count, double *values) { (void)count, (void)values; }
double demo_ranks_max(double value) { return value; }
int demo_ranks_context(demo_options *o, gmg_context **context) { return demo_context_create(o, context); }
size_t demo_ranks_largest(const demo_box *mine) { return mine->n[0] * mine->n[1] * mine->n[2]; }

void demo_ranks_bring(int r, const demo_box *mine, const void *own, size_t value_bytes, demo_box *box, void *field)
{
  (void)r, (void)mine, (void)own, (void)value_bytes, (void)box, (void)field; /* nobody else */
}
#endif
