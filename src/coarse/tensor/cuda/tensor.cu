/* The direct solver for separable problems on CUDA (tensor.h). Called through gmg_tensor_ops.
   - Axes of any length: a launch transforms one axis (transform.cuh).
   - Three short axes: a launch transforms two axes, or the last one there and back (shared.cuh).
   - A long last axis: a launch solves its tridiagonal systems.
   - Operations for n^3 unknowns: 2 n^4 for each transform, and half of that if the axis is symmetric.
   - Bytes an unknown in double: 16 for each transform, and 48 for the systems. */
extern "C" {
#include "coarse/tensor/eigenvalues.h"
}

#include "core/cuda/device.h"
#include "shared.cuh"
#include "transform.cuh"

namespace {

/* The tridiagonal systems: as many as there are modes, each along the last axis. */
struct systems {
  unsigned n, count;
  const real *lo, *hi, *diag;
  const real *value[GMG_MAX_TRANSFORMED]; /* eigenvalues; NULL: none */
  unsigned along; /* number of modes of the first axis */
  gmg_mode_factors factors;
  int singular;
};

/* Row k of Gaussian elimination (Thomas 1949), as in host.c. */
struct elimination {
  real u, q;
};
static __device__ __forceinline__ elimination eliminate(const systems &s, unsigned k, gmg_mode_operator m, int pinned, real f,
                                                        elimination below)
{
  const real to_below = m.slope * s.lo[k];
  const real inverse = pinned ? 0 : inverse_of(m.slope * s.diag[k] + m.constant - to_below * below.q);
  return {(f + to_below * below.u) * inverse, m.slope * s.hi[k] * inverse};
}

/* A thread solves one system: f to u, with q and, on a periodic axis, the border z in fields of their own. */
template <int wraps>
static __global__ void systems_kernel(systems s, const scalar *f, scalar *u, scalar *q, scalar *z)
{
  const unsigned c = blockIdx.x * blockDim.x + threadIdx.x;
  if (c >= s.count) return;
  const gmg_mode_operator m =
      gmg_mode_operator_of(&s.factors, s.value[0] ? s.value[0][c % s.along] : 0, s.value[1] ? s.value[1][c / s.along] : 0);
  const int pinned = s.singular && m.constant == 0;
  const unsigned last = s.n - 1;
  const size_t pitch = s.count;
  elimination row = {0, 0};
  if (!wraps) {
    for (unsigned k = 0; k <= last; k++) {
      row = eliminate(s, k, m, k == last && pinned, f[k * pitch + c], row);
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
    row = eliminate(s, k, m, 0, f[k * pitch + c], row);
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
  const real to_below = m.slope * s.lo[last], to_above = m.slope * s.hi[last];
  const real pivot = m.slope * s.diag[last] + m.constant - to_below * border_below - to_above * border;
  const real u_last = pinned ? 0 : (f[last * pitch + c] + to_below * below + to_above * first) / pivot;
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

/* q: room for a field, which may be f. */
static void solve_systems(const gmg_exec *e, const gmg_tensor *t, const void *f, void *u, void *q)
{
  enum { SYSTEMS = 64 };
  const unsigned count = (unsigned)(cells_of(t) / t->n);
  systems s = {.n = (unsigned)t->n, .count = count, .lo = (const real *)t->lo, .hi = (const real *)t->hi,
               .diag = (const real *)t->diag, .value = {NULL, NULL}, .along = 1, .factors = gmg_mode_factors_of(t),
               .singular = t->singular};
  for (int a = 0; a < t->transformed; a++) s.value[a] = (const real *)t->axis[a].value;
  if (t->transformed) s.along = (unsigned)t->axis[0].n;
  const gmg_launch_shape shape = {dim3((count + SYSTEMS - 1) / SYSTEMS), dim3(SYSTEMS), 0};
  gmg_launch(e, "tridiagonal systems", t->wraps ? systems_kernel<1> : systems_kernel<0>, shape, s, f, u, q,
             t->wraps ? work_field(t, 1) : (scalar *)q);
}

/* --- axes of any length ----------------------------------------------------------------------------------------------- */

/* A transform of one axis: its kernel, and what it needs. */
typedef struct transform_variant {
  void (*kernel)(lines l, matrices m, divisors d, const scalar *from, scalar *to);
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
  const size_t lines = lines_of(t, axis).count;
  return (t->axis[axis].block[0].count + v->outputs - 1) / v->outputs * ((lines + v->lines - 1) / v->lines);
}

static size_t padded_outputs(const transform_variant *v, const gmg_tensor *t, int axis)
{
  return (t->axis[axis].block[0].count + v->outputs - 1) / v->outputs * v->outputs;
}

/* Large tiles, unless they do not fit the device, leave many multiprocessors without one, or compute a quarter more outputs that
   nobody needs. On an H200 large tiles take 1.38 ms for 256^3 and small ones 1.45; for 192^3, where they compute a third more, 0.67
   and 0.60. */
static const transform_variant *variant_of(const gmg_exec *e, const gmg_tensor *t, int axis, int back)
{
  const gmg_device *d = gmg_device_of(e);
  const transform_variant *small = &variants[0][t->axis[axis].blocks - 1][back][axis == 0],
                          *large = &variants[1][t->axis[axis].blocks - 1][back][axis == 0];
  const int is_large = large->bytes <= (size_t)d->max_shared && 4 * tiles_of(large, t, axis) >= 3 * (size_t)d->processors &&
                       4 * padded_outputs(large, t, axis) <= 5 * padded_outputs(small, t, axis);
  return is_large ? large : small;
}

/* The eigenvalues by which the last transform to modes divides. */
static divisors divisors_of(const gmg_tensor *t)
{
  const int last = t->transformed - 1;
  return {(const real *)t->axis[last].value,
          {(const real *)t->axis[0].value, last > 1 ? (const real *)t->axis[1].value : NULL},
          (unsigned)t->axis[0].n,
          gmg_mode_factors_of(t),
          t->singular};
}

static matrices matrices_of(const gmg_tensor *t, int axis, int back)
{
  const gmg_tensor_axis *a = &t->axis[axis];
  matrices m;
  for (int b = 0; b < 2; b++) {
    const gmg_mode_block *block = &a->block[b < a->blocks ? b : 0];
    m.block[b] = {(const real *)(back ? block->inverse : block->forward), (unsigned)block->count};
  }
  return m;
}

/* back: from modes to values. */
static void transform(const gmg_exec *e, const gmg_tensor *t, int axis, int back, const void *from, void *to)
{
  const int divides = !back && !t->has_systems && axis == t->transformed - 1;
  const transform_variant *v = variant_of(e, t, axis, back);
  const gmg_launch_shape shape = {dim3((unsigned)tiles_of(v, t, axis)), dim3(THREADS), v->bytes};
  gmg_launch_early(e, "transform an axis", v->kernel, shape, lines_of(t, axis), matrices_of(t, axis, back),
                   divides ? divisors_of(t) : divisors{}, from, to);
}

/* --- short axes ------------------------------------------------------------------------------------------------------- */

/* The kernels of a part: [blocks of axis 0 - 1][blocks of axis 1 - 1][back], and [blocks - 1]. */
typedef struct shared_variant {
  void (*planes[2][2][2])(plane p, const scalar *from, scalar *to);
  void (*last_axis[2])(struct last_axis a, const scalar *from, scalar *to);
  unsigned longest, rooms, lines_of_warp, threads, lines, pitch;
  unsigned mode_pitch[2]; /* [blocks - 1] */
} shared_variant;

#define PLANES(part, blocks_0, blocks_1) {plane_kernel<part, blocks_0, blocks_1, 0>, plane_kernel<part, blocks_0, blocks_1, 1>}
template <class part> static constexpr shared_variant shared_variant_of()
{
  return {{{PLANES(part, 1, 1), PLANES(part, 1, 2)}, {PLANES(part, 2, 1), PLANES(part, 2, 2)}},
          {last_axis_kernel<part, 1>, last_axis_kernel<part, 2>},
          part::LONGEST,
          part::ROOMS,
          part::LINES,
          part::THREADS_OF_PART,
          part::LINES_OF_BLOCK,
          part::LINE_PITCH,
          {mode_room<part, 1>::PITCH, mode_room<part, 2>::PITCH}};
}
static const shared_variant shared_variants[] = {shared_variant_of<small_part>(), shared_variant_of<medium_part>(),
                                                   shared_variant_of<large_part>()}; /* shortest first */
enum { SHARED_VARIANTS = sizeof shared_variants / sizeof *shared_variants };

/* What a block has in shared memory, in reals: the values, and then the modes of two transforms. */
typedef struct shared_plan {
  const shared_variant *variant; /* NULL: the axes are too long, or the device has too little shared memory */
  unsigned rooms[2];
  size_t bytes;
} shared_plan;

static unsigned mode_reals(const shared_variant *v, const gmg_tensor_axis *a)
{
  return (unsigned)a->blocks * inputs_of((unsigned)a->block[0].count) * v->mode_pitch[a->blocks - 1];
}

static shared_plan plan_shared(const gmg_exec *e, const shared_variant *v, unsigned values, const gmg_tensor_axis *first,
                               const gmg_tensor_axis *second)
{
  enum { ALIGNED = 4 }; /* reals; the modes are copied 16 bytes at a time */
  const unsigned begin = (values + ALIGNED - 1) / ALIGNED * ALIGNED, one = mode_reals(v, first), other = mode_reals(v, second);
  const unsigned next = v->rooms == 2 ? begin + one : begin, end = next + (other > one || v->rooms == 2 ? other : one);
  const shared_plan p = {v, {begin, next}, end * sizeof(real)};
  return p.bytes <= (size_t)gmg_device_of(e)->max_shared ? p : shared_plan{};
}

/* For planes of axes 0 and 1. A block has a plane, so a third axis is needed. */
static shared_plan plan_planes(const gmg_exec *e, const gmg_tensor *t, int back)
{
  const int count = t->transformed + t->has_systems;
  for (const shared_variant *v = shared_variants; count == 3 && v < shared_variants + SHARED_VARIANTS; v++)
    if (t->axis[0].n <= v->longest && t->axis[1].n <= v->longest) {
      const unsigned rows = ((unsigned)t->axis[1].n + v->lines_of_warp - 1) / v->lines_of_warp * v->lines_of_warp;
      return plan_shared(e, v, rows * pitch_of((unsigned)t->axis[0].n) + v->lines_of_warp, &t->axis[back], &t->axis[!back]);
    }
  return {};
}

/* For the last of three axes, there and back. */
static shared_plan plan_last_axis(const gmg_exec *e, const gmg_tensor *t)
{
  for (const shared_variant *v = shared_variants; t->transformed == 3 && v < shared_variants + SHARED_VARIANTS; v++)
    if (t->axis[2].n <= v->longest) return plan_shared(e, v, (unsigned)t->axis[2].n * v->pitch, &t->axis[2], &t->axis[2]);
  return {};
}

static auto plane_kernel_of(const shared_plan &s, const gmg_tensor *t, int back)
{
  return s.variant->planes[t->axis[0].blocks - 1][t->axis[1].blocks - 1][back];
}

static void transform_planes(const gmg_exec *e, const gmg_tensor *t, int back, const void *from, void *to)
{
  const shared_plan s = plan_planes(e, t, back);
  const unsigned n[2] = {(unsigned)t->axis[0].n, (unsigned)t->axis[1].n};
  const plane p = {{n[0], n[1]}, pitch_of(n[0]), {matrices_of(t, 0, back), matrices_of(t, 1, back)}, {s.rooms[0], s.rooms[1]}};
  const gmg_launch_shape shape = {dim3((unsigned)(cells_of(t) / n[0] / n[1])), dim3(s.variant->threads), s.bytes};
  gmg_launch_early(e, "transform planes", plane_kernel_of(s, t, back), shape, p, from, to);
}

/* Transforms the last axis to modes, divides, and transforms it back. */
static void solve_last_axis(const gmg_exec *e, const gmg_tensor *t, const void *from, void *to)
{
  const shared_plan s = plan_last_axis(e, t);
  const last_axis a = {lines_of(t, 2), {matrices_of(t, 2, 0), matrices_of(t, 2, 1)}, {s.rooms[0], s.rooms[1]}, divisors_of(t)};
  const gmg_launch_shape shape = {dim3((a.l.count + s.variant->lines - 1) / s.variant->lines), dim3(s.variant->threads), s.bytes};
  gmg_launch_early(e, "solve along the last axis", s.variant->last_axis[t->axis[2].blocks - 1], shape, a, from, to);
}

/* --- the solver ---------------------------------------------------------------------------------------------------------- */

/* Which kernels may be used depends on the sizes and on the device alone. */
static int has_planes(const gmg_exec *e, const gmg_tensor *t)
{
  return plan_planes(e, t, 0).variant && plan_planes(e, t, 1).variant;
}

static size_t prepare(const gmg_exec *e, const gmg_tensor *t)
{
  for (int back = 0; back < 2 && !e->dry; back++) {
    const shared_plan planes = plan_planes(e, t, back);
    if (planes.variant) gmg_allow_shared(e, (const void *)plane_kernel_of(planes, t, back), planes.bytes);
    for (int a = 0; a < t->transformed; a++) {
      const transform_variant *v = variant_of(e, t, a, back);
      gmg_allow_shared(e, (const void *)v->kernel, v->bytes);
    }
  }
  const shared_plan last = plan_last_axis(e, t);
  if (last.variant && !e->dry) gmg_allow_shared(e, (const void *)last.variant->last_axis[t->axis[2].blocks - 1], last.bytes);
  return (t->wraps ? 2 : 1) * cells_of(t) * sizeof(scalar);
}

/* Each transform reads one field and writes another. Their number is even, so the last one writes u. What is solved along the last
   axis stays in its field. */
static void solve(const gmg_exec *e, const gmg_tensor *t, const void *f, void *u)
{
  void *field[2] = {u, work_field(t, 0)};
  const int planes = has_planes(e, t), last = plan_last_axis(e, t).variant != NULL;
  const int begin = planes ? 2 : 0, end = last ? t->transformed - 1 : t->transformed; /* axes that are transformed one by one */
  const void *from = f;
  int passes = 0;
  if (planes) {
    transform_planes(e, t, 0, from, field[++passes % 2]);
    from = field[passes % 2];
  }
  for (int a = begin; a < end; a++) {
    transform(e, t, a, 0, from, field[++passes % 2]);
    from = field[passes % 2];
  }
  void *modes = field[passes % 2];
  if (last) solve_last_axis(e, t, from, modes);
  if (t->has_systems) solve_systems(e, t, from, modes, field[!(passes % 2)]);
  from = modes;
  for (int a = end; a-- > begin;) {
    transform(e, t, a, 1, from, field[++passes % 2]);
    from = field[passes % 2];
  }
  if (planes) transform_planes(e, t, 1, from, field[++passes % 2]);
}

} // namespace

extern "C" const gmg_tensor_ops R(gmg_tensor_solver_cuda) = {.most_transformed = {0, 0, SIZE_MAX, 256},
                                                             .axes_in_panels = GMG_MAX_TRANSFORMED,
                                                             .prepare = prepare,
                                                             .solve = solve};
