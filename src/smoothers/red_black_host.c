/* Red-black Gauss-Seidel with over-relaxation on host threads. Unknowns with i + j + k even are red and go first
   (last on a reversed leg). A colour's unknowns do not see each other, except around a periodic axis of odd size:
   there the two faces that meet have one colour, and each reads the other from a copy saved before the half sweep, so
   that no race remains and the result does not depend on the number of threads. */
#include "smoother.h"

#include "../stencil/line_host.h"

#include <stdlib.h>

typedef struct {
  real *face[3][2]; /* copies of the lower and upper face of each odd periodic axis, or NULL */
} saved;

static size_t face_bytes(const gmg_operator *A, int a) { return A->cells / A->n[a] * sizeof(real); }

static gmg_status setup(const gmg_smoother_level *l, void **state)
{
  GMG_TRY(gmg_exec_alloc(l->exec, "red-black state", sizeof(saved), state));
  saved s = {{{0}}};
  gmg_status status = GMG_OK;
  for (int a = 0; a < 3; a++)
    for (int side = 0; side < 2 && status == GMG_OK; side++)
      if (l->A->wraps[a] && l->A->n[a] % 2)
        status = gmg_exec_alloc(l->exec, "red-black wrap", face_bytes(l->A, a), (void **)&s.face[a][side]);
  if (!l->exec->dry) *(saved *)*state = s;
  return status;
}

static void destroy(const gmg_smoother_level *l, void *state)
{
  saved *s = state;
  if (!s) return;
  for (int a = 0; a < 3 && !l->exec->dry; a++)
    for (int side = 0; side < 2; side++) gmg_exec_release(l->exec, s->face[a][side], face_bytes(l->A, a));
  gmg_exec_release(l->exec, s, sizeof *s);
}

static void save_faces(const gmg_operator *A, const saved *s, const real *u)
{
  const size_t n0 = A->n[0], n1 = A->n[1], n2 = A->n[2];
  for (int side = 0; side < 2; side++) {
    real *x = s->face[0][side], *y = s->face[1][side], *z = s->face[2][side];
    for (size_t k = 0; x && k < n2; k++)
      for (size_t j = 0; j < n1; j++) x[k * n1 + j] = u[(k * n1 + j) * n0 + (side ? n0 - 1 : 0)];
    for (size_t k = 0; y && k < n2; k++)
      for (size_t i = 0; i < n0; i++) y[k * n0 + i] = u[(k * n1 + (side ? n1 - 1 : 0)) * n0 + i];
    for (size_t i = 0; z && i < n0 * n1; i++) z[i] = u[(side ? n2 - 1 : 0) * n0 * n1 + i];
  }
}

/* Lets a line at the end of an odd periodic axis see the saved copy across the wrap. */
static void look_across(const gmg_operator *A, const saved *s, const gmg_task *w, gmg_line *l)
{
  const size_t line = w->k * A->n[1] + w->j;
  if (s->face[0][0]) l->before = s->face[0][1][line], l->after = s->face[0][0][line];
  if (s->face[1][0] && w->j == 0) l->y_lo = s->face[1][1] + w->k * A->n[0];
  if (s->face[1][0] && w->j == A->n[1] - 1) l->y_hi = s->face[1][0] + w->k * A->n[0];
  if (s->face[2][0] && w->k == 0) l->z_lo = s->face[2][1] + w->j * A->n[0];
  if (s->face[2][0] && w->k == A->n[2] - 1) l->z_hi = s->face[2][0] + w->j * A->n[0];
}

GMG_INLINE void half_sweep(const int dim, const gmg_smoother_level *level, const saved *s, const real *f, real *u,
                           size_t colour, real omega)
{
  const gmg_operator *A = level->A;
  const size_t tasks = gmg_tasks(A);
  save_faces(A, s, u);
#pragma omp parallel for schedule(static) num_threads(level->threads) if (A->cells > 4096)
  for (size_t t = 0; t < tasks; t++) {
    const gmg_task w = gmg_task_at(A, t);
    gmg_line l = gmg_line_at(A, u, w.j, w.k);
    look_across(A, s, &w, &l);
    real *line = u + w.offset;
    const real *rhs = f + w.offset;
    for (size_t i = w.begin + (w.begin + w.j + w.k + colour) % 2; i < w.end; i += 2) {
      const gmg_neighbours near = gmg_line_near(&l, i, gmg_line_left(&l, i), gmg_line_right(&l, i));
      line[i] = gmg_row_relaxed(dim, gmg_line_row(&l, i), near, rhs[i], line[i], omega);
    }
  }
}

static void sweep(const gmg_smoother_level *l, void *state, const void *f, void *u, int steps, gmg_leg leg)
{
  const real omega = (real)gmg_weight_red_black(l->A, l->params);
  const size_t first = leg == GMG_LEG_UP_REVERSED;
  for (int s = 0; s < steps; s++)
    for (size_t half = 0; half < 2; half++) {
      if (l->A->dim == 1) half_sweep(1, l, state, f, u, first ^ half, omega);
      if (l->A->dim == 2) half_sweep(2, l, state, f, u, first ^ half, omega);
      if (l->A->dim == 3) half_sweep(3, l, state, f, u, first ^ half, omega);
    }
}

const gmg_smoother_ops R(gmg_red_black_host) = {.setup = setup, .sweep = sweep, .destroy = destroy};
