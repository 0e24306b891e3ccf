/* Modes of an axis (modes.h). W^1/2 A W^-1/2 is symmetric and tridiagonal; on a periodic axis its corners are set, too.
   - Uniform axes: sines and cosines in closed form.
   - Other axes: implicit QL iteration (Bowdler, Martin, Reinsch, Wilkinson 1968).
   - Symmetric axes: the same for two problems of half the size, for the even and for the odd modes.
   - Periodic axes that are not symmetric: first reduced to tridiagonal form by Householder reflections (Martin, Reinsch,
     Wilkinson 1968).
   At the end all eigenvalues are computed again from their vectors, as sums of positive terms. So small ones are accurate, too. */
#include "modes.h"

#include <float.h>
#include <math.h>
#include <string.h>

static void *allocate(size_t bytes) { return gmg_memory_host.alloc(NULL, bytes); }
static void release(void *p) { gmg_memory_host.release(NULL, p); }

/* A symmetric matrix: diagonal d, and -e beside it. e[i] couples i and i + 1. corner couples the last row and the first. */
typedef struct {
  size_t n;
  double *d, *e, corner;
} symmetric;

static symmetric symmetrised(const gmg_axis *x, double *room)
{
  const size_t n = x->n;
  symmetric s = {n, room, room + n, 0};
  for (size_t i = 0; i < n; i++) {
    s.d[i] = x->diag[i];
    s.e[i] = i + 1 < n ? sqrt(x->hi[i] * x->lo[i + 1]) : 0;
  }
  if (n > 1) s.corner = sqrt(x->hi[n - 1] * x->lo[0]);
  return s;
}

static int is_near(double a, double b, double tolerance) { return fabs(a - b) <= tolerance * fabs(b); }

/* Whether the axis is symmetric: mesh and walls are mirror-symmetric about its centre. Positions of a stretched axis are rounded,
   and so are its mesh widths: a mesh width of 1e-4 of the length is known to 1e-12. */
static int is_mirrored(const gmg_axis *x)
{
  static const double TOLERANCE = 1e-11;
  for (size_t i = 0; i < x->n / 2; i++) {
    const size_t mirrored = x->n - 1 - i;
    if (!is_near(x->volume[i], x->volume[mirrored], TOLERANCE) || !is_near(x->diag[i], x->diag[mirrored], TOLERANCE)) return 0;
    if (!is_near(x->hi[i], x->lo[mirrored], TOLERANCE) || !is_near(x->lo[i], x->hi[mirrored], TOLERANCE)) return 0;
  }
  return x->n > 1;
}

size_t gmg_modes_even(const gmg_axis *x) { return is_mirrored(x) ? (x->n + 1) / 2 : 0; }

/* The matrix for even (sign = 1) or odd (sign = -1) vectors: their first half. */
static symmetric half_of(const symmetric *s, double sign, double *room)
{
  const size_t m = s->n / 2, has_centre = s->n % 2, n = m + (sign > 0 ? has_centre : 0);
  symmetric h = {n, room, room + n, 0};
  memcpy(h.d, s->d, n * sizeof *h.d);
  memcpy(h.e, s->e, n * sizeof *h.e);
  h.d[0] -= sign * s->corner;
  if (!has_centre) h.d[m - 1] -= sign * s->e[m - 1];
  else if (sign > 0 && m > 0) h.e[m - 1] *= sqrt(2); /* the centre has two equal neighbours */
  return h;
}

/* Writes a vector's other half. */
static void mirror(double *v, size_t n, double sign)
{
  for (size_t i = 0; i < n / 2; i++) {
    v[i] *= sqrt(0.5);
    v[n - 1 - i] = sign * v[i];
  }
  if (n % 2 && sign < 0) v[n / 2] = 0;
}

/* --- closed forms ------------------------------------------------------------------------------------------------------ */

/* The end of a uniform axis: modes continue beyond it as sines or cosines. */
typedef struct {
  int is_zero;      /* the continued mode is 0 at the distance `twice / 2` beyond the last unknown; otherwise its slope is */
  int twice;        /* -1: the matrix has another form */
  int ends_at_node; /* the wall holds an unknown, with half a control volume */
} wall;

static int is_equal(double a, double b) { return is_near(a, b, 1e-13); }

/* d, e: of the end row; inner: the coupling inside the axis. */
static wall wall_of(double d, double e, double inner)
{
  const int plain = is_equal(e, inner);
  if (plain && is_equal(d, 2 * inner)) return (wall){.is_zero = 1, .twice = 2};
  if (plain && is_equal(d, 3 * inner)) return (wall){.is_zero = 1, .twice = 1};
  if (plain && is_equal(d, inner)) return (wall){.twice = 1};
  if (is_equal(e, sqrt(2) * inner) && is_equal(d, 2 * inner)) return (wall){.twice = 0, .ends_at_node = 1};
  return (wall){.twice = -1};
}

static int is_uniform_inside(const symmetric *s, double inner)
{
  for (size_t i = 1; i + 1 < s->n; i++)
    if (!is_equal(s->d[i], 2 * inner) || (i + 2 < s->n && !is_equal(s->e[i], inner))) return 0;
  return 1;
}

/* Modes sin(t (i + a)) or cos(t (i + a)) with a = low.twice / 2 and t = pi K / M, M twice the distance between the places where the
   ends' conditions hold. Angles are multiples of pi / (2 M), so that their sines are in a table. Row k is the k-th frequency.
   Returns 0 if the matrix has another form, -1 if memory is short. */
static int closed_form(const symmetric *s, double *vector)
{
  enum { MIN_UNKNOWNS = 6 };
  const size_t n = s->n;
  if (n < MIN_UNKNOWNS || s->corner != 0) return 0;
  const double inner = s->e[n / 2];
  const wall low = wall_of(s->d[0], s->e[0], inner), high = wall_of(s->d[n - 1], s->e[n - 2], inner);
  if (low.twice < 0 || high.twice < 0 || !is_uniform_inside(s, inner)) return 0;
  const size_t M = 2 * (n - 1) + (size_t)low.twice + (size_t)high.twice, period = 4 * M;
  double *sine = allocate(period * sizeof *sine);
  if (!sine) return -1;
  for (size_t j = 0; j < period; j++) sine[j] = sin(M_PI * (double)j / (2 * (double)M));
  const size_t quarter = low.is_zero ? 0 : M; /* cos x = sin(x + pi / 2) */
  for (size_t k = 0; k < n; k++) {
    const size_t K = low.is_zero != high.is_zero ? 2 * k + 1 : 2 * (k + (size_t)low.is_zero);
    double *v = vector + k * n, sum = 0;
    for (size_t i = 0; i < n; i++) v[i] = sine[(K * (2 * i + (size_t)low.twice) + quarter) % period];
    if (low.ends_at_node) v[0] *= sqrt(0.5);
    if (high.ends_at_node) v[n - 1] *= sqrt(0.5);
    for (size_t i = 0; i < n; i++) sum += v[i] * v[i];
    for (size_t i = 0; i < n; i++) v[i] /= sqrt(sum);
  }
  release(sine);
  return 1;
}

/* --- iterations -------------------------------------------------------------------------------------------------------- */

/* Rotates two vectors. */
static void rotate(size_t n, double c, double s, double *restrict x, double *restrict y)
{
  for (size_t i = 0; i < n; i++) {
    const double t = y[i];
    y[i] = s * x[i] + c * t;
    x[i] = c * x[i] - s * t;
  }
}

/* One implicit QL step on rows l to m. e[i] couples i and i + 1. */
static void ql_step(size_t n, double *d, double *e, size_t l, size_t m, double *vector)
{
  double g = (d[l + 1] - d[l]) / (2 * e[l]), r = hypot(g, 1), s = 1, c = 1, p = 0;
  g = d[m] - d[l] + e[l] / (g + copysign(r, g));
  for (size_t i = m; i-- > l;) {
    const double f = s * e[i], b = c * e[i];
    r = hypot(f, g);
    e[i + 1] = r;
    if (r == 0) { /* the matrix has decoupled */
      d[i + 1] -= p;
      e[m] = 0;
      return;
    }
    s = f / r;
    c = g / r;
    g = d[i + 1] - p;
    r = (d[i] - g) * s + 2 * c * b;
    p = s * r;
    d[i + 1] = g + p;
    g = c * r - b;
    rotate(n, c, s, vector + i * n, vector + (i + 1) * n);
  }
  d[l] -= p;
  e[l] = g;
  e[m] = 0;
}

/* Replaces d by the eigenvalues of the tridiagonal matrix with off-diagonals e, and the rows of `vector`, given as those of an
   orthogonal matrix (the identity, or a reduction to tridiagonal form), by the eigenvectors. Returns 0 if it does not converge. */
static int ql(size_t n, double *d, double *e, double *vector)
{
  enum { MAX_STEPS = 60 };
  e[n - 1] = 0;
  for (size_t l = 0; l < n; l++) {
    for (int step = 0;; step++) {
      size_t m = l;
      while (m + 1 < n && fabs(e[m]) > DBL_EPSILON / 2 * (fabs(d[m]) + fabs(d[m + 1]))) m++;
      if (m == l) break;
      if (step == MAX_STEPS) return 0;
      ql_step(n, d, e, l, m, vector);
    }
  }
  return 1;
}

/* The reflection 1 - v v^T that annihilates column k of a below row k + 1. v[0 .. k] is not used. Returns what becomes of
   a[k + 1][k]. */
static double reflection(size_t n, const double *a, size_t k, double *v)
{
  double sum = 0;
  for (size_t i = k + 1; i < n; i++) {
    v[i] = a[i * n + k];
    sum += v[i] * v[i];
  }
  const double first = v[k + 1], onto = -copysign(sqrt(sum), first), half_norm2 = sum - onto * first;
  v[k + 1] -= onto;
  for (size_t i = k + 1; i < n; i++) v[i] = half_norm2 > 0 ? v[i] / sqrt(half_norm2) : 0;
  return half_norm2 > 0 ? onto : first;
}

/* Reduces the dense symmetric matrix a to tridiagonal form d, e. The reflections are applied to the rows of `vector`. */
static void reduce(size_t n, double *restrict a, double *d, double *e, double *restrict vector, double *restrict v,
                   double *restrict p)
{
  for (size_t k = 0; k + 2 < n; k++) {
    double vp = 0;
    e[k] = reflection(n, a, k, v);
    for (size_t i = k + 1; i < n; i++) {
      p[i] = 0;
      for (size_t j = k + 1; j < n; j++) p[i] += a[i * n + j] * v[j];
      vp += v[i] * p[i];
    }
    for (size_t i = k + 1; i < n; i++) p[i] -= vp / 2 * v[i];
    for (size_t i = k + 1; i < n; i++)
      for (size_t j = k + 1; j < n; j++) a[i * n + j] -= v[i] * p[j] + p[i] * v[j];
    memset(p, 0, n * sizeof *p);
    for (size_t i = k + 1; i < n; i++)
      for (size_t j = 0; j < n; j++) p[j] += v[i] * vector[i * n + j];
    for (size_t i = k + 1; i < n; i++)
      for (size_t j = 0; j < n; j++) vector[i * n + j] -= v[i] * p[j];
    d[k] = a[k * n + k];
  }
  for (size_t k = n > 2 ? n - 2 : 0; k < n; k++) d[k] = a[k * n + k];
  if (n > 1) e[n - 2] = a[(n - 1) * n + n - 2];
}

static void set_identity(size_t n, double *vector)
{
  memset(vector, 0, n * n * sizeof *vector);
  for (size_t i = 0; i < n; i++) vector[i * n + i] = 1;
}

/* Eigenvectors of s in the rows of `vector`. Overwrites s. */
static gmg_status iterate(gmg_context *context, symmetric *s, double *vector)
{
  const size_t n = s->n;
  set_identity(n, vector);
  if (s->corner != 0 && n > 2) {
    double *a = allocate((n * n + 2 * n) * sizeof *a), *v = a + n * n;
    if (!a) return gmg_fail(context, GMG_ERR_MEMORY, "matrix of a periodic axis of %zu unknowns could not be allocated", n);
    memset(a, 0, n * n * sizeof *a);
    for (size_t i = 0; i < n; i++) {
      const size_t next = (i + 1) % n;
      a[i * n + i] = s->d[i];
      a[i * n + next] = a[next * n + i] = i + 1 < n ? -s->e[i] : -s->corner;
    }
    reduce(n, a, s->d, s->e, vector, v, v + n);
    release(a);
  } else {
    for (size_t i = 0; i + 1 < n; i++) s->e[i] = -s->e[i];
    if (n == 2) s->e[0] -= s->corner;
  }
  if (ql(n, s->d, s->e, vector)) return GMG_OK;
  return gmg_fail(context, GMG_ERR_UNSUPPORTED, "the eigenvalues of an axis of %zu unknowns could not be computed", n);
}

/* --- an axis ------------------------------------------------------------------------------------------------------------- */

static gmg_status vectors_of(gmg_context *context, symmetric *s, double *vector)
{
  const int done = closed_form(s, vector);
  if (done < 0) return gmg_fail(context, GMG_ERR_MEMORY, "sines of an axis of %zu unknowns could not be allocated", s->n);
  return done ? GMG_OK : iterate(context, s, vector);
}

/* The even vectors of a mirrored matrix, then the odd ones. `half` has room for the vectors of half the size. */
static gmg_status mirrored_vectors(gmg_context *context, const symmetric *s, double *room, double *half, double *vector)
{
  const size_t n = s->n;
  double *v = vector;
  for (int sign = 1; sign >= -1; sign -= 2) {
    symmetric h = half_of(s, sign, room);
    const size_t rows = h.n;
    GMG_TRY(vectors_of(context, &h, half));
    for (size_t k = 0; k < rows; k++, v += n) {
      memcpy(v, half + k * rows, rows * sizeof *v);
      mirror(v, n, sign);
    }
  }
  return GMG_OK;
}

/* v becomes W^-1/2 v. The eigenvalue is the energy of v: the sum over the couplings, and over what holds an unknown by itself. */
static double scale_mode(const gmg_axis *x, double *v)
{
  const size_t n = x->n;
  double energy = 0, norm2 = 0;
  for (size_t i = 0; i < n; i++) v[i] /= sqrt(x->volume[i]);
  for (size_t i = 0; i < n; i++) {
    const double step = v[i + 1 < n ? i + 1 : 0] - v[i], held = x->diag[i] - (x->lo[i] + x->hi[i]);
    energy += x->volume[i] * (x->hi[i] * step * step + held * v[i] * v[i]);
    norm2 += x->volume[i] * v[i] * v[i];
  }
  for (size_t i = 0; i < n; i++) v[i] /= sqrt(norm2);
  return energy / norm2;
}

/* If nothing holds the axis, constants have the eigenvalue 0. A singular problem depends on it, so both are set exactly. On a
   strongly stretched axis rounding has mixed the other modes with constants, which is undone. */
static void set_constant_mode(const gmg_axis *x, gmg_modes *m)
{
  const size_t n = x->n;
  size_t least = 0;
  double length = 0;
  for (size_t i = 0; i < n; i++) {
    if (x->diag[i] != x->lo[i] + x->hi[i]) return;
    if (m->value[i] < m->value[least]) least = i;
    length += x->volume[i];
  }
  for (size_t k = 0; k < n; k++) {
    double *v = m->vector + k * n, mean = 0;
    for (size_t i = 0; i < n; i++) mean += x->volume[i] / length * v[i];
    for (size_t i = 0; i < n; i++) v[i] = k == least ? 1 / sqrt(length) : v[i] - mean;
  }
  m->value[least] = 0;
}

gmg_status gmg_modes_create(gmg_context *context, const gmg_axis *x, gmg_modes *m)
{
  const size_t n = x->n;
  *m = (gmg_modes){.n = n, .value = allocate(n * sizeof(double)), .vector = allocate(n * n * sizeof(double))};
  double *room = allocate((4 * n + n * n / 4 + n + 1) * sizeof *room), *half = room + 4 * n;
  gmg_status status = GMG_OK;
  if (!m->value || !m->vector || !room) {
    status = gmg_fail(context, GMG_ERR_MEMORY, "modes of an axis of %zu unknowns could not be allocated", n);
  } else {
    symmetric s = symmetrised(x, room);
    m->even = gmg_modes_even(x);
    status = m->even ? mirrored_vectors(context, &s, room + 2 * n, half, m->vector) : vectors_of(context, &s, m->vector);
    for (size_t k = 0; k < n && status == GMG_OK; k++) m->value[k] = scale_mode(x, m->vector + k * n);
    if (status == GMG_OK) set_constant_mode(x, m);
  }
  release(room);
  if (status != GMG_OK) gmg_modes_destroy(m);
  return status;
}

void gmg_modes_destroy(gmg_modes *m)
{
  release(m->value);
  release(m->vector);
  *m = (gmg_modes){.n = 0};
}
