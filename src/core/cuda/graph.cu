/* Recording and replaying work as CUDA graphs. Called through gmg_graph_ops (core/exec.h). The caller's stream may be one that
   cannot be recorded (the default stream), so recording uses a stream of gmg's own.

   With conditional nodes (CUDA 12.4) the graph of a cycle repeats on the device as long as the stopping rule allows. Without them
   the host launches the graph once for every cycle. */
#include "loop_test.cuh"

#include <stdlib.h>

enum { LOOPS_SINCE = 12040 };

struct gmg_graph {
  cudaGraphExec_t run;
  int conditional;    /* the loop runs on the device */
  int measures_first; /* the graph begins with the first residual */
};

/* The recording in progress. */
typedef struct gmg_recorder {
  cudaStream_t own, callers;
  int has_conditional;        /* the device supports loops */
  int conditional;            /* this recording is a loop on the device: its body is recorded into a conditional node */
  cudaGraph_t whole;          /* the graph that contains the node */
  int measures_first;
  unsigned long long handle;  /* a cudaGraphConditionalHandle */
} recorder;

/* --- before the first cycle ---------------------------------------------------------------------------------------------- */

static __global__ void continue_kernel(gmg_loop_state *s) { s->continues = 1; }

/* Starts a loop that does not begin by measuring a residual. */
static __global__ void start_kernel(gmg_loop_test test) { gmg_loop_start(test); }

/* --- recording -------------------------------------------------------------------------------------------------------- */

/* Whether a call succeeded. A failure here is not one of the device: the work can always be launched directly. */
static int worked(cudaError_t error)
{
  if (error != cudaSuccess) cudaGetLastError();
  return error == cudaSuccess;
}

/* Whether gmg may record and replay: not after a failure, and not while the caller captures the stream. */
static int may_replace_launches(gmg_device *d)
{
  cudaStreamCaptureStatus callers = cudaStreamCaptureStatusNone;
  return d->failed == cudaSuccess && worked(cudaStreamIsCapturing(d->stream, &callers)) && callers == cudaStreamCaptureStatusNone;
}

static int ensure_recorder(gmg_device *d)
{
  int driver = 0;
  if (d->recorder) return 1;
  recorder *r = (recorder *)calloc(1, sizeof *r);
  if (!r) return 0;
  if (!worked(cudaStreamCreateWithFlags(&r->own, cudaStreamNonBlocking))) {
    free(r);
    return 0;
  }
  r->has_conditional = GMG_HAS_LOOPS && !d->no_conditional && worked(cudaDriverGetVersion(&driver)) && driver >= LOOPS_SINCE;
  d->recorder = r;
  return 1;
}

void gmg_recorder_end(gmg_device *d)
{
  if (d->recorder) cudaStreamDestroy(d->recorder->own);
  free(d->recorder);
}

#if GMG_HAS_LOOPS
static int record_into(recorder *r, cudaGraph_t graph)
{
  return worked(cudaStreamBeginCaptureToGraph(r->own, graph, NULL, NULL, 0, cudaStreamCaptureModeThreadLocal));
}
#endif

/* Begins a graph with a loop. First the work before the loop is recorded. */
static int begin_loop(recorder *r)
{
#if GMG_HAS_LOOPS
  if (!worked(cudaGraphCreate(&r->whole, 0))) return 0;
  if (worked(cudaGraphConditionalHandleCreate(&r->handle, r->whole, 0, cudaGraphCondAssignDefault)) && record_into(r, r->whole))
    return 1;
  cudaGraphDestroy(r->whole);
#endif
  r->whole = NULL;
  return 0;
}

/* Begins to record the body of the loop, which depends on all earlier nodes. */
static int begin_body(recorder *r)
{
#if GMG_HAS_LOOPS
  enum { MAX_NODES = 16 };
  cudaGraph_t before = NULL;
  cudaGraphNode_t node, earlier[MAX_NODES];
  size_t n = MAX_NODES;
  cudaGraphNodeParams p = {};
  p.type = cudaGraphNodeTypeConditional, p.conditional.type = cudaGraphCondTypeWhile, p.conditional.size = 1;
  p.conditional.handle = r->handle;
  if (!worked(cudaStreamEndCapture(r->own, &before)) || !worked(cudaGraphGetNodes(r->whole, NULL, &n)) || n > MAX_NODES) return 0;
  if (!worked(cudaGraphGetNodes(r->whole, earlier, &n))) return 0;
#if CUDART_VERSION >= 13000
  const cudaError_t added = cudaGraphAddNode(&node, r->whole, earlier, NULL, n, &p);
#else
  const cudaError_t added = cudaGraphAddNode(&node, r->whole, earlier, n, &p);
#endif
  return worked(added) && record_into(r, p.conditional.phGraph_out[0]);
#else
  (void)r;
  return 0;
#endif
}

static int begin(gmg_context *c, int loop)
{
  gmg_device *d = c->device;
  if (!may_replace_launches(d) || !ensure_recorder(d)) return 0;
  recorder *r = d->recorder;
  r->measures_first = 0;
  r->conditional = loop && r->has_conditional && begin_loop(r);
  if (!r->conditional && !worked(cudaStreamBeginCapture(r->own, cudaStreamCaptureModeThreadLocal))) return 0;
  r->callers = d->stream, d->stream = r->own;
  d->recording = GMG_RECORDING;
  d->loop_test = loop ? gmg_loop_test{d->loop_state, d->loop_result, r->conditional, r->handle} : gmg_loop_test{};
  return 1;
}

static int measures_first(gmg_context *c) { return ensure_recorder(c->device) && c->device->recorder->has_conditional; }

static void loop_body_begin(gmg_context *c, int with_first)
{
  gmg_device *d = c->device;
  recorder *r = d->recorder;
  r->measures_first = with_first;
  if (!with_first) start_kernel<<<1, 1, 0, r->own>>>(d->loop_test);
  if (r->conditional ? begin_body(r) : !with_first) return;
  d->recording = GMG_RECORDING_INVALID, r->has_conditional = 0;
  if (!r->conditional) return;
  cudaGraphDestroy(r->whole);
  r->conditional = 0, r->whole = NULL;
  worked(cudaStreamBeginCapture(r->own, cudaStreamCaptureModeThreadLocal)); /* the remaining work of this recording must not
                                                                               execute */
}

/* Instantiates a graph, including all memory that its launches need. */
static gmg_graph *instantiated(cudaGraph_t whole, const recorder *r, cudaStream_t stream)
{
  gmg_graph *g = (gmg_graph *)calloc(1, sizeof *g);
  if (!g) return NULL;
  g->conditional = r->conditional, g->measures_first = r->measures_first;
  if (worked(cudaGraphInstantiateWithFlags(&g->run, whole, 0))) {
    if (worked(cudaGraphUpload(g->run, stream))) return g;
    worked(cudaGraphExecDestroy(g->run));
  }
  free(g);
  return NULL;
}

static gmg_graph *end(gmg_context *c)
{
  gmg_device *d = c->device;
  recorder *r = d->recorder;
  cudaGraph_t recorded = NULL;
  const int complete = worked(cudaStreamEndCapture(r->own, &recorded)) && d->recording == GMG_RECORDING && d->failed == cudaSuccess;
  cudaGetLastError();
  d->stream = r->callers, d->recording = GMG_NOT_RECORDING, d->loop_test = gmg_loop_test{};
  d->failed = cudaSuccess; /* recording requires cudaSuccess, so this undoes failures during the recording */
  if (r->conditional) recorded = r->whole;
  r->whole = NULL;
  gmg_graph *g = complete ? instantiated(recorded, r, d->stream) : NULL;
  if (recorded) cudaGraphDestroy(recorded);
  return g;
}

static void destroy(gmg_graph *g)
{
  if (!g) return;
  worked(cudaGraphExecDestroy(g->run)); /* a running launch ends first */
  free(g);
}

/* --- replaying -------------------------------------------------------------------------------------------------------- */

static int replay(gmg_context *c, gmg_graph *g)
{
  gmg_device *d = c->device;
  if (!may_replace_launches(d)) return 0;
  if (c->comm->meet) c->comm->meet(c);
  gmg_cuda_note(d, cudaGraphLaunch(g->run, d->stream), "a graph");
  return 1;
}

static void run_loop(gmg_context *c, gmg_graph *g, const gmg_loop *loop)
{
  gmg_device *d = c->device;
  gmg_loop_result *result = d->loop_result;
  const int most = g->conditional ? GMG_LOOP_CYCLES : 1;
  result->loop = *loop;
  result->cycles = 0;
  if (loop->max_cycles > most) result->loop.max_cycles = most;
  if (loop->measures_first) result->loop.state = gmg_stopping_state{loop->state.f_norm, NAN, 0, NAN, 0};
  if (!loop->measures_first && g->measures_first) continue_kernel<<<1, 1, 0, d->stream>>>(d->loop_state);
  if (c->comm->meet) c->comm->meet(c);
  gmg_cuda_note(d, cudaGetLastError(), "a graph");
  gmg_cuda_note(d, cudaGraphLaunch(g->run, d->stream), "a graph");
}

static int end_loop(gmg_context *c, gmg_loop *loop, double *norms)
{
  gmg_device *d = c->device;
  const gmg_loop_result *result = d->loop_result;
  d->waits++;
  gmg_cuda_note(d, cudaStreamSynchronize(d->stream), "a graph");
  if (loop->measures_first) loop->state = result->loop.state;
  loop->mean = result->loop.mean, loop->has_converged = result->loop.has_converged;
  if (d->failed != cudaSuccess) return 0;
  for (int i = 0; i < result->cycles; i++) norms[i] = result->norm[i];
  return result->cycles;
}

extern "C" const gmg_graph_ops gmg_graph_cuda = {begin, measures_first, loop_body_begin, end, replay, run_loop, end_loop, destroy};
