/* Discretisation of one uniform axis by finite volumes (vertex- or cell-centred). */
#include "axis.h"

#include <stdlib.h>

static int wall_has_unknown(const gmg_axis_spec *s, int side)
{
  return s->centering == GMG_VERTEX && (s->bc[side] == GMG_NEUMANN || s->bc[side] == GMG_ROBIN);
}

static int periodic(const gmg_axis_spec *s) { return s->bc[0] == GMG_PERIODIC; }

int gmg_axis_periodic(const gmg_axis *axis) { return periodic(&axis->spec); }

size_t gmg_axis_intervals(const gmg_axis_spec *s)
{
  if (s->centering == GMG_CELL || periodic(s)) return s->n;
  return s->n + 1 - (size_t)wall_has_unknown(s, 0) - (size_t)wall_has_unknown(s, 1);
}

gmg_axis_spec gmg_axis_spec_of(const gmg_problem *p, int axis)
{
  if (axis >= p->dim) /* an axis that is not there: one cell, no coupling, volume 1 */
    return (gmg_axis_spec){.n = 1, .length = 1, .centering = GMG_CELL, .bc = {GMG_NEUMANN, GMG_NEUMANN}};
  gmg_axis_spec s = {.n = p->n[axis], .centering = p->centering, .bc = {p->bc[axis][0], p->bc[axis][1]}};
  for (int side = 0; side < 2; side++)
    for (int c = 0; c < 2; c++) s.robin[side][c] = p->robin[axis][side][c];
  const size_t m = gmg_axis_intervals(&s);
  s.length = p->h[axis] * (double)(m ? m : 1);
  return s;
}

gmg_axis_spec gmg_axis_spec_coarsened(const gmg_axis_spec *fine)
{
  gmg_axis_spec c = *fine;
  const size_t m = gmg_axis_intervals(fine), beyond = fine->n - m + 1; /* n = m + beyond - 1 */
  const size_t mc = m == 1 ? 0 : (m + 1) / 2; /* m = 1 with n = 2: two flux walls, merged into one unknown */
  c.n = mc + beyond - 1;
  return c;
}

/* Conductance between the end unknown and its wall, the factor of g in the balance, and the ghost value. */
static void wall_terms(const gmg_axis_spec *s, int side, double h, double *conductance, double *source, double *ghost_u,
                       double *ghost_g)
{
  const double a = s->bc[side] == GMG_ROBIN ? s->robin[side][0] : 0;
  const double b = s->bc[side] == GMG_ROBIN ? s->robin[side][1] : 1;
  if (periodic(s)) {
    *conductance = *source = *ghost_u = *ghost_g = 0;
  } else if (s->centering == GMG_VERTEX && s->bc[side] == GMG_DIRICHLET) { /* the wall is the next node */
    *conductance = *source = 1 / h;
    *ghost_u = 0, *ghost_g = 1;
  } else if (s->centering == GMG_VERTEX) { /* du/dn = (g - a u) / b at the unknown on the wall */
    *conductance = a / b, *source = 1 / b;
    *ghost_u = 1, *ghost_g = 0; /* no unknown interpolates from beyond */
  } else if (s->bc[side] == GMG_DIRICHLET) { /* the wall is half a cell away */
    *conductance = *source = 2 / h;
    *ghost_u = -1, *ghost_g = 2;
  } else { /* wall value (h g + 2 b u) / (a h + 2 b) from a u_w + 2 b (u_w - u) / h = g */
    const double d = a * h + 2 * b;
    *conductance = 2 * a / d, *source = 2 / d;
    *ghost_u = 4 * b / d - 1, *ghost_g = 2 * h / d;
  }
}

static void fill(gmg_axis *x)
{
  const gmg_axis_spec *s = &x->spec;
  const size_t n = s->n, m = gmg_axis_intervals(s);
  const double h = s->length / (double)(m ? m : 1);
  const double first = m == 0 || s->centering == GMG_CELL                  ? 0.5 * h
                       : s->bc[0] == GMG_DIRICHLET && s->centering == GMG_VERTEX ? h
                                                                                 : 0;
  const double inner = n > 1 ? 1 / h : 0; /* conductance between neighbours; none to oneself */
  x->n = n;
  x->h = h;
  for (size_t i = 0; i < n; i++) {
    const int low = i == 0 && !periodic(s), high = i == n - 1 && !periodic(s);
    const int halves = m ? (low && wall_has_unknown(s, 0)) + (high && wall_has_unknown(s, 1)) : 0;
    const double volume = halves ? 0.5 * h : h;
    x->x[i] = first + (double)i * h;
    x->weight[i] = volume;
    x->lo[i] = low ? 0 : inner / volume;
    x->hi[i] = high ? 0 : inner / volume;
    x->diag[i] = x->lo[i] + x->hi[i];
    x->below[i] = (int)(i > 0 ? i - 1 : low ? i : n - 1);
    x->above[i] = (int)(i < n - 1 ? i + 1 : high ? i : 0);
  }
  for (int side = 0; side < 2; side++) {
    const size_t end = side ? n - 1 : 0;
    double conductance, source;
    wall_terms(s, side, h, &conductance, &source, &x->ghost_u[side], &x->ghost_g[side]);
    x->wall[side] = conductance / x->weight[end];
    x->fold[side] = source / x->weight[end];
    x->diag[end] += x->wall[side];
  }
}

gmg_status gmg_axis_create(gmg_context *context, const gmg_axis_spec *spec, gmg_axis *x)
{
  const size_t n = spec->n;
  *x = (gmg_axis){.spec = *spec, .n = n};
  if (n < gmg_memory_host.most() / GMG_AXIS_BYTES) {
    x->x = calloc(n, 5 * sizeof(double));
    x->below = calloc(n, 2 * sizeof(int));
  }
  if (!x->x || !x->below) {
    gmg_axis_destroy(x);
    return gmg_fail(context, GMG_ERR_MEMORY, "axis of %zu unknowns: its arrays could not be allocated", n);
  }
  x->lo = x->x + n, x->hi = x->lo + n, x->diag = x->hi + n, x->weight = x->diag + n;
  x->above = x->below + n;
  fill(x);
  return GMG_OK;
}

void gmg_axis_destroy(gmg_axis *x)
{
  free(x->x);
  free(x->below);
  x->x = x->lo = x->hi = x->diag = x->weight = NULL;
  x->below = x->above = NULL;
}
