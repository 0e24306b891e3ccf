/* Contexts on several CUDA devices: they find out who reaches whose memory, and make sums over all devices possible
   (core/cuda/device.h). The table of neighbours is in links.cu. Called through the API. */
extern "C" {
#include "comm/ranks.h"
#include "comm/threads.h"
}

#include "core/cuda/device.h"

#include "gmg_cuda.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* --- one of several -------------------------------------------------------------------------------------------------------- */

/* Who a process is. */
typedef struct {
  long process;
  char host[64];
  int device;
  char bus[32]; /* of the device, the same in all processes of the system */
  gmg_notice *notices;
  cudaIpcMemHandle_t handle;
} identity;

static int same_process(const identity *a, const identity *b)
{
  return a->process == b->process && strcmp(a->host, b->host) == 0;
}

/* What the end of the context releases (core/cuda/context.cu). */
static cudaError_t create_notices(gmg_device *d, int ranks)
{
  cudaError_t error;
  const size_t bytes = 2 * (size_t)ranks * sizeof *d->notices;
  if ((error = cudaMalloc(&d->board, sizeof *d->board))) return error;
  if ((error = cudaMalloc(&d->notices, bytes))) return error;
  if ((error = cudaMallocHost(&d->silent, sizeof *d->silent))) return error;
  *d->silent = 0;
  if ((error = cudaMemsetAsync(d->notices, 0, bytes, d->stream))) return error;
  return cudaStreamSynchronize(d->stream);
}

/* Whether this device can wait for the others, and reaches their memory. */
static gmg_status reach(gmg_device *d, const identity *all, int rank, int ranks)
{
  const identity *me = &all[rank];
  for (int r = 0; r < ranks; r++) {
    if (r == rank) continue;
    if (strcmp(all[r].host, me->host) != 0) return GMG_ERR_UNSUPPORTED;
    if (strcmp(all[r].bus, me->bus) == 0) {
      if (!getenv("GMG_SHARE_DEVICES") || !same_process(&all[r], me)) return GMG_ERR_UNSUPPORTED;
      d->is_shared = 1, d->begins_early = 0; /* a kernel that began early would keep its place from another process, whose kernel
                                                the one before it waits for */
      continue;
    }
    if (!same_process(&all[r], me)) continue; /* opening its memory tells */
    int can = 0;
    if (cudaDeviceCanAccessPeer(&can, me->device, all[r].device) != cudaSuccess || !can) return GMG_ERR_UNSUPPORTED;
    const cudaError_t error = cudaDeviceEnablePeerAccess(all[r].device, 0);
    if (error != cudaSuccess && error != cudaErrorPeerAccessAlreadyEnabled) return GMG_ERR_UNSUPPORTED;
    cudaGetLastError();
  }
  return GMG_OK;
}

/* Finds out which processes are not threads of this one, and opens the notices of those. */
static gmg_status open_notices(gmg_device *d, identity *all, int rank, int ranks)
{
  int any = 0;
  for (int r = 0; r < ranks; r++) any |= !same_process(&all[r], &all[rank]);
  if (!any) return GMG_OK;
  d->foreign = (gmg_notice **)calloc((size_t)ranks, sizeof *d->foreign), d->ranks = ranks;
  if (!d->foreign) return GMG_ERR_MEMORY;
  for (int r = 0; r < ranks; r++) {
    if (same_process(&all[r], &all[rank])) continue;
    void *there = NULL;
    if (cudaIpcOpenMemHandle(&there, all[r].handle, cudaIpcMemLazyEnablePeerAccess) != cudaSuccess) return GMG_ERR_UNSUPPORTED;
    all[r].notices = d->foreign[r] = (gmg_notice *)there;
  }
  return GMG_OK;
}

static gmg_status write_board(gmg_device *d, const identity *all, int rank, int ranks)
{
  gmg_board b = {};
  b.rank = rank, b.ranks = ranks, b.silent = d->silent, b.slow = d->slow;
  for (int r = 0; r < ranks; r++) b.of[r] = all[r].notices;
  const gmg_arrivals shared = {0, d->board};
  if (cudaMemcpy(d->board, &b, sizeof b, cudaMemcpyHostToDevice) != cudaSuccess) return GMG_ERR_DEVICE;
  return cudaMemcpy(d->arrivals + 1, &shared, sizeof shared, cudaMemcpyHostToDevice) == cudaSuccess ? GMG_OK : GMG_ERR_DEVICE;
}

/* For experiments with slow links: GMG_SLOW_LINK in the environment delays messages between processes 0 and 1, in microseconds. */
static gmg_status read_slow_link(gmg_device *d, int rank)
{
  enum { MOST = 1000000 };
  const char *text = getenv("GMG_SLOW_LINK");
  char *end = NULL;
  const double microseconds = text ? strtod(text, &end) : 0;
  d->slow.from = -1;
  if (!text || !*text) return GMG_OK;
  if (*end || !(microseconds >= 0 && microseconds <= MOST)) return GMG_ERR_ARGUMENT;
  if (rank < 2) d->slow.from = 1 - rank, d->slow.nanoseconds = (unsigned)(microseconds * 1000);
  return GMG_OK;
}

/* Makes sums over all devices possible. */
static gmg_status introduce(gmg_context *c)
{
  const gmg_transport *t = &c->ranks->transport;
  gmg_device *d = c->device;
  const cudaError_t created = create_notices(d, t->ranks);
  gmg_status status = created == cudaSuccess ? GMG_OK : created == cudaErrorMemoryAllocation ? GMG_ERR_MEMORY : GMG_ERR_DEVICE;
  if (status == GMG_OK) status = read_slow_link(d, t->rank);
  identity me = {(long)getpid(), {}, d->number, {}, d->notices, {}};
  gethostname(me.host, sizeof me.host - 1);
  cudaDeviceGetPCIBusId(me.bus, sizeof me.bus, d->number);
  if (status == GMG_OK) cudaIpcGetMemHandle(&me.handle, d->notices); /* fails where there is no IPC: threads do not need it */
  identity *all = (identity *)calloc((size_t)t->ranks, sizeof *all);
  if (status == GMG_OK && !all) status = GMG_ERR_MEMORY;
  if (status == GMG_OK && t->ranks > GMG_MOST_DEVICES) status = GMG_ERR_UNSUPPORTED;
  status = gmg_worst_of_ranks(t, status);
  if (status == GMG_OK) {
    t->all_gather(t->data, &me, all, sizeof me);
    status = reach(d, all, t->rank, t->ranks);
    if (status == GMG_OK) status = open_notices(d, all, t->rank, t->ranks);
    if (status == GMG_OK) status = write_board(d, all, t->rank, t->ranks);
    status = gmg_worst_of_ranks(t, status);
  }
  free(all);
  cudaGetLastError();
  return status;
}

extern "C" gmg_status gmg_context_create_cuda_ranks(const gmg_transport *t, const int cut[3], int device, gmg_cuda_stream stream,
                                                    gmg_context **context)
{
  if (context) *context = NULL;
  if (!gmg_is_transport(t)) return GMG_ERR_ARGUMENT;
  GMG_TRY(gmg_join_ranks(t, cut, &gmg_comm_links, gmg_context_create_cuda(device, stream, context), context));
  if (t->ranks == 1) return GMG_OK;
  gmg_status status;
  {
    GMG_WITH_DEVICE(*context);
    status = introduce(*context);
  }
  if (status == GMG_OK) return GMG_OK;
  (*context)->ranks->transport.end = NULL; /* stays the caller's */
  gmg_context_destroy(*context);
  *context = NULL;
  return status;
}

/* --- several devices of one process -------------------------------------------------------------------------------------- */

typedef struct {
  const int *devices;
  const gmg_cuda_stream *streams;
  const int *cut;
} several;

static gmg_status create_one(const gmg_transport *t, int part, void *data, gmg_context **context)
{
  const several *x = (const several *)data;
  return gmg_context_create_cuda_ranks(t, x->cut, x->devices[part], x->streams ? x->streams[part] : NULL, context);
}

extern "C" gmg_status gmg_context_create_cuda_devices(int count, const int devices[], const gmg_cuda_stream streams[],
                                                      const int cut[3], gmg_context *contexts[])
{
  several x = {devices, streams, cut};
  for (int i = 0; contexts && i < count; i++) contexts[i] = NULL;
  return devices ? gmg_create_together(count, create_one, &x, contexts) : GMG_ERR_ARGUMENT;
}
