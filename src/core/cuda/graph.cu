/* Work on a CUDA device that is recorded once and replayed: CUDA graphs. The stream that the caller gave may be one that cannot be
   recorded (the default stream), so a stream of the device's own stands in for it meanwhile.

   Where toolkit and driver have conditional nodes (CUDA 12.4), a graph of a cycle goes round on the device until the outlook is no
   longer good; elsewhere it is launched once for every cycle. */
#include "loop_test.cuh"

#include <stdlib.h>

enum { LOOPS_SINCE = 12040 };

struct gmg_graph {
  cudaGraphExec_t run;
  int goes_round, leads; /* leads: it begins with a first residual */
};

/* Of the recording that is being made. */
typedef struct gmg_recorder {
  cudaStream_t own, callers;
  int can_go_round;
  int goes_round, leads; /* this one does: what goes round is recorded into the body of */
  cudaGraph_t whole;     /* which does it while there is */
  unsigned long long again; /* a cudaGraphConditionalHandle */
} recorder;

/* --- before the first cycle ---------------------------------------------------------------------------------------------- */

static __global__ void go_on_kernel(gmg_tally *t) { t->under_way = 1; }

/* Where no kernel that sums a first residual does it. */
static __global__ void start_kernel(gmg_turn turn) { gmg_turn_start(turn); }

/* --- recording -------------------------------------------------------------------------------------------------------- */

/* Nothing that fails here is a failure of the device: there are always the launches themselves. */
static int worked(cudaError_t error)
{
  if (error != cudaSuccess) cudaGetLastError();
  return error == cudaSuccess;
}

/* Not where the caller records the stream. */
static int may_replace_launches(gmg_device *d)
{
  cudaStreamCaptureStatus callers = cudaStreamCaptureStatusNone;
  return d->failed == cudaSuccess && worked(cudaStreamIsCapturing(d->stream, &callers)) && callers == cudaStreamCaptureStatusNone;
}

static int find_recorder(gmg_device *d)
{
  int driver = 0;
  if (d->recorder) return 1;
  recorder *r = (recorder *)calloc(1, sizeof *r);
  if (!r) return 0;
  if (!worked(cudaStreamCreateWithFlags(&r->own, cudaStreamNonBlocking))) {
    free(r);
    return 0;
  }
  r->can_go_round = GMG_HAS_LOOPS && !d->no_rounds && worked(cudaDriverGetVersion(&driver)) && driver >= LOOPS_SINCE;
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

/* A graph with a loop: into what comes before that. */
static int begin_loop(recorder *r)
{
#if GMG_HAS_LOOPS
  if (!worked(cudaGraphCreate(&r->whole, 0))) return 0;
  if (worked(cudaGraphConditionalHandleCreate(&r->again, r->whole, 0, cudaGraphCondAssignDefault)) && record_into(r, r->whole)) return 1;
  cudaGraphDestroy(r->whole);
#endif
  r->whole = NULL;
  return 0;
}

/* Into the body of the loop, which waits for all that came before. */
static int begin_body(recorder *r)
{
#if GMG_HAS_LOOPS
  enum { FEW = 8 };
  cudaGraph_t before = NULL;
  cudaGraphNode_t node, earlier[FEW];
  size_t n = FEW;
  cudaGraphNodeParams p = {};
  p.type = cudaGraphNodeTypeConditional, p.conditional.type = cudaGraphCondTypeWhile, p.conditional.size = 1;
  p.conditional.handle = r->again;
  if (!worked(cudaStreamEndCapture(r->own, &before)) || !worked(cudaGraphGetNodes(r->whole, NULL, &n)) || n > FEW) return 0;
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
  if (!may_replace_launches(d) || !find_recorder(d)) return 0;
  recorder *r = d->recorder;
  r->leads = 0;
  r->goes_round = loop && r->can_go_round && begin_loop(r);
  if (!r->goes_round && !worked(cudaStreamBeginCapture(r->own, cudaStreamCaptureModeThreadLocal))) return 0;
  r->callers = d->stream, d->stream = r->own;
  d->recording = GMG_RECORDING;
  d->turn = loop ? gmg_turn{d->tally, d->ahead, r->goes_round, r->again} : gmg_turn{};
  return 1;
}

static int decides(gmg_context *c) { return find_recorder(c->device) && c->device->recorder->can_go_round; }

static void around(gmg_context *c, int starts)
{
  gmg_device *d = c->device;
  recorder *r = d->recorder;
  r->leads = starts;
  if (!starts) start_kernel<<<1, 1, 0, r->own>>>(d->turn);
  if (r->goes_round ? begin_body(r) : !starts) return;
  d->recording = GMG_SPOILT, r->can_go_round = 0;
  if (!r->goes_round) return;
  cudaGraphDestroy(r->whole);
  r->goes_round = 0, r->whole = NULL;
  worked(cudaStreamBeginCapture(r->own, cudaStreamCaptureModeThreadLocal)); /* what still comes must not be done, either */
}

/* With all the memory that launching it needs. */
static gmg_graph *instantiated(cudaGraph_t whole, const recorder *r, cudaStream_t stream)
{
  gmg_graph *g = (gmg_graph *)calloc(1, sizeof *g);
  if (!g) return NULL;
  g->goes_round = r->goes_round, g->leads = r->leads;
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
  const int whole = worked(cudaStreamEndCapture(r->own, &recorded)) && d->recording == GMG_RECORDING && d->failed == cudaSuccess;
  cudaGetLastError();
  d->stream = r->callers, d->recording = GMG_NOT_RECORDING, d->turn = gmg_turn{};
  d->failed = cudaSuccess; /* as it was */
  if (r->goes_round) recorded = r->whole;
  r->whole = NULL;
  gmg_graph *g = whole ? instantiated(recorded, r, d->stream) : NULL;
  if (recorded) cudaGraphDestroy(recorded);
  return g;
}

static void destroy(gmg_graph *g)
{
  if (!g) return;
  worked(cudaGraphExecDestroy(g->run)); /* what is under way ends first */
  free(g);
}

/* --- replaying -------------------------------------------------------------------------------------------------------- */

static int replay(gmg_context *c, gmg_graph *g)
{
  gmg_device *d = c->device;
  if (!may_replace_launches(d)) return 0;
  gmg_cuda_note(d, cudaGraphLaunch(g->run, d->stream), "a graph");
  return 1;
}

static int run(gmg_context *c, gmg_graph *g, gmg_outlook *o, double *norms)
{
  gmg_device *d = c->device;
  const int most = g->goes_round ? GMG_AHEAD : 1;
  if (o->most > most) o->most = most;
  if (o->starts) o->norm = o->f_norm = NAN;
  d->ahead->outlook = *o, d->ahead->cycles = 0;
  if (!o->starts && g->leads) go_on_kernel<<<1, 1, 0, d->stream>>>(d->tally);
  gmg_cuda_note(d, cudaGetLastError(), "a graph");
  gmg_cuda_note(d, cudaGraphLaunch(g->run, d->stream), "a graph");
  d->waits++;
  gmg_cuda_note(d, cudaStreamSynchronize(d->stream), "a graph");
  if (d->failed != cudaSuccess) return 0;
  const int cycles = d->ahead->cycles;
  if (o->starts) o->norm = sqrt(d->ahead->first.first), o->f_norm = sqrt(d->ahead->first.second);
  for (int i = 0; i < cycles; i++) norms[i] = d->ahead->norm[i];
  return cycles;
}

static const double *size(gmg_context *c) { return &c->device->tally->size; }

extern "C" const gmg_graph_ops gmg_graph_cuda = {begin, decides, around, end, replay, run, destroy, size};
