/* Timers and profiler ranges on a CUDA device. Times are measured between events on the stream. Called through
   gmg_trace_ops (core/exec.h). */
#include "device.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#ifdef GMG_NVTX
#include <nvtx3/nvToolsExt.h>
#endif

/* --- time ------------------------------------------------------------------------------------------------------------- */

enum { MARKS = 1024 };

/* The time between a mark and the next belongs to the mark's timer. */
struct gmg_marks {
  int used, timer[MARKS];
  cudaEvent_t event[MARKS];
};

static void clock_destroy(gmg_context *c, gmg_clock *clock)
{
  (void)c;
  for (int i = 0; clock->marks && i < MARKS; i++)
    if (clock->marks->event[i]) cudaEventDestroy(clock->marks->event[i]);
  free(clock->marks);
  clock->marks = NULL;
}

static gmg_status clock_create(gmg_context *c, gmg_clock *clock)
{
  clock->marks = (gmg_marks *)calloc(1, sizeof *clock->marks);
  int made = 0;
  while (clock->marks && made < MARKS && cudaEventCreate(&clock->marks->event[made]) == cudaSuccess) made++;
  if (made == MARKS) return GMG_OK;
  cudaGetLastError();
  clock_destroy(c, clock);
  return gmg_fail(c, GMG_ERR_MEMORY, "%d events to measure time with could not be created", (int)MARKS);
}

/* Adds the times between marks. Blocks until the device has reached the last mark, which becomes the first of the next series. */
static void add_up(gmg_context *c, gmg_clock *clock)
{
  gmg_marks *m = clock->marks;
  const int last = m->used - 1;
  gmg_cuda_note(c->device, cudaEventSynchronize(m->event[last]), "time of the levels");
  for (int i = 0; i < last; i++) {
    float milliseconds = 0;
    if (m->timer[i] < 0) continue;
    const cudaError_t error = cudaEventElapsedTime(&milliseconds, m->event[i], m->event[i + 1]);
    gmg_cuda_note(c->device, error, "time of the levels");
    clock->seconds[m->timer[i]] += error == cudaSuccess ? 1e-3 * milliseconds : NAN;
  }
  const cudaEvent_t first = m->event[0];
  m->event[0] = m->event[last], m->timer[0] = m->timer[last];
  m->event[last] = first; /* if last is 0, this changes nothing */
  m->used = 1;
}

static void start_timer(gmg_context *c, gmg_clock *clock, int timer)
{
  gmg_marks *m = clock->marks;
  if (!m || timer == clock->timer) return;
  if (m->used == MARKS) add_up(c, clock);
  gmg_cuda_note(c->device, cudaEventRecord(m->event[m->used], c->device->stream), "time of the levels");
  m->timer[m->used++] = clock->timer = timer;
}

static void read_timers(gmg_context *c, gmg_clock *clock)
{
  if (clock->marks && clock->marks->used > 0) add_up(c, clock);
  for (int l = 0; !clock->marks && l < GMG_MAX_LEVELS; l++) clock->seconds[l] = NAN;
}

/* --- ranges ----------------------------------------------------------------------------------------------------------- */

#ifdef GMG_NVTX

void gmg_profiler_begin(gmg_device *d) { d->profiler = nvtxDomainCreateA("gmg"); } /* NULL without a profiler */

void gmg_profiler_end(gmg_device *d)
{
  if (d->profiler) nvtxDomainDestroy((nvtxDomainHandle_t)d->profiler);
}

static void profile_begin(gmg_context *c, int level, const char *operation)
{
  char text[64];
  nvtxEventAttributes_t range = {};
  if (!c->device->profiler) return;
  snprintf(text, sizeof text, "%s %d", operation, level);
  range.version = NVTX_VERSION, range.size = NVTX_EVENT_ATTRIB_STRUCT_SIZE;
  range.messageType = NVTX_MESSAGE_TYPE_ASCII, range.message.ascii = text;
  range.payloadType = NVTX_PAYLOAD_TYPE_INT32, range.payload.iValue = level;
  nvtxDomainRangePushEx((nvtxDomainHandle_t)c->device->profiler, &range);
}

static void profile_end(gmg_context *c)
{
  if (c->device->profiler) nvtxDomainRangePop((nvtxDomainHandle_t)c->device->profiler);
}

#else

void gmg_profiler_begin(gmg_device *d) { d->profiler = NULL; }
void gmg_profiler_end(gmg_device *d) { (void)d; }
static void profile_begin(gmg_context *c, int level, const char *operation) { (void)c, (void)level, (void)operation; }
static void profile_end(gmg_context *c) { (void)c; }

#endif

extern "C" const gmg_trace_ops gmg_trace_cuda = {clock_create, clock_destroy, start_timer, read_timers, profile_begin, profile_end};
