/* See slow_link.h. The times of sending travel with the messages: processes of one host have the same clock. */
#include "slow_link.h"

#include <time.h>

enum { TAG = 1 };

/* One of the program. */
static MPI_Comm between;
static double delay;

static double now(void)
{
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void wait_until(double time)
{
  while (now() < time) continue;
}

static void shift(void *data, int to, const void *send, size_t send_bytes, int from, void *receive, size_t receive_bytes)
{
  const int out = to < 0 ? MPI_PROC_NULL : to, in = from < 0 ? MPI_PROC_NULL : from;
  const double sent = now();
  double theirs = sent;
  (void)data;
  MPI_Sendrecv(send, (int)send_bytes, MPI_BYTE, out, TAG, receive, (int)receive_bytes, MPI_BYTE, in, TAG, between, MPI_STATUS_IGNORE);
  MPI_Sendrecv(&sent, 1, MPI_DOUBLE, out, TAG, &theirs, 1, MPI_DOUBLE, in, TAG, between, MPI_STATUS_IGNORE);
  if (from >= 0) wait_until(theirs + delay);
}

static void all_gather(void *data, const void *send, void *receive, size_t bytes)
{
  const double sent = now();
  double last = sent;
  (void)data;
  MPI_Allgather(send, (int)bytes, MPI_BYTE, receive, (int)bytes, MPI_BYTE, between);
  MPI_Allreduce(&sent, &last, 1, MPI_DOUBLE, MPI_MAX, between);
  wait_until(last + delay);
}

gmg_transport bench_slow_transport(MPI_Comm comm, double seconds)
{
  gmg_transport t = {.shift = shift, .all_gather = all_gather};
  between = comm, delay = seconds;
  MPI_Comm_rank(comm, &t.rank);
  MPI_Comm_size(comm, &t.ranks);
  return t;
}
