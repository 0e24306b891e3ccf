/* The direct solver for separable problems on CUDA (tensor.h). One launch transforms one axis, and one launch solves all
   tridiagonal systems. Called through gmg_tensor_ops.
   - Bytes for n^3 unknowns in double: 64 an unknown for four transforms, and 48 for the systems.
   - Operations: 4 n^4 if the axes are symmetric, otherwise 8 n^4.
   Not tuned yet, and never chosen by AUTO. */
extern "C" {
#include "coarse/tensor/tensor.h"
}

#include "core/cuda/device.h"
#include "core/real.h"

namespace {

/* A thread block computes TILE x TILE values of the product of modes and values, and a thread SIDE x SIDE of them. */
enum { TILE = 32, SIDE = 2, THREADS_ALONG = TILE / SIDE, DEPTH = 16 };

/* The lines along the axis that is transformed. Values of a line have the distance `pitch`, which is also the number of lines that
   lie beside each other. There are `after` such groups of lines. */
struct lines {
  unsigned n, pitch, after;
};

/* A block of modes of the axis, as gmg_mode_block has them. */
struct matrix {
  const real *at;
  unsigned count, in_panels;
};

/* The factor with which input i contributes to output o. Matrices in panels have the output in their columns. */
static __device__ __forceinline__ real entry(const matrix &m, unsigned o, unsigned i)
{
  if (o >= m.count || i >= m.count) return 0;
  if (!m.in_panels) return m.at[(size_t)o * m.count + i];
  return m.at[((size_t)(o / GMG_PANEL) * m.count + i) * GMG_PANEL + o % GMG_PANEL];
}

/* The sum or the difference of a value and its mirror image, or on the way back the coefficient of an even or odd mode. */
template <int blocks, int back>
static __device__ __forceinline__ real input(const lines &l, const scalar *x, unsigned i, int odd)
{
  const unsigned even = (l.n + 1) / 2, count = blocks == 1 ? l.n : odd ? l.n / 2 : even;
  if (i >= count) return 0;
  if (blocks == 1) return x[(size_t)i * l.pitch];
  if (back) return x[(size_t)(odd ? even + i : i) * l.pitch];
  const unsigned mirrored = l.n - 1 - i;
  if (mirrored == i) return x[(size_t)i * l.pitch];
  const real a = x[(size_t)i * l.pitch], b = x[(size_t)mirrored * l.pitch];
  return odd ? a - b : a + b;
}

/* Writes output o of both blocks. On the way back these are the sums of the even and of the odd modes. */
template <int blocks, int back>
static __device__ __forceinline__ void output(const lines &l, scalar *y, unsigned o, real even_sum, real odd_sum)
{
  const unsigned even = blocks == 1 ? l.n : (l.n + 1) / 2, mirrored = l.n - 1 - o;
  if (o >= even) return;
  if (blocks == 1) {
    y[(size_t)o * l.pitch] = even_sum;
  } else if (!back) {
    y[(size_t)o * l.pitch] = even_sum;
    if (even + o < l.n) y[(size_t)(even + o) * l.pitch] = odd_sum;
  } else {
    y[(size_t)o * l.pitch] = even_sum + odd_sum;
    if (mirrored != o) y[(size_t)mirrored * l.pitch] = even_sum - odd_sum;
  }
}

/* One axis: outputs in x, lines in y and z. */
template <int blocks, int back>
static __global__ void __launch_bounds__(THREADS_ALONG *THREADS_ALONG)
    transform_kernel(lines l, matrix even, matrix odd, const scalar *from, scalar *to)
{
  __shared__ real modes[2][DEPTH][TILE + 1], values[2][DEPTH][TILE + 1];
  const unsigned first_output = blockIdx.y * TILE, me = threadIdx.y * THREADS_ALONG + threadIdx.x;
  const size_t all = (size_t)l.pitch * l.after, first_line = (size_t)blockIdx.x * TILE;
  real sum[2][SIDE][SIDE] = {};
  for (unsigned i0 = 0; i0 < even.count; i0 += DEPTH) {
    for (unsigned e = me; e < DEPTH * TILE; e += THREADS_ALONG * THREADS_ALONG) {
      /* neighbouring threads read neighbouring values: along the axis if it is the first one, otherwise across lines */
      const unsigned i = l.pitch == 1 ? e % DEPTH : e / TILE, other = l.pitch == 1 ? e / DEPTH : e % TILE;
      const size_t line = first_line + other;
      const scalar *x = from + line % l.pitch + line / l.pitch * l.n * l.pitch;
      const unsigned m = even.in_panels ? e % TILE : e / DEPTH, mi = even.in_panels ? e / TILE : e % DEPTH;
      for (int odd_block = 0; odd_block < blocks; odd_block++) {
        values[odd_block][i][other] = line < all ? input<blocks, back>(l, x, i0 + i, odd_block) : 0;
        modes[odd_block][mi][m] = entry(odd_block ? odd : even, first_output + m, i0 + mi);
      }
    }
    __syncthreads();
    for (unsigned i = 0; i < DEPTH; i++)
      for (int b = 0; b < blocks; b++)
        for (int o = 0; o < SIDE; o++)
          for (int j = 0; j < SIDE; j++)
            sum[b][o][j] += modes[b][i][threadIdx.x + o * THREADS_ALONG] * values[b][i][threadIdx.y + j * THREADS_ALONG];
    __syncthreads();
  }
  for (int j = 0; j < SIDE; j++) {
    const size_t line = first_line + threadIdx.y + j * THREADS_ALONG;
    if (line >= all) continue;
    scalar *y = to + line % l.pitch + line / l.pitch * l.n * l.pitch;
    for (int o = 0; o < SIDE; o++)
      output<blocks, back>(l, y, first_output + threadIdx.x + o * THREADS_ALONG, sum[0][o][j], blocks > 1 ? sum[1][o][j] : 0);
  }
}

/* The tridiagonal systems: as many as there are modes, each along the last axis. */
struct systems {
  unsigned n, count;
  const real *lo, *hi, *diag;
  const real *value[GMG_MAX_TRANSFORMED]; /* eigenvalues; NULL: none */
  unsigned along; /* number of modes of the first axis */
  real shift;
  int singular;
};

/* Row k of Gaussian elimination (Thomas 1949), as in host.c. */
struct elimination {
  real u, q;
};
static __device__ __forceinline__ elimination eliminate(const systems &s, unsigned k, real shift, int pinned, real f,
                                                        elimination below)
{
  const real inverse = pinned ? 0 : 1 / (s.diag[k] + shift - s.lo[k] * below.q);
  return {(f + s.lo[k] * below.u) * inverse, s.hi[k] * inverse};
}

/* A thread solves one system: f to u, with q and, on a periodic axis, the border z in fields of their own. */
template <int wraps>
static __global__ void systems_kernel(systems s, const scalar *f, scalar *u, scalar *q, scalar *z)
{
  const unsigned c = blockIdx.x * blockDim.x + threadIdx.x;
  if (c >= s.count) return;
  real shift = s.shift;
  if (s.value[0]) shift += s.value[0][c % s.along];
  if (s.value[1]) shift += s.value[1][c / s.along];
  const int pinned = s.singular && shift == 0;
  const unsigned last = s.n - 1;
  const size_t pitch = s.count;
  elimination row = {0, 0};
  if (!wraps) {
    for (unsigned k = 0; k <= last; k++) {
      row = eliminate(s, k, shift, k == last && pinned, f[k * pitch + c], row);
      u[k * pitch + c] = row.u;
      q[k * pitch + c] = row.q;
    }
    real above = row.u;
    for (unsigned k = last; k-- > 0;) {
      above = u[k * pitch + c] + q[k * pitch + c] * above;
      u[k * pitch + c] = above;
    }
    return;
  }
  real border = 0; /* z of the row below */
  for (unsigned k = 0; k < last; k++) {
    const real to_last = (k == 0 ? s.lo[0] : 0) + (k + 1 == last ? s.hi[k] : 0), lo = s.lo[k];
    row = eliminate(s, k, shift, 0, f[k * pitch + c], row);
    border = (to_last + lo * border) * (row.q / s.hi[k]);
    u[k * pitch + c] = row.u;
    q[k * pitch + c] = row.q;
    z[k * pitch + c] = border;
  }
  const real below = row.u, border_below = border;
  real first = row.u;
  for (unsigned k = last - 1; k-- > 0;) {
    first = u[k * pitch + c] + q[k * pitch + c] * first;
    border = z[k * pitch + c] + q[k * pitch + c] * border;
    u[k * pitch + c] = first;
    z[k * pitch + c] = border;
  }
  const real pivot = s.diag[last] + shift - s.lo[last] * border_below - s.hi[last] * border;
  const real u_last = pinned ? 0 : (f[last * pitch + c] + s.lo[last] * below + s.hi[last] * first) / pivot;
  for (unsigned k = 0; k < last; k++) u[k * pitch + c] += u_last * z[k * pitch + c];
  u[last * pitch + c] = u_last;
}

static size_t cells_of(const gmg_tensor *t)
{
  size_t cells = t->n;
  for (int a = 0; a < t->transformed; a++) cells *= t->axis[a].n;
  return cells;
}

/* Field `number` of the work space. */
static scalar *work_field(const gmg_tensor *t, int number) { return (scalar *)t->work + number * cells_of(t); }

static size_t work_bytes(const gmg_exec *e, const gmg_tensor *t)
{
  (void)e;
  return (t->wraps ? 2 : 1) * cells_of(t) * sizeof(scalar);
}

template <int back> static void transform(const gmg_exec *e, const gmg_tensor *t, int axis, const void *from, void *to)
{
  const gmg_tensor_axis *a = &t->axis[axis];
  const unsigned pitch = axis == 0 ? 1 : (unsigned)t->axis[0].n, after = (unsigned)(cells_of(t) / a->n / pitch);
  const lines l = {(unsigned)a->n, pitch, after};
  matrix m[2];
  for (int b = 0; b < 2; b++) {
    const gmg_mode_block *block = &a->block[b < a->blocks ? b : 0];
    m[b] = {(const real *)(back ? block->from : block->to), (unsigned)block->count, axis == 0};
  }
  const size_t groups = ((size_t)pitch * after + TILE - 1) / TILE;
  const gmg_launch_shape shape = {dim3((unsigned)groups, (m[0].count + TILE - 1) / TILE), dim3(THREADS_ALONG, THREADS_ALONG), 0};
  gmg_launch(e, "transform an axis", a->blocks == 2 ? transform_kernel<2, back> : transform_kernel<1, back>, shape, l, m[0], m[1],
             from, to);
}

static void solve_systems(const gmg_exec *e, const gmg_tensor *t, const void *f, void *u)
{
  enum { THREADS = 64 };
  const unsigned count = (unsigned)(cells_of(t) / t->n);
  systems s = {.n = (unsigned)t->n, .count = count, .lo = (const real *)t->lo, .hi = (const real *)t->hi,
               .diag = (const real *)t->diag, .value = {NULL, NULL}, .along = 1, .shift = (real)t->shift, .singular = t->singular};
  for (int a = 0; a < t->transformed; a++) s.value[a] = (const real *)t->axis[a].value;
  if (t->transformed) s.along = (unsigned)t->axis[0].n;
  const gmg_launch_shape shape = {dim3((count + THREADS - 1) / THREADS), dim3(THREADS), 0};
  gmg_launch(e, "tridiagonal systems", t->wraps ? systems_kernel<1> : systems_kernel<0>, shape, s, f, u, work_field(t, 0),
             t->wraps ? work_field(t, 1) : work_field(t, 0));
}

/* Transforms read one field and write another. */
static void solve(const gmg_exec *e, const gmg_tensor *t, const void *f, void *u)
{
  void *work = work_field(t, 0);
  if (t->transformed == 0) {
    solve_systems(e, t, f, u);
  } else if (t->transformed == 1) {
    transform<0>(e, t, 0, f, u);
    solve_systems(e, t, u, u);
    transform<1>(e, t, 0, u, work);
    e->vector->copy(e, cells_of(t), work, u);
  } else {
    transform<0>(e, t, 0, f, work);
    transform<0>(e, t, 1, work, u);
    solve_systems(e, t, u, u);
    transform<1>(e, t, 1, u, work);
    transform<1>(e, t, 0, work, u);
  }
}

} // namespace

extern "C" const gmg_tensor_ops R(gmg_tensor_solver_cuda) = {work_bytes, solve};
