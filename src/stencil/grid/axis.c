/* Finite-volume discretisation of one axis (axis.h): vertex- or cell-centred, uniform or stretched, merged or not. Called by
   operator, map and mg. */
#include "axis.h"

#include "core/layout.h"

#include <math.h>

static int wall_has_unknown(const gmg_axis_spec *s, int side)
{
  return s->centering == GMG_VERTEX && (s->bc[side] == GMG_NEUMANN || s->bc[side] == GMG_ROBIN);
}

static int periodic(const gmg_axis_spec *s) { return s->bc[0] == GMG_PERIODIC; }

int gmg_axis_periodic(const gmg_axis *axis) { return periodic(&axis->spec); }

size_t gmg_axis_intervals(const gmg_axis_spec *s)
{
  if (s->centering == GMG_CELL || periodic(s) || s->merged > 1) return s->n;
  return s->n + 1 - (size_t)wall_has_unknown(s, 0) - (size_t)wall_has_unknown(s, 1);
}

size_t gmg_problem_intervals(const gmg_problem *p, int axis)
{
  const gmg_axis_spec s = {.n = p->n[axis], .centering = p->centering, .bc = {p->bc[axis][0], p->bc[axis][1]}, .merged = 1};
  return gmg_axis_intervals(&s);
}

gmg_axis_spec gmg_axis_spec_of(const gmg_problem *p, int axis)
{
  if (axis >= p->dim) /* a missing axis: one cell, no coupling, volume 1 */
    return (gmg_axis_spec){.n = 1, .length = 1, .centering = GMG_CELL, .bc = {GMG_NEUMANN, GMG_NEUMANN}, .mesh = 1,
                           .base = 1, .merged = 1, .beta = 1};
  gmg_axis_spec s = {.n = p->n[axis], .centering = p->centering, .bc = {p->bc[axis][0], p->bc[axis][1]}, .base = p->n[axis],
                     .nested = p->beta || p->beta_face[axis] || (p->stencil && p->centering == GMG_CELL), .merged = 1, .beta = 1};
  for (int side = 0; side < 2; side++)
    for (int c = 0; c < 2; c++) s.robin[side][c] = p->robin[axis][side][c];
  s.mesh = gmg_axis_intervals(&s);
  s.coord = s.mesh ? p->coord[axis] : NULL;
  s.length = s.coord ? s.coord[s.mesh] - s.coord[0] : p->h[axis] * (double)(s.mesh ? s.mesh : 1);
  return s;
}

/* The number of coarse intervals for m > 1 fine ones between n unknowns. Of the two nearest halves of an odd m it is the even one,
   because even axes are faster on all coarser levels: they have no seam if they are periodic, and can be coarsened in pairs. A
   shorter axis would converge more slowly if coarse intervals were longer than two fine ones. Measurements:
   docs/notes/uniformity.md. */
static size_t coarse_intervals(size_t m, size_t n)
{
  enum { LONG = 33 };
  const size_t half = (m + 1) / 2;
  return n >= LONG && m % 2 == 1 && half % 2 == 1 ? half - 1 : half;
}

gmg_axis_spec gmg_axis_spec_coarsened(const gmg_axis_spec *fine)
{
  gmg_axis_spec c = *fine;
  if (fine->nested) {
    c.merged = 2 * fine->merged;
    c.n = (fine->n + 1) / 2;
    return c;
  }
  const size_t m = gmg_axis_intervals(fine), beyond = fine->n - m + 1; /* n = m + beyond - 1 */
  const size_t mc = m == 1 ? 0 : coarse_intervals(m, fine->n); /* m = 1 and n = 2: an unknown on each wall; both become one */
  c.n = mc + beyond - 1;
  return c;
}

void gmg_axis_widths(const gmg_axis_spec *s, double *min_width, double *max_width)
{
  *min_width = *max_width = s->length / (double)(s->mesh ? s->mesh : 1);
  for (size_t i = 0; i < s->mesh && s->coord; i++) {
    const double h = s->coord[i + 1] - s->coord[i];
    *min_width = fmin(*min_width, h), *max_width = fmax(*max_width, h);
  }
}

static double mean_width(const gmg_axis_spec *s)
{
  const size_t m = gmg_axis_intervals(s);
  return s->length / (double)(m ? m : 1);
}

double gmg_axis_coupling(const gmg_axis_spec *s)
{
  const double h = mean_width(s);
  return s->n > 1 ? s->beta / (h * h) : 0;
}

int gmg_coarsen(const gmg_axis_spec fine[3], double threshold, int kept, gmg_axis_spec coarse[3], int coarsened[3])
{
  double strongest = 0;
  int count = 0;
  for (int a = 0; a < 3; a++)
    if (a != kept) strongest = fmax(strongest, gmg_axis_coupling(&fine[a]));
  for (int a = 0; a < 3; a++) {
    coarsened[a] = a != kept && strongest > 0 && gmg_axis_coupling(&fine[a]) >= threshold * strongest;
    coarse[a] = coarsened[a] ? gmg_axis_spec_coarsened(&fine[a]) : fine[a];
    count += coarsened[a];
  }
  return count;
}

/* --- places -------------------------------------------------------------------------------------------------------- */

/* A position as the mean of four mesh positions t[j], in mesh intervals. Distances are differences in t if the mesh is uniform.
   Equal distances are then equal to the last bit, however long the axis. */
typedef struct {
  double t[4];
} place;

/* The mesh in whose intervals t is measured: the level's own or, on a stretched or merged axis, the finest. One interval of the
   level has `scale` of these. */
typedef struct {
  const gmg_axis_spec *s;
  double intervals, h, scale;
} ruler;

static ruler ruler_of(const gmg_axis_spec *s)
{
  const size_t own = gmg_axis_intervals(s);
  const double mesh = (double)(s->coord || s->merged > 1 ? s->mesh : own);
  const double intervals = mesh > 0 ? mesh : 1;
  return (ruler){s, intervals, s->length / intervals, s->merged == 1 && own ? intervals / (double)own : 1};
}

static double position(const ruler *r, double t)
{
  if (!r->s->coord) return r->h * t;
  if (t < 0) return position(r, t + r->intervals) - r->s->length; /* wraps around a periodic axis */
  if (t > r->intervals) return position(r, t - r->intervals) + r->s->length;
  const double i = fmin(floor(t), r->intervals - 1);
  const double *x = r->s->coord + (size_t)i;
  return x[0] + (t - i) * (x[1] - x[0]);
}

static double distance(const ruler *r, place from, place to)
{
  double sum = 0;
  for (int j = 0; j < 4; j++)
    sum += r->s->coord ? position(r, to.t[j]) - position(r, from.t[j]) : r->h * (to.t[j] - from.t[j]);
  return sum / 4;
}

static double place_x(const ruler *r, place p)
{
  double sum = 0;
  for (int j = 0; j < 4; j++) sum += position(r, p.t[j]);
  return sum / 4;
}

static place at(double t) { return (place){{t, t, t, t}}; }
static place between(place a, place b) { return (place){{a.t[0], a.t[3], b.t[0], b.t[3]}}; } /* the midpoint of two places, each
                                                                                                with two distinct positions */

/* Vertex i of an unmerged axis. */
static double vertex(const ruler *r, double i) { return (i + (r->s->bc[0] == GMG_DIRICHLET)) * r->scale; }

/* Lower face of control volume i on an unmerged axis of n unknowns. */
static place plain_face(const ruler *r, size_t i, size_t n)
{
  const gmg_axis_spec *s = r->s;
  if (s->centering == GMG_CELL) return at((double)i * r->scale);
  if (i == 0 && wall_has_unknown(s, 0)) return at(0);
  if (i == n && wall_has_unknown(s, 1)) return at(r->intervals);
  const double below = vertex(r, (double)i - 1), above = vertex(r, (double)i);
  return (place){{below, below, above, above}};
}

static place face(const ruler *r, size_t i)
{
  const gmg_axis_spec *s = r->s;
  if (s->merged == 1) return plain_face(r, i, s->n);
  return plain_face(r, i * s->merged < s->base ? i * s->merged : s->base, s->base);
}

static place unknown(const ruler *r, size_t i)
{
  if (r->s->centering == GMG_VERTEX && r->s->merged == 1) return at(vertex(r, (double)i));
  return between(face(r, i), face(r, i + 1));
}

/* --- walls ---------------------------------------------------------------------------------------------------------- */

/* Conductance between the end unknown and its wall at distance d, the factor of g in the balance, and the ghost's coefficients. */
static void wall_terms(const gmg_axis_spec *s, int side, double d, double *conductance, double *source, double *ghost_u,
                       double *ghost_g)
{
  const double a = s->bc[side] == GMG_ROBIN ? s->robin[side][0] : 0;
  const double b = s->bc[side] == GMG_ROBIN ? s->robin[side][1] : 1;
  const int on_vertex = s->centering == GMG_VERTEX && s->merged == 1;
  if (periodic(s)) {
    *conductance = *source = *ghost_u = *ghost_g = 0;
  } else if (on_vertex && s->bc[side] == GMG_DIRICHLET) { /* the wall is the next node */
    *conductance = *source = 1 / d;
    *ghost_u = 0, *ghost_g = 1;
  } else if (on_vertex) { /* du/dn = (g - a u) / b at the unknown on the wall */
    *conductance = a / b, *source = 1 / b;
    *ghost_u = 1, *ghost_g = 0; /* interpolation never reads this ghost */
  } else if (s->bc[side] == GMG_DIRICHLET) { /* the ghost mirrors the unknown */
    *conductance = *source = 1 / d;
    *ghost_u = -1, *ghost_g = 2;
  } else { /* wall value (d g + b u) / (a d + b) from a u_w + b (u_w - u) / d = g */
    const double e = a * d + b;
    *conductance = a / e, *source = 1 / e;
    *ghost_u = 2 * b / e - 1, *ghost_g = 2 * d / e;
  }
}

static void fill_walls(gmg_axis *x, const ruler *r)
{
  const gmg_axis_spec *s = &x->spec;
  const int on_vertex = s->centering == GMG_VERTEX && s->merged == 1;
  for (int side = 0; side < 2; side++) {
    const size_t end = side ? x->entries - 1 : 0;
    const place wall = at(side ? r->intervals : 0);
    const double d = fabs(distance(r, unknown(r, side ? s->n - 1 : 0), wall)), out = side ? 1 : -1;
    double conductance, source, *share = side ? &x->hi_diag[end] : &x->lo_diag[end];
    wall_terms(s, side, d > 0 ? d : x->h, &conductance, &source, &x->ghost_u[side], &x->ghost_g[side]);
    *share += conductance / x->volume[end];
    x->fold[side] = source / x->volume[end];
    x->ghost_x[side] = x->x[end] + out * (on_vertex ? (d > 0 ? d : x->h) : 2 * d);
  }
  if (periodic(s)) x->ghost_x[0] = x->x[x->entries - 1] - s->length, x->ghost_x[1] = x->x[0] + s->length;
}

/* The row whose values an entry has. */
static size_t row_of_entry(const gmg_axis *x, size_t entry) { return entry + 1 < x->entries ? entry : x->n - 1; }

static void fill(gmg_axis *x)
{
  const gmg_axis_spec *s = &x->spec;
  const ruler r = ruler_of(s);
  const size_t n = s->n;
  const int around = periodic(s);
  const int slab = gmg_axis_intervals(s) == 0; /* a single vertex between two Neumann or Robin walls */
  x->h = mean_width(s);
  double min_width, max_width;
  gmg_axis_widths(s, &min_width, &max_width);
  x->stretch = max_width / min_width;
  for (size_t e = 0; e < x->entries; e++) {
    const size_t i = row_of_entry(x, e);
    const int low = i == 0 && !around, high = i == n - 1 && !around;
    const place here = unknown(&r, i);
    place below = unknown(&r, i > 0 ? i - 1 : n - 1), above = unknown(&r, i < n - 1 ? i + 1 : 0);
    for (int j = 0; j < 4; j++) { /* across the seam */
      if (i == 0) below.t[j] -= r.intervals;
      if (i == n - 1) above.t[j] += r.intervals;
    }
    x->x[e] = place_x(&r, here);
    x->volume[e] = slab ? x->h : distance(&r, face(&r, i), face(&r, i + 1));
    x->lo[e] = low || n == 1 ? 0 : 1 / (distance(&r, below, here) * x->volume[e]);
    x->hi[e] = high || n == 1 ? 0 : 1 / (distance(&r, here, above) * x->volume[e]);
    x->lo_diag[e] = x->lo[e];
    x->hi_diag[e] = x->hi[e];
  }
  fill_walls(x, &r);
  for (size_t e = 0; e < x->entries; e++) x->diag[e] = x->lo_diag[e] + x->hi_diag[e];
}

int gmg_axis_is_uniform(const gmg_axis_spec *s) { return !s->coord && s->merged == 1 && gmg_axis_intervals(s) > 0; }

double gmg_axis_length(const gmg_axis *x)
{
  double length = 0;
  if (x->entries < x->n) return x->volume[0] + x->volume[1] * (double)(x->n - 2) + x->volume[2];
  for (size_t i = 0; i < x->n; i++) length += x->volume[i];
  return length;
}

/* Allocates the arrays of an axis. */
static gmg_status allocate(gmg_context *context, gmg_axis *x)
{
  const size_t n = x->entries;
  x->x = NULL;
  if (n < gmg_memory_host.max_bytes(NULL) / GMG_AXIS_BYTES) x->x = gmg_memory_host.alloc(NULL, n * 7 * sizeof(double));
  if (!x->x) return gmg_fail(context, GMG_ERR_MEMORY, "axis of %zu unknowns: its arrays could not be allocated", x->n);
  x->lo = x->x + n, x->hi = x->lo + n, x->lo_diag = x->hi + n, x->hi_diag = x->lo_diag + n;
  x->diag = x->hi_diag + n, x->volume = x->diag + n;
  return GMG_OK;
}

gmg_status gmg_axis_create(gmg_context *context, const gmg_axis_spec *spec, gmg_axis *x)
{
  /* maps between nested axes need all positions */
  const size_t n = gmg_axis_is_uniform(spec) && !spec->nested && spec->n > GMG_AXIS_LONG ? GMG_AXIS_SHORT : spec->n;
  *x = (gmg_axis){.spec = *spec, .n = spec->n, .entries = n};
  GMG_TRY(allocate(context, x));
  fill(x);
  return GMG_OK;
}

gmg_status gmg_axis_create_part(gmg_context *context, const gmg_axis *whole, gmg_span span, const int ends[2], gmg_axis *x)
{
  const size_t n = span.n;
  *x = *whole;
  x->n = x->entries = x->spec.n = n;
  GMG_TRY(allocate(context, x));
  const double *const from[7] = {whole->x, whole->lo, whole->hi, whole->lo_diag, whole->hi_diag, whole->diag, whole->volume};
  double *const to[7] = {x->x, x->lo, x->hi, x->lo_diag, x->hi_diag, x->diag, x->volume};
  for (size_t i = 0; i < n; i++) { /* the span may lie across the seam */
    const size_t entry = gmg_axis_entry(whole, (size_t)gmg_wrap_modulo(span.first + (long)i, (long)whole->n));
    for (int array = 0; array < 7; array++) to[array][i] = from[array][entry];
  }
  if (!ends[0]) x->lo[0] = 0;
  if (!ends[1]) x->hi[n - 1] = 0;
  for (int side = 0; side < 2; side++) {
    if (ends[side]) continue;
    x->fold[side] = x->ghost_u[side] = x->ghost_g[side] = 0;
    x->spec.bc[side] = GMG_DIRICHLET;
  }
  return GMG_OK;
}

void gmg_axis_destroy(gmg_axis *x)
{
  gmg_memory_host.release(NULL, x->x);
  x->x = x->lo = x->hi = x->lo_diag = x->hi_diag = x->diag = x->volume = NULL;
}
