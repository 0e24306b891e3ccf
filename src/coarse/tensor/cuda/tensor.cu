/* The direct solver for separable problems on CUDA (tensor.h). A launch transforms an axis. The last axis is transformed too, and the
   coefficients are divided by the sums of eigenvalues; or a launch solves the tridiagonal systems. Called through gmg_tensor_ops.
   - Operations for n^3 unknowns: 2 n^4 for each transform, and half of that if the axis is symmetric.
   - Bytes an unknown in double: 16 for each transform, and 48 for the systems. */
extern "C" {
#include "coarse/tensor/tensor.h"
}

#include "core/cuda/device.h"
#include "transform.cuh"

namespace {

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

/* A transform of one axis: its kernel, and what it needs. */
typedef struct transform_variant {
  void (*kernel)(lines l, matrix even, matrix odd, divisors d, const scalar *from, scalar *to);
  size_t bytes; /* of shared memory */
  unsigned outputs, lines; /* of a tile */
} transform_variant;

template <class tile, int blocks, int back, int along> static constexpr transform_variant variant()
{
  return {transform_kernel<tile, blocks, back, along>, shared_bytes<tile, blocks, along>(), tile::OUTPUTS, tile::LINES};
}
/* [whether the tile is large][blocks - 1][back][whether it is the first axis] */
#define VARIANTS(tile, blocks) {{variant<tile, blocks, 0, 0>(), variant<tile, blocks, 0, 1>()}, \
                                {variant<tile, blocks, 1, 0>(), variant<tile, blocks, 1, 1>()}}
static const transform_variant variants[2][2][2][2] = {{VARIANTS(small_tile, 1), VARIANTS(small_tile, 2)},
                                                       {VARIANTS(large_tile, 1), VARIANTS(large_tile, 2)}};

static lines lines_of(const gmg_tensor *t, int axis)
{
  size_t pitch = 1;
  for (int a = 0; a < axis; a++) pitch *= t->axis[a].n;
  return {(unsigned)t->axis[axis].n, (unsigned)pitch, (unsigned)(cells_of(t) / t->axis[axis].n)};
}

static size_t tiles_of(const transform_variant *v, const gmg_tensor *t, int axis)
{
  return (t->axis[axis].block[0].count + v->outputs - 1) / v->outputs * (((size_t)lines_of(t, axis).count + v->lines - 1) / v->lines);
}

/* Large tiles, if they fit the device and there is one for each multiprocessor. */
static const transform_variant *variant_of(const gmg_exec *e, const gmg_tensor *t, int axis, int back)
{
  const gmg_device *d = gmg_device_of(e);
  const transform_variant *large = &variants[1][t->axis[axis].blocks - 1][back][axis == 0];
  const int is_large = large->bytes <= (size_t)d->max_shared && tiles_of(large, t, axis) >= (size_t)d->processors;
  return is_large ? large : &variants[0][t->axis[axis].blocks - 1][back][axis == 0];
}

static size_t prepare(const gmg_exec *e, const gmg_tensor *t)
{
  for (int a = 0; a < t->transformed && !e->dry; a++)
    for (int back = 0; back < 2; back++) {
      const transform_variant *v = variant_of(e, t, a, back);
      gmg_allow_shared(e, (const void *)v->kernel, v->bytes);
    }
  return (t->wraps ? 2 : 1) * cells_of(t) * sizeof(scalar);
}

/* The eigenvalues by which the last transform to modes divides. */
static divisors divisors_of(const gmg_tensor *t)
{
  const int last = t->transformed - 1;
  return {(const real *)t->axis[last].value,
          {(const real *)t->axis[0].value, last > 1 ? (const real *)t->axis[1].value : NULL},
          (unsigned)t->axis[0].n,
          (real)t->shift,
          t->singular};
}

/* back: from modes to values. */
static void transform(const gmg_exec *e, const gmg_tensor *t, int axis, int back, const void *from, void *to)
{
  const gmg_tensor_axis *a = &t->axis[axis];
  const int divides = !back && !t->has_systems && axis == t->transformed - 1;
  const transform_variant *v = variant_of(e, t, axis, back);
  matrix m[2];
  for (int b = 0; b < 2; b++) {
    const gmg_mode_block *block = &a->block[b < a->blocks ? b : 0];
    m[b] = {(const real *)(back ? block->from : block->to), (unsigned)block->count};
  }
  const gmg_launch_shape shape = {dim3((unsigned)tiles_of(v, t, axis)), dim3(THREADS), v->bytes};
  gmg_launch_early(e, "transform an axis", v->kernel, shape, lines_of(t, axis), m[0], m[1], divides ? divisors_of(t) : divisors{},
                   from, to);
}

/* q: room for a field, which may be f. */
static void solve_systems(const gmg_exec *e, const gmg_tensor *t, const void *f, void *u, void *q)
{
  enum { SYSTEMS = 64 };
  const unsigned count = (unsigned)(cells_of(t) / t->n);
  systems s = {.n = (unsigned)t->n, .count = count, .lo = (const real *)t->lo, .hi = (const real *)t->hi,
               .diag = (const real *)t->diag, .value = {NULL, NULL}, .along = 1, .shift = (real)t->shift, .singular = t->singular};
  for (int a = 0; a < t->transformed; a++) s.value[a] = (const real *)t->axis[a].value;
  if (t->transformed) s.along = (unsigned)t->axis[0].n;
  const gmg_launch_shape shape = {dim3((count + SYSTEMS - 1) / SYSTEMS), dim3(SYSTEMS), 0};
  gmg_launch(e, "tridiagonal systems", t->wraps ? systems_kernel<1> : systems_kernel<0>, shape, s, f, u, q,
             t->wraps ? work_field(t, 1) : (scalar *)q);
}

/* Each transform reads one field and writes another. Their number is even, so the last one writes u. */
static void solve(const gmg_exec *e, const gmg_tensor *t, const void *f, void *u)
{
  void *field[2] = {u, work_field(t, 0)};
  const void *from = f;
  int passes = 0;
  for (int a = 0; a < t->transformed; a++) {
    void *to = field[++passes % 2];
    transform(e, t, a, 0, from, to);
    from = to;
  }
  void *modes = field[passes % 2];
  if (t->has_systems) solve_systems(e, t, from, modes, field[!(passes % 2)]);
  from = modes;
  for (int a = t->transformed; a-- > 0;) {
    void *to = field[++passes % 2];
    transform(e, t, a, 1, from, to);
    from = to;
  }
}

} // namespace

extern "C" const gmg_tensor_ops R(gmg_tensor_solver_cuda) = {
    .most_transformed = 256, .axes_in_panels = GMG_MAX_TRANSFORMED, .prepare = prepare, .solve = solve};
