/* The direct solver for separable problems: constant coefficients on any mesh, with any walls, and box stencils that are even along
   each axis. The operator is then a sum of products of one-dimensional ones. Axes are transformed to their modes (Lynch, Rice,
   Thomas 1964). If all are, the modal coefficients of f are divided by the operator's eigenvalues. If all but the last are, every
   mode is a tridiagonal system along it (Buzbee, Golub, Nielson 1970). Called through gmg_bottom_ops. Calls stencil for the axes,
   and the kernels of the backend. */
#include "tensor.h"

#include "coarse/kernels.h"
#include "modes.h"

#include <stdint.h>
#include <string.h>

/* Longer axes would need too much memory and time for their modes. The tables of all modes may take up to this part of the memory
   that a solver may have. */
enum { MAX_TRANSFORMED_UNKNOWNS = 4096, MAX_PART_OF_MEMORY = 4 };

typedef struct {
  gmg_tensor t;
  int along[3]; /* axes of the problem with more than one unknown */
  int last;     /* the axis of the systems; -1: there are none */
  void *rows[3]; /* lo, hi, diag of a single line with coefficient arrays; NULL: those of the operator */
} tensor_state;

static const gmg_tensor_ops *kernels_of(const gmg_exec *e) { return gmg_coarse_kernels_of(e)->tensor; }

/* --- what it takes ------------------------------------------------------------------------------------------------------- */

static const char *refuses(const gmg_problem *p)
{
  const gmg_operator_kind *kind = gmg_operator_kind_of(p);
  return kind->not_separable ? kind->not_separable(p) : "problem has coefficients or an operator that couple the axes";
}

/* Up to how many transformed unknowns, summed over all axes but the last, this solver is faster: than a whole solve by cycles, and
   than the part of a cycle on this grid and all coarser ones. [backend][type][dim - 1].
   - Host: measured by bench_direct on two cores of an AMD EPYC 7003 server, in builds with and without AVX2. With AVX2 it is faster
     up to larger sizes, 750 in 3D.
   - CUDA: measured by bench_gpu_direct on an H200. In 1D one thread would solve a system, so cycles are faster. */
static const struct {
  size_t whole, bottom;
} most[2][2][3] = {[GMG_BACKEND_HOST] = {[GMG_F64] = {{SIZE_MAX, SIZE_MAX}, {600, 200}, {560, 160}},
                                         [GMG_F32] = {{SIZE_MAX, SIZE_MAX}, {320, 200}, {560, 160}}},
                   [GMG_BACKEND_CUDA] = {[GMG_F64] = {{0, 0}, {1600, 512}, {1100, 200}},
                                         [GMG_F32] = {{0, 0}, {384, 160}, {512, 130}}}};

/* Unknowns summed over the axes that are transformed: all that have more than one unknown, but the last of them. */
static size_t transformed_unknowns(int dim, const size_t n[3])
{
  size_t sum = 0, last = 0;
  for (int a = 0; a < dim; a++)
    if (n[a] > 1) sum += last, last = n[a];
  return sum;
}

static int is_faster(gmg_backend backend, gmg_type type, int dim, const size_t n[3], int is_finest)
{
  const size_t limit = is_finest ? most[backend][type][dim - 1].whole : most[backend][type][dim - 1].bottom;
  return limit > 0 && transformed_unknowns(dim, n) <= limit;
}

/* --- modes ----------------------------------------------------------------------------------------------------------------- */

/* Copies a matrix of count x count entries into panels. transposed: entry (i, j) is m[j][i]. */
static void to_panels(size_t count, const double *m, int transposed, double *to)
{
  for (size_t p = 0; p < count; p += GMG_PANEL)
    for (size_t i = 0; i < count; i++)
      for (size_t j = p; j < p + GMG_PANEL; j++) *to++ = j >= count ? 0 : transposed ? m[j * count + i] : m[i * count + j];
}

static void to_rows(size_t count, const double *m, int transposed, double *to)
{
  for (size_t i = 0; i < count; i++)
    for (size_t j = 0; j < count; j++) to[i * count + j] = transposed ? m[j * count + i] : m[i * count + j];
}

static size_t entries_of(size_t count, int in_panels)
{
  return count * (in_panels ? (count + GMG_PANEL - 1) / GMG_PANEL * GMG_PANEL : count);
}

/* Uploads the two matrices of a block. The inverse transform has the first `count` entries of modes b->first and up. The forward
   transform has these entries multiplied by the control volumes. m and to: room for a matrix each. */
static gmg_status create_block(gmg_exec *e, const gmg_axis *x, const gmg_modes *modes, int in_panels, double *m, double *to,
                               gmg_mode_block *b)
{
  const size_t n = b->count, entries = entries_of(n, in_panels);
  const void **const matrix[2] = {&b->forward, &b->inverse};
  for (int inverse = 0; inverse < 2; inverse++) {
    void *values = NULL;
    for (size_t k = 0; k < n && !e->dry; k++)
      for (size_t i = 0; i < n; i++)
        m[k * n + i] = modes->vector[(b->first + k) * modes->n + i] * (inverse ? 1 : x->volume[i]);
    /* m is [mode][entry]. gmg_mode_block says which of the two matrices is stored as its transpose */
    if (!e->dry && in_panels) to_panels(n, m, !inverse, to);
    if (!e->dry && !in_panels) to_rows(n, m, inverse, to);
    GMG_TRY(gmg_exec_reals(e, "modes of an axis", entries, to, &values));
    *matrix[inverse] = values;
  }
  return GMG_OK;
}

static gmg_status create_blocks(gmg_exec *e, const gmg_axis *x, const gmg_modes *modes, int in_panels, gmg_tensor_axis *t)
{
  const size_t n = x->n, even = modes->even;
  void *values = NULL;
  double *room = e->dry ? NULL : gmg_memory_host.alloc(NULL, 2 * entries_of(n, 1) * sizeof *room);
  if (!e->dry && !room) return gmg_fail(e->context, GMG_ERR_MEMORY, "modes of an axis of %zu unknowns could not be allocated", n);
  *t = (gmg_tensor_axis){.n = n, .blocks = even ? 2 : 1, .block = {{.count = even ? even : n}, {.first = even, .count = n - even}}};
  gmg_status status = gmg_exec_reals(e, "eigenvalues of an axis", n, modes->value, &values);
  t->value = values;
  for (int b = 0; b < t->blocks && status == GMG_OK; b++)
    status = create_block(e, x, modes, in_panels, room, e->dry ? NULL : room + entries_of(n, 1), &t->block[b]);
  gmg_memory_host.release(NULL, room);
  return status;
}

/* On a dry exec only whether the axis is symmetric is found out, because the bytes depend on it. */
static gmg_status create_axis(gmg_exec *e, const gmg_axis_spec *spec, int in_panels, gmg_tensor_axis *t)
{
  gmg_axis x;
  gmg_modes modes = {.n = spec->n};
  GMG_TRY(gmg_axis_create(e->context, spec, &x));
  gmg_status status = GMG_OK;
  if (e->dry) modes.even = gmg_modes_even(&x);
  else status = gmg_modes_create(e->context, &x, &modes);
  if (status == GMG_OK) status = create_blocks(e, &x, &modes, in_panels, t);
  gmg_modes_destroy(&modes);
  gmg_axis_destroy(&x);
  return status;
}

/* Whether two axes have the same modes. `beta` only matters for the choice of axes that coarsen. */
static int is_same(const gmg_axis_spec *a, const gmg_axis_spec *b)
{
  const int same_mesh = !a->coord == !b->coord && a->mesh == b->mesh && a->base == b->base && a->nested == b->nested &&
                        a->merged == b->merged &&
                        (!a->coord || memcmp(a->coord, b->coord, (a->mesh + 1) * sizeof *a->coord) == 0);
  return a->n == b->n && a->length == b->length && a->centering == b->centering && same_mesh && a->bc[0] == b->bc[0] &&
         a->bc[1] == b->bc[1] && memcmp(a->robin, b->robin, sizeof a->robin) == 0;
}

/* Axis i in `axis`. It uses the tables of an earlier axis that is the same and stores them in the same way. */
static gmg_status create_or_share(gmg_exec *e, const gmg_axis_spec spec[3], const int along[3], int in_panels, int i,
                                  gmg_tensor_axis *axis)
{
  for (int j = 0; j < i; j++)
    if (is_same(&spec[along[j]], &spec[along[i]]) && (i < in_panels) == (j < in_panels)) {
      axis[i] = axis[j];
      return GMG_OK;
    }
  return create_axis(e, &spec[along[i]], i < in_panels, &axis[i]);
}

/* --- the solver ---------------------------------------------------------------------------------------------------------- */

/* Rows of a single line with coefficient arrays. They are read in pieces. */
enum { PIECE = 1024 };

/* n reals of an array in exec's memory, from number `begin` up. */
static void read_piece(const gmg_exec *e, const void *from, size_t begin, size_t n, double *to)
{
  gmg_exec_read_reals(e, (const char *)from + begin * e->real_size, n, to);
}

/* Adds the walls of axis a, which has a single unknown. Its two faces of an unknown are neighbours in the array if the line is
   along a later axis. Otherwise the lower faces are first. */
static void add_walls(const gmg_exec *e, const gmg_operator *A, int a, int line, size_t begin, size_t n, double *diag)
{
  double low, high, face[2 * PIECE];
  if (!A->face[a]) {
    read_piece(e, A->diag[a], 0, 1, &low);
    for (size_t i = 0; i < n; i++) diag[i] += low;
    return;
  }
  const int beside = a < line;
  read_piece(e, A->lo_diag[a], 0, 1, &low);
  read_piece(e, A->hi_diag[a], 0, 1, &high);
  read_piece(e, A->face[a], beside ? 2 * begin : begin, beside ? 2 * n : n, face);
  if (!beside) read_piece(e, A->face[a], A->n[line] + begin, n, face + n);
  for (size_t i = 0; i < n; i++)
    diag[i] += beside ? low * face[2 * i] + high * face[2 * i + 1] : low * face[i] + high * face[n + i];
}

static void load_rows(const gmg_exec *e, const gmg_operator *A, int line, void *const rows[3])
{
  double lo[PIECE], hi[PIECE], diag[PIECE], lo_diag[PIECE], hi_diag[PIECE], face[PIECE + 1], sigma[PIECE];
  for (size_t begin = 0; begin < A->n[line]; begin += PIECE) {
    const size_t n = A->n[line] - begin < PIECE ? A->n[line] - begin : PIECE;
    const struct {
      const void *from;
      size_t count;
      double *to;
    } reals[] = {{A->lo[line], n, lo}, {A->hi[line], n, hi}, {A->diag[line], n, diag}, {A->lo_diag[line], n, lo_diag},
                 {A->hi_diag[line], n, hi_diag}, {A->face[line], n + 1, face}, {A->sigma, n, sigma}};
    for (int i = 0; i < 7; i++)
      if (reals[i].from) read_piece(e, reals[i].from, begin, reals[i].count, reals[i].to);
    for (size_t i = 0; i < n; i++) {
      if (A->face[line]) diag[i] = lo_diag[i] * face[i] + hi_diag[i] * face[i + 1], lo[i] *= face[i], hi[i] *= face[i + 1];
      if (A->sigma) diag[i] += sigma[i];
    }
    for (int a = 0; a < A->dim; a++)
      if (a != line) add_walls(e, A, a, line, begin, n, diag);
    const double *const from[3] = {lo, hi, diag};
    for (int i = 0; i < 3; i++) gmg_exec_write_reals(e, (char *)rows[i] + begin * e->real_size, n, from[i]);
  }
}

static int has_arrays(const gmg_operator *A) { return A->face[0] || A->sigma; }

/* The factors of products of the axes in `along`, with bits in their order there. scale: the operator is this times that of its
   axes. The modes are those of the axes, but A has the rows of the last one, if that is not transformed. */
static void set_factors(const gmg_exec *e, const gmg_operator *A, double scale, tensor_state *s)
{
  gmg_products found;
  A->kind->products(A, &found);
  double *factor = found.factor;
  for (int i = 0; i < s->t.transformed; i++) factor[1 << s->along[i]] *= scale;
  for (int a = 0; a < A->dim && !e->dry; a++) { /* an axis with a single unknown is the number `walls` */
    double walls = 0;
    if (A->n[a] > 1 || a == s->last) continue;
    gmg_exec_read_reals(e, A->diag[a], 1, &walls);
    for (int p = 0; p < 8; p++)
      if (~p & 1 << a) factor[p] += walls * factor[p | 1 << a];
  }
  const int others = s->t.transformed - !s->t.has_systems, last = s->along[others > 0 ? others : 0];
  for (int i = 0; i < 4; i++) {
    const int p = (i & 1 && others > 0 ? 1 << s->along[0] : 0) | (i & 2 && others > 1 ? 1 << s->along[1] : 0);
    const int exists = i < 1 << others;
    s->t.constant[i] = exists ? factor[p] : 0, s->t.slope[i] = exists ? factor[p | 1 << last] : 0;
  }
}

static gmg_status update(gmg_exec *e, const gmg_bottom_problem *p, void *state)
{
  tensor_state *s = state;
  const gmg_operator *A = p->level[0].A;
  const int last = s->last;
  s->t.singular = p->singular;
  if (has_arrays(A)) s->t.constant[0] = A->shift, s->t.slope[0] = 1;
  else set_factors(e, A, p->level[0].scale, s);
  if (last < 0) return GMG_OK;
  s->t.lo = A->lo[last], s->t.hi = A->hi[last], s->t.diag = A->diag[last];
  if (!s->rows[0]) return GMG_OK;
  if (has_arrays(A) && !e->dry) load_rows(e, A, last, s->rows);
  s->t.lo = s->rows[0], s->t.hi = s->rows[1], s->t.diag = s->rows[2];
  return GMG_OK;
}

/* Sorts the axes. */
static gmg_status choose_axes(gmg_exec *e, const gmg_operator *A, tensor_state *s)
{
  int count = 0;
  for (int a = 0; a < A->dim; a++)
    if (A->n[a] > 1) s->along[count++] = a;
  const int last = s->along[count > 0 ? count - 1 : 0];
  s->t.has_systems = A->n[last] > kernels_of(e)->most_transformed[count] || A->n[last] > MAX_TRANSFORMED_UNKNOWNS;
  s->t.transformed = count > 0 ? count - s->t.has_systems : 0;
  s->last = s->t.has_systems ? last : -1;
  s->t.n = s->t.has_systems ? A->n[last] : 1;
  s->t.wraps = s->t.has_systems && A->wraps[last]; /* the work space depends on it */
  size_t entries = 0;
  for (int i = 0; i < s->t.transformed; i++) {
    const size_t n = A->n[s->along[i]];
    if (n > MAX_TRANSFORMED_UNKNOWNS)
      return gmg_fail(e->context, GMG_ERR_UNSUPPORTED, "params.coarse = GMG_COARSE_TENSOR: the coarsest grid has %zu unknowns "
                      "along axis %d: at most %d are supported along all axes but the last", n, s->along[i],
                      MAX_TRANSFORMED_UNKNOWNS);
    entries += 2 * n * n;
  }
  const size_t room = e->memory->max_bytes(e->context) / MAX_PART_OF_MEMORY;
  if (entries * e->real_size <= room) return GMG_OK;
  return gmg_fail(e->context, GMG_ERR_UNSUPPORTED, "params.coarse = GMG_COARSE_TENSOR: the modes of the coarsest grid, %zu x %zu x "
                  "%zu unknowns, take %zu bytes: at most a quarter of the memory, %zu, is supported", A->n[0], A->n[1], A->n[2],
                  entries * e->real_size, room);
}

/* The rows of an axis by itself. */
static gmg_status write_rows(gmg_exec *e, const gmg_axis_spec *spec, void *const rows[3])
{
  gmg_axis x;
  GMG_TRY(gmg_axis_create(e->context, spec, &x));
  double piece[3][PIECE];
  for (size_t begin = 0; begin < x.n; begin += PIECE) {
    const size_t n = x.n - begin < PIECE ? x.n - begin : PIECE;
    for (size_t i = 0; i < n; i++) {
      const size_t at = gmg_axis_entry(&x, begin + i);
      piece[0][i] = x.lo[at], piece[1][i] = x.hi[at], piece[2][i] = x.diag[at];
    }
    for (int i = 0; i < 3; i++) gmg_exec_write_reals(e, (char *)rows[i] + begin * e->real_size, n, piece[i]);
  }
  gmg_axis_destroy(&x);
  return GMG_OK;
}

/* Rows of the systems, where they are not those of the operator's axis. */
static gmg_status create_rows(gmg_exec *e, const gmg_operator *A, const gmg_axis_spec spec[3], int of_differences, tensor_state *s)
{
  if (s->last < 0 || !(has_arrays(A) || of_differences)) return GMG_OK;
  for (int i = 0; i < 3; i++)
    GMG_TRY(gmg_exec_alloc(e, "rows of a line", A->n[s->last] * e->real_size, &s->rows[i]));
  return of_differences && !e->dry ? write_rows(e, &spec[s->last], s->rows) : GMG_OK;
}

/* The axes with mesh width 1, for operators along axes that do not depend on it. */
static void set_unit_widths(const gmg_operator *A, gmg_axis_spec spec[3])
{
  for (int a = 0; a < A->dim; a++) spec[a].length /= A->h[a];
}

static gmg_status setup(gmg_exec *e, const gmg_bottom_problem *p, void **state)
{
  const gmg_operator *A = p->level[0].A;
  GMG_TRY(gmg_exec_alloc_state(e, "direct solver", sizeof(tensor_state), state));
  tensor_state *s = *state;
  gmg_axis_spec spec[3] = {p->level[0].axis[0], p->level[0].axis[1], p->level[0].axis[2]};
  gmg_products found;
  A->kind->products(A, &found);
  if (found.of_differences) set_unit_widths(A, spec);
  GMG_TRY(choose_axes(e, A, s));
  GMG_TRY(create_rows(e, A, spec, found.of_differences, s));
  for (int i = 0; i < s->t.transformed; i++)
    GMG_TRY(create_or_share(e, spec, s->along, kernels_of(e)->axes_in_panels, i, s->t.axis));
  return gmg_exec_alloc(e, "work space of the direct solver", kernels_of(e)->prepare(e, &s->t), &s->t.work);
}

/* In a singular problem u may have a mean, which the solve removes at its end. */
static void solve(const gmg_exec *e, const gmg_bottom_problem *p, void *state, int level, void *f, void *u, gmg_cycle_kind kind,
                  gmg_start start)
{
  (void)level, (void)kind, (void)start;
  const tensor_state *s = state;
  if (p->singular) gmg_grid_ops_of(e)->remove_mean(e, p->level[0].A, p->level[0].volume, f);
  kernels_of(e)->solve(e, &s->t, f, u);
}

const gmg_bottom_ops gmg_coarsest_tensor = {.name = "tensor", .preferred_cells = {64, 64}, .refuses = refuses,
                                            .is_faster = is_faster,
                                            .setup = setup, .update = update, .solve = solve};
