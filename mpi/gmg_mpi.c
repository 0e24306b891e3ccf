/* The transport of gmg_transport.h over MPI. */
#include "gmg_mpi.h"
#include "gmg_transport.h"

#include <stdlib.h>

enum { PIECE = 1 << 30, TAG = 1 }; /* bytes of a message: MPI counts with int */

static size_t smaller(size_t a, size_t b) { return a < b ? a : b; }

static void shift(void *data, int to, const void *send, size_t send_bytes, int from, void *receive, size_t receive_bytes)
{
  MPI_Comm comm = *(MPI_Comm *)data;
  const size_t most = send_bytes > receive_bytes ? send_bytes : receive_bytes;
  for (size_t done = 0; done < most; done += PIECE) {
    const size_t out = done < send_bytes ? smaller(PIECE, send_bytes - done) : 0;
    const size_t in = done < receive_bytes ? smaller(PIECE, receive_bytes - done) : 0;
    MPI_Sendrecv((const char *)send + done, (int)out, MPI_BYTE, out && to >= 0 ? to : MPI_PROC_NULL, TAG, (char *)receive + done,
                 (int)in, MPI_BYTE, in && from >= 0 ? from : MPI_PROC_NULL, TAG, comm, MPI_STATUS_IGNORE);
  }
}

static void all_gather(void *data, const void *send, void *receive, size_t bytes)
{
  MPI_Comm comm = *(MPI_Comm *)data;
  if (bytes <= PIECE) {
    MPI_Allgather(send, (int)bytes, MPI_BYTE, receive, (int)bytes, MPI_BYTE, comm);
    return;
  }
  int ranks, rank;
  MPI_Comm_size(comm, &ranks);
  MPI_Comm_rank(comm, &rank);
  for (int r = 0; r < ranks; r++) {
    char *to = (char *)receive + (size_t)r * bytes;
    for (size_t i = 0; r == rank && i < bytes; i++) to[i] = ((const char *)send)[i];
    for (size_t done = 0; done < bytes; done += PIECE)
      MPI_Bcast(to + done, (int)smaller(PIECE, bytes - done), MPI_BYTE, r, comm);
  }
}

static void end(void *data)
{
  MPI_Comm_free(data);
  free(data);
}

/* Where a process solves: on host threads, or on a device. */
typedef struct {
  int threads, on_device, device;
  gmg_cuda_stream stream;
} place;

static gmg_status create(MPI_Comm comm, const int cut[3], place at, gmg_context **context)
{
  int begun = 0, ended = 0, mine, together;
  if (context) *context = NULL;
  MPI_Initialized(&begun);
  MPI_Finalized(&ended);
  if (!begun || ended || comm == MPI_COMM_NULL) return GMG_ERR_ARGUMENT;
  MPI_Comm *own = malloc(sizeof *own);
  mine = own != NULL;
  MPI_Allreduce(&mine, &together, 1, MPI_INT, MPI_MIN, comm);
  if (!together) {
    free(own);
    return GMG_ERR_MEMORY;
  }
  MPI_Comm_dup(comm, own);
  gmg_transport t = {.data = own, .shift = shift, .all_gather = all_gather, .end = end};
  MPI_Comm_rank(*own, &t.rank);
  MPI_Comm_size(*own, &t.ranks);
  const gmg_status status = at.on_device ? gmg_context_create_cuda_ranks(&t, cut, at.device, at.stream, context)
                                         : gmg_context_create_ranks(&t, cut, at.threads, context);
  if (status != GMG_OK) end(own);
  return status;
}

gmg_status gmg_context_create_mpi(MPI_Comm comm, const int cut[3], int threads, gmg_context **context)
{
  return create(comm, cut, (place){.threads = threads}, context);
}

gmg_status gmg_context_create_mpi_cuda(MPI_Comm comm, const int cut[3], int device, gmg_cuda_stream stream, gmg_context **context)
{
  return create(comm, cut, (place){.on_device = 1, .device = device, .stream = stream}, context);
}

/* --- communicators of Fortran ------------------------------------------------------------------------------------------------ */

/* MPI converts them only while it runs. */
static MPI_Comm from_fortran(int comm)
{
  int begun = 0, ended = 0;
  MPI_Initialized(&begun);
  MPI_Finalized(&ended);
  return begun && !ended ? MPI_Comm_f2c((MPI_Fint)comm) : MPI_COMM_NULL;
}

gmg_status gmg_context_create_mpi_fortran(int comm, const int cut[3], int threads, gmg_context **context)
{
  return gmg_context_create_mpi(from_fortran(comm), cut, threads, context);
}

gmg_status gmg_context_create_mpi_cuda_fortran(int comm, const int cut[3], int device, gmg_cuda_stream stream,
                                               gmg_context **context)
{
  return gmg_context_create_mpi_cuda(from_fortran(comm), cut, device, stream, context);
}
