/* Red-black Gauss-Seidel with over-relaxation on a CUDA device. Unknowns with i + j + k even are red and go first (last on a
   reversed leg); phases and strips at the seams of odd periodic axes as in red_black_host.c.

   A pass over memory for every colour takes 48 bytes an unknown in double. Large levels with constant coefficients have both
   colours in one (async_stream_cuda.cuh), 24 bytes, with the same result: blocks of unknowns relax one layer around their own
   again, from values before the sweep. Those must still be there, so

     two sweeps go to the level's scratch field and back;
     one sweep writes in place what no other block looks at, nearly all, and the two layers beside other blocks to the scratch
     field, from where a second kernel brings them (about 8 bytes an unknown; a copy of everything would be 16);
     one from zero, which reads no u, writes in place. */
extern "C" {
#include "smoother.h"
}

#include "async_stream_cuda.cuh"

enum { STRIP = 2 };

/* One colour in one phase, everywhere or in the strips only. */
typedef struct {
  size_t colour, phase;
  int strip;
  int seam[3]; /* 1 where the last unknown of the axis meets the first with the same colour */
} part;

template <int kind>
static __global__ void relax_kernel(gmg_operator A, gmg_points half, part x, const real *f, real *u, real omega)
{
  gmg_for_points(half, [&](size_t m, size_t j, size_t k, size_t) {
    const size_t at[3] = {2 * m + (j + k + x.colour) % 2, j, k}, i = at[0];
    if (i >= A.n[0]) return;
    size_t phase = 0;
    int near_seam = 0;
    for (int a = 0; a < 3; a++) {
      phase += x.seam[a] && at[a] == A.n[a] - 1;
      near_seam |= x.seam[a] && (at[a] < STRIP || at[a] + STRIP >= A.n[a]);
    }
    if (phase != x.phase || (x.strip && !near_seam)) return;
    const size_t c = (k * A.n[1] + j) * A.n[0] + i;
    const gmg_neighbours near = gmg_near(gmg_places_of(A, i, j, k, c), u);
    u[c] = gmg_row_relaxed(3, kind, gmg_row_at<kind>(A, i, j, k), near, f[c], u[c], omega);
  });
}

static void sweep_by_colours(const gmg_smoother_level *l, const void *f, void *u, int steps, gmg_leg leg)
{
  const gmg_operator *A = l->A;
  const real omega = (real)gmg_weight_red_black(A, l->params);
  part x = {0, 0, 0, {A->wraps[0] && A->n[0] % 2, A->wraps[1] && A->n[1] % 2, A->wraps[2] && A->n[2] % 2}};
  const size_t phases = (size_t)(1 + x.seam[0] + x.seam[1] + x.seam[2]);
  const size_t strip = phases > 1 ? 2 * phases : 0, parts = strip + 2 * phases;
  const size_t n[3] = {(A->n[0] + 1) / 2, A->n[1], A->n[2]};
  const gmg_points half = gmg_points_of(n);
  for (size_t s = 0; s < (size_t)steps * parts; s++) {
    const size_t at = leg == GMG_LEG_UP_REVERSED ? parts - 1 - s % parts : s % parts;
    x.colour = at / phases % 2, x.phase = at % phases, x.strip = at < strip;
    GMG_LAUNCH(relax_kernel, l->exec, A, half, 0, *A, half, x, (const real *)f, (real *)u, omega);
    gmg_cuda_launched(l->exec, "red_black");
  }
}

/* --- both colours in one pass ----------------------------------------------------------------------------------------- */

typedef struct {
  int fused;
  gmg_blocks blocks;
} red_black_state;

/* Below, launches count and not bytes. */
enum { MANY = 500000 };

template <int dim>
static __global__ void __launch_bounds__(shape_of<dim, 2>::threads, shape_of<dim, 2>::blocks)
    fused_kernel(stream s, const real *f, const real *from, real *to, real *aside)
{
  relax_stream<dim, 2, 0>(s, blockIdx.x, f, from, to, aside, onto{}, sums{});
}

enum { ACROSS = 32, LINES = 8, HIGH = 32, AT_ONCE = 8 }; /* columns of a thread block; planes of a thread; of which at once */

/* What was put aside. In 3D most columns have nothing but near the ends of blocks along them. */
static __global__ void __launch_bounds__(ACROSS * LINES) bring_kernel(stream s, unsigned across, unsigned lines, const real *aside, real *u)
{
  const unsigned tile = blockIdx.x, rest = tile / across;
  const int i = (int)(tile % across * ACROSS + threadIdx.x), j = (int)(rest % lines * LINES + threadIdx.y);
  const int begin = (int)(rest / lines) * HIGH, end = min(begin + HIGH, s.n[2]);
  if (i >= s.n[0] || j >= s.n[1]) return;
  const int all = seen_by_others(s, 0, i) || (s.n[1] > 1 && seen_by_others(s, 1, j));
  const int v = begin % s.own[2], own = min(s.own[2], s.n[2] - begin + v), column = j * s.n[0] + i;
  if (!all && v >= 2 && v + end - begin <= own - 2) return; /* inside a block */
  for (int first = begin; first < end; first += AT_ONCE) {
    real value[AT_ONCE];
    int wanted[AT_ONCE];
#pragma unroll
    for (int c = 0; c < AT_ONCE; c++) {
      const int k = first + c;
      wanted[c] = k < end && (all || seen_by_others(s, 2, k));
      value[c] = wanted[c] ? __ldcg(aside + (k * s.stride + column)) : 0;
    }
#pragma unroll
    for (int c = 0; c < AT_ONCE; c++)
      if (wanted[c]) u[(first + c) * s.stride + column] = value[c];
  }
}

static void bring(const gmg_smoother_level *l, const stream *s, const void *aside, void *u)
{
  const unsigned across = (unsigned)(s->n[0] + ACROSS - 1) / ACROSS, lines = (unsigned)(s->n[1] + LINES - 1) / LINES;
  const unsigned layers = (unsigned)(s->n[2] + HIGH - 1) / HIGH;
  bring_kernel<<<across * lines * layers, dim3(ACROSS, LINES), 0, gmg_device_of(l->exec)->stream>>>(*s, across, lines, (const real *)aside,
                                                                                                    (real *)u);
}

/* One sweep. from = NULL: u is 0. aside = to: all goes there. */
static void fused_sweep(const gmg_smoother_level *l, const red_black_state *r, const stream *s, const void *f, const void *from, void *to,
                        void *aside)
{
  const unsigned grid = (unsigned)r->blocks.total, threads = (unsigned)(32 * stream_rows(l->A->dim, &r->blocks));
  const cudaStream_t on = gmg_device_of(l->exec)->stream;
  const real *rhs = (const real *)f, *old = (const real *)from;
  if (l->A->dim == 3) fused_kernel<3><<<grid, threads, stream_bytes<3, 2>(), on>>>(*s, rhs, old, (real *)to, (real *)aside);
  else fused_kernel<2><<<grid, threads, stream_bytes<2, 2>(), on>>>(*s, rhs, old, (real *)to, (real *)aside);
  gmg_cuda_launched(l->exec, "red_black");
}

static stream stream_of_level(const gmg_smoother_level *l, const red_black_state *r, const void *u, gmg_leg leg)
{
  return stream_of(l->A, &r->blocks, NULL, gmg_weight_red_black(l->A, l->params), leg == GMG_LEG_UP_REVERSED, u, l->scratch);
}

static void sweep(const gmg_smoother_level *l, void *state, const void *f, void *u, int steps, gmg_leg leg)
{
  const red_black_state *r = (const red_black_state *)state;
  if (!r->fused) {
    sweep_by_colours(l, f, u, steps, leg);
    return;
  }
  const stream s = stream_of_level(l, r, u, leg);
  for (int pair = 0; pair < steps / 2; pair++) {
    fused_sweep(l, r, &s, f, u, l->scratch, l->scratch);
    fused_sweep(l, r, &s, f, l->scratch, u, u);
  }
  if (steps % 2 == 0) return;
  fused_sweep(l, r, &s, f, u, u, l->scratch);
  bring(l, &s, l->scratch, u);
}

static void sweep_from_zero(const gmg_smoother_level *l, void *state, const void *f, void *u, int steps, gmg_leg leg)
{
  const red_black_state *r = (const red_black_state *)state;
  if (!r->fused) {
    l->exec->vector->fill(l->exec, l->A->cells, 0, u);
    sweep(l, state, f, u, steps, leg);
    return;
  }
  const stream s = stream_of_level(l, r, u, leg);
  fused_sweep(l, r, &s, f, NULL, u, u);
  sweep(l, state, f, u, steps - 1, leg);
}

static gmg_status setup(const gmg_smoother_level *l, void **state)
{
  const gmg_operator *A = l->A;
  static const size_t any[3] = {0, 0, 0};
  const size_t processors = (size_t)gmg_device_of(l->exec)->processors;
  const int in_space = A->dim == 3;
  int most = 0;
  red_black_state *r = (red_black_state *)calloc(1, sizeof *r);
  *state = r;
  if (!r) return gmg_fail(l->exec->context, GMG_ERR_MEMORY, "red_black state could not be allocated");
  cudaDeviceGetAttribute(&most, cudaDevAttrMaxSharedMemoryPerBlockOptin, gmg_device_of(l->exec)->number);
  const size_t bytes = in_space ? stream_bytes<3, 2>() : stream_bytes<2, 2>();
  if (A->cells < MANY || !stream_suits(A) || bytes > (size_t)most) return GMG_OK;
  r->fused = (in_space ? stream_blocks<3, 2> : stream_blocks<2, 2>)(A, any, processors, &r->blocks);
  if (!r->fused || l->exec->dry) return GMG_OK;
  const void *kernel = in_space ? (const void *)fused_kernel<3> : (const void *)fused_kernel<2>;
  gmg_cuda_note(gmg_device_of(l->exec), cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, most), "red_black");
  return GMG_OK;
}

static void destroy(const gmg_smoother_level *l, void *state)
{
  (void)l;
  free(state);
}

extern "C" const gmg_smoother_ops R(gmg_red_black_cuda) = {
    .setup = setup, .sweep = sweep, .destroy = destroy, .sweep_from_zero = sweep_from_zero};
