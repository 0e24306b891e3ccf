/* CUDA against the host: every operation on every level. */
#include "transfers.h"

/* --- operations ------------------------------------------------------------------------------------------------------ */

/* Scalars of conjugate gradients in both memories: a twin of four doubles. */
static void put(twin *d, gmg_cg_scalars v)
{
  ON_BOTH(i) gmg_exec_write_reals(&d->exec[i], d->at[i], sizeof v / sizeof v.pq, (const double *)&v);
}

static gmg_cg_scalars got(const twin *d, int i)
{
  gmg_cg_scalars v;
  gmg_exec_read_reals(&d->exec[i], d->at[i], sizeof v / sizeof v.pq, (double *)&v);
  return v;
}

static void same_direction(const char *name, const char *what, const gmg_exec *e, const twin *d, double limit)
{
  const gmg_cg_scalars a = got(d, HOST), b = got(d, DEVICE);
  same_number(name, what, e, a.pq, b.pq, limit), same_number(name, what, e, a.pr, b.pr, limit);
  same_number(name, what, e, a.zr, b.zr, limit), same_number(name, what, e, a.beta, b.beta, limit);
  same_number(name, what, e, a.change, b.change, limit);
}

/* A gmg_scale in both memories: a twin of doubles. */
enum { SCALE_DOUBLES = sizeof(gmg_scale) / sizeof(double) };
static void put_scale(twin *s, gmg_scale v)
{
  ON_BOTH(i) gmg_exec_write_reals(&s->exec[i], s->at[i], SCALE_DOUBLES, (const double *)&v);
}

static gmg_scale got_scale(const twin *s, int i)
{
  gmg_scale v;
  gmg_exec_read_reals(&s->exec[i], s->at[i], SCALE_DOUBLES, (double *)&v);
  return v;
}

/* Checks the scale that both recorded of a low-precision residual: its divisor, and the factor of the next residual, 1 / norm.
   norm = NAN: the factor must still be `before`. */
static void noted(const char *name, const char *what, const gmg_exec *e, const twin *s, double divisor, double norm, double before,
                  double limit)
{
  ON_BOTH(i) {
    const gmg_scale v = got_scale(s, i);
    same_number(name, what, &s->exec[0], divisor, v.divisor, 4);
    if (isnan(norm)) assert_true(v.next == before);
    else same_number(name, what, e, 1 / norm, v.next, limit);
  }
}

/* Checks the recorded scale of x. The divisor is the norm within a factor, the next factor is 1 / norm. */
static void normalized(const char *name, const gmg_exec *e, const twin *scale, int i, size_t n, const void *x, double factor)
{
  const gmg_scale noted = got_scale(scale, i);
  const double norm = e->vector->norm2(e, n, x), rounding = 64 * epsilon_of(e);
  if (!(noted.divisor <= factor * norm * (1 + rounding) && noted.divisor * factor >= norm * (1 - rounding)))
    fail_msg("%s: normalized by %g, the norm is %g", name, noted.divisor, norm);
  same_number(name, "one over the norm", e, 1 / norm, noted.next, 64);
}

/* In two passes where one is not available. */
static void correct_twice(const gmg_exec *e, size_t n, gmg_correction c, gmg_correction d, void *x)
{
  if (e->vector->correct_twice) e->vector->correct_twice(e, n, c, d, x);
  else e->vector->correct(e, n, c, 1, x), e->vector->correct(e, n, d, 1, x);
}

static void vectors(const char *name, const gmg_exec *h, const gmg_exec *d, size_t n)
{
  const gmg_exec wide[2] = {gmg_exec_make(h->context, GMG_F64, 0), gmg_exec_make(d->context, GMG_F64, 0)};
  twin x = begin_twin(h, d, n, 1), y = begin_twin(h, d, n, 2), r = begin_twin(h, d, n, 3), low_z = begin_twin(h, d, n, 4);
  const gmg_exec low_exec[2] = {gmg_exec_make(h->context, GMG_F32, 0), gmg_exec_make(d->context, GMG_F32, 0)};
  twin scale = begin_twin(&wide[0], &wide[1], SCALE_DOUBLES, 5), low_too = begin_twin(&low_exec[0], &low_exec[1], n, 6);
  twin direction = begin_twin(&wide[0], &wide[1], sizeof(gmg_cg_scalars) / sizeof(double), 0), factors = begin_twin(&wide[0], &wide[1], 3, 0);
  double norm[2], stepped[2];
  gmg_number square[2], product[2];
  gmg_range range[2];
  ON_BOTH(i) gmg_exec_write_reals(&wide[i], factors.at[i], 3, (const double[]){0.3, 0.2, -0.1});
  put(&direction, (gmg_cg_scalars){.pq = 10, .pr = 7});
  ON_BOTH(i) {
    const gmg_exec *e = i ? d : h;
    const gmg_vector_ops *v = e->vector;
    norm[i] = v->norm2(e, n, x.at[i]);
    square[i] = v->dot(e, n, x.at[i], x.at[i]), product[i] = v->dot(e, n, x.at[i], y.at[i]);
    range[i] = v->range(e, n, x.at[i]);
    v->axpy(e, n, 0.3, x.at[i], y.at[i]);
    v->xpay(e, n, y.at[i], -1.7, r.at[i]);
    stepped[i] = v->cg_update(e, n, direction.at[i], x.at[i], y.at[i], r.at[i], x.at[i], GMG_WAIT);
    v->scale_to_low(e, n, NULL, y.at[i], low_z.at[i]);
    v->correct(e, n, (gmg_correction){.z = low_z.at[i], .scale = scale.at[i], .low = 1}, 1, y.at[i]);
    v->scale_to_low(e, n, scale.at[i], y.at[i], low_z.at[i]);
    const double *factor = factors.at[i];
    v->correct(e, n, (gmg_correction){.z = low_z.at[i], .scale = factor, .low = 1}, 1, y.at[i]);
    if (n > 1) /* fields that do not begin with an aligned pair */
      v->correct(e, n - 1, (gmg_correction){.z = (float *)low_z.at[i] + 1, .scale = factor + 1, .low = 1}, 1,
                 (char *)y.at[i] + e->real_size);
    v->correct(e, n, (gmg_correction){.z = x.at[i], .scale = factor + 2}, 1, y.at[i]);
    v->correct(e, n, (gmg_correction){.z = r.at[i]}, 1, y.at[i]);
    v->correct(e, n, (gmg_correction){.z = low_z.at[i], .low = 1}, 1, y.at[i]);
    correct_twice(e, n, (gmg_correction){.z = low_z.at[i], .scale = factor, .low = 1},
                  (gmg_correction){.z = low_z.at[i], .scale = factor + 1, .low = 1}, y.at[i]);
    correct_twice(e, n, (gmg_correction){.z = x.at[i], .scale = factor}, (gmg_correction){.z = r.at[i]}, y.at[i]);
    if (n > 1)
      correct_twice(e, n - 1, (gmg_correction){.z = (float *)low_z.at[i] + 1, .scale = factor + 1, .low = 1},
                    (gmg_correction){.z = low_z.at[i], .low = 1}, (char *)y.at[i] + e->real_size);
  }
  same_number(name, "norm2", h, norm[0], norm[1], 64);
  ON_BOTH(i) {
    same_number(name, "square", h, norm[i] * norm[i], square[i].re, 64);
    assert_true(square[i].im == 0 && product[i].im == 0);
  }
  assert_near(product[0].re, product[1].re, 64 * epsilon_of(h) * norm[0] * sqrt((double)n));
  same_number(name, "step", h, stepped[0], stepped[1], 64);
  same_number(name, "least", h, range[0].least, range[1].least, 0);
  same_number(name, "most", h, range[0].most, range[1].most, 0);
  assert_near(range[0].mean, range[1].mean, 1e-14);
  same_twin(name, "axpy, and from the lower type, correct", &y, 8 * FLT_EPSILON / epsilon_of(h));
  same_twin(name, "xpay", &r, 8);
  same_twin(name, "step's residual", &x, 8);
  ON_BOTH(i) {
    const gmg_exec *e = i ? d : h;
    gmg_exec_write_reals(&wide[i], scale.at[i], 3, (const double[]){0, 0, 0}); /* unknown */
    e->vector->normalize_to_low(e, n, x.at[i], scale.at[i], NULL);
    normalized(name, e, &scale, i, n, x.at[i], 1 << 21);
    e->vector->scale_to_low(e, n, scale.at[i], x.at[i], low_z.at[i]);
    e->vector->normalize_to_low(e, n, x.at[i], scale.at[i], low_too.at[i]);
    same(name, "unit and shrink", &low_exec[i], &low_exec[i], low_z.at[i], low_too.at[i], n, 0);
    gmg_exec_write_reals(&wide[i], scale.at[i], 3, (const double[]){1e30, 0, 0}); /* wrong */
    e->vector->normalize_to_low(e, n, x.at[i], scale.at[i], low_too.at[i]);
    normalized(name, e, &scale, i, n, x.at[i], 2);
    e->vector->scale_to_low(e, n, scale.at[i], x.at[i], low_z.at[i]);
    same(name, "unit and shrink, from a wrong scale", &low_exec[i], &low_exec[i], low_z.at[i], low_too.at[i], n, 0);
    e->vector->subtract_mean(e, n, x.at[i]);
  }
  if (n > 1) same_twin(name, "centre", &x, 64);
  ON_BOTH(i) {
    const gmg_exec *e = i ? d : h;
    const double nan = NAN;
    e->vector->fill(e, n, 2.5, r.at[i]);
    e->vector->copy(e, n, r.at[i], y.at[i]);
    e->vector->fill(e, n, 0, r.at[i]);
    gmg_exec_write_reals(e, (char *)x.at[i] + n / 2 * e->real_size, 1, &nan);
    assert_true(isnan(e->vector->range(e, n, x.at[i]).most));
    assert_true(isnan(e->vector->norm2(e, n, x.at[i])));
  }
  same_twin(name, "fill", &r, 0);
  same_twin(name, "copy", &y, 0);
  for (int keep = 0; keep < 2; keep++) { /* without keep, NaN in the array must not matter */
    twin z = begin_twin(&low_exec[0], &low_exec[1], n, 7);
    ON_BOTH(i) {
      const gmg_exec *e = i ? d : h;
      const double known = 3.5;
      gmg_exec_write_reals(&wide[i], scale.at[i], 1, &known);
      e->vector->fill(e, n, keep ? 0.75 : NAN, y.at[i]);
      e->vector->correct(e, n, (gmg_correction){.z = z.at[i], .scale = scale.at[i], .low = 1}, keep, y.at[i]);
    }
    same_twin(name, keep ? "grow" : "grow anew", &y, 8);
    end_twin(&z);
  }
  end_twin(&x), end_twin(&y), end_twin(&r), end_twin(&low_z), end_twin(&scale), end_twin(&low_too);
  end_twin(&direction), end_twin(&factors);
}

/* Residuals in low precision. They are divided by a number, or multiplied by gmg_scale::next. The host asks for the norm or not.
   They are of u, or of u after a correction. */
static void low_residuals(const char *name, const gmg_exec *const e[2], gmg_level *const L[2], const twin *u, const twin *f,
                          const twin *r)
{
  const gmg_exec wide[2] = {gmg_exec_make(e[0]->context, GMG_F64, 0), gmg_exec_make(e[1]->context, GMG_F64, 0)};
  const gmg_exec low_exec[2] = {gmg_exec_make(e[0]->context, GMG_F32, 0), gmg_exec_make(e[1]->context, GMG_F32, 0)};
  const double A = 64;
  twin low = begin_twin(&low_exec[0], &low_exec[1], u->n, 0), scale = begin_twin(&wide[0], &wide[1], SCALE_DOUBLES, 0);
  twin divisors = begin_twin(&wide[0], &wide[1], 2, 0);
  ON_BOTH(i) gmg_exec_write_reals(&wide[i], divisors.at[i], 2, (const double[]){8, -1});
  static const struct {
    int divided, waits, corrects;
  } kinds[] = {{0, 0, 0}, {1, 0, 0}, {0, 1, 0}, {1, 1, 0}, {0, 0, 1}, {1, 0, 1}, {0, 1, 1}, {1, 1, 1}};
  for (int k = 0; k < 8; k++) {
    const int divided = kinds[k].divided, waits = kinds[k].waits, corrects = kinds[k].corrects;
    const gmg_wait wait = waits ? GMG_WAIT : GMG_ENQUEUE;
    double norm[2], f_norm[2] = {0, 0};
    put_scale(&scale, (gmg_scale){.next = 0.5});
    ON_BOTH(i) {
      const double *memory = divisors.at[i], *divisor = divided ? memory : NULL;
      const gmg_correction c = {.z = r->at[i], .scale = divided ? NULL : memory + 1}; /* the first correction is subtracted, the second added again */
      low_exec[i].vector->fill(&low_exec[i], low.n, NAN, low.at[i]);
      double *const norm_of_f = waits ? &f_norm[i] : NULL;
      norm[i] = corrects ? gmg_operator_of(e[i], &L[i]->A)->correct_residual(e[i], &L[i]->A, c, f->at[i], u->at[i], divisor, scale.at[i], low.at[i], wait)
                         : gmg_operator_of(e[i], &L[i]->A)->measure_residual(e[i], &L[i]->A, f->at[i], u->at[i], divisor, scale.at[i], low.at[i], norm_of_f, wait);
    }
    same_twin(name, "low residual", &low, A);
    if (corrects) same_twin(name, "correction", u, A);
    const double norm_now = gmg_operator_of(e[0], &L[0]->A)->measure_residual(e[0], &L[0]->A, f->at[0], u->at[0], NULL, NULL, NULL, NULL, GMG_WAIT);
    ON_BOTH(i) {
      if (waits) same_number(name, "norm of the low residual", e[0], norm_now, norm[i], A);
      else assert_true(isnan(norm[i]));
    }
    same_number(name, "norm of f beside it", e[0], f_norm[0], f_norm[1], A);
    noted(name, "what was noted of the low residual", e[0], &scale, divided ? 8 : 2, norm_now, 0.5, A);
  }
  end_twin(&low), end_twin(&scale), end_twin(&divisors);
}

/* The operations of a level's operator. */
static void operations(const char *name, const both *b, int l)
{
  gmg_solver *const *s = b->solver;
  gmg_level *L[2] = {&s[0]->level[l], &s[1]->level[l]};
  const gmg_exec *e[2] = {s[0]->levels_exec, s[1]->levels_exec};
  const size_t n = L[0]->A.cells;
  twin u = begin_twin(e[0], e[1], n, 11), f = begin_twin(e[0], e[1], n, 12);
  twin r = begin_twin(e[0], e[1], n, 0), q = begin_twin(e[0], e[1], n, 0);
  twin without = begin_twin(e[0], e[1], n, 0);
  double norm[2], f_norm[2], magnitude[2], dot[2], mean[2];
  gmg_deviation rest[2];
  for (int a = 0; a < 3; a++)
    if (L[0]->A.face[a])
      same(name, "coefficients on faces", e[0], e[1], L[0]->A.face[a], L[1]->A.face[a], gmg_face_count(&L[0]->A, a), 64);
  if (L[0]->A.sigma) same(name, "sigma", e[0], e[1], L[0]->A.sigma, L[1]->A.sigma, n, 64);
  ON_BOTH(i) {
    const gmg_grid_ops *S = gmg_grid_ops_of(e[i]);
    gmg_operator_of(e[i], &L[i]->A)->residual(e[i], &L[i]->A, f.at[i], u.at[i], r.at[i]);
    norm[i] = gmg_operator_of(e[i], &L[i]->A)->measure_residual(e[i], &L[i]->A, f.at[i], u.at[i], NULL, NULL, NULL, &f_norm[i], GMG_WAIT);
    magnitude[i] = gmg_operator_of(e[i], &L[i]->A)->magnitude(e[i], &L[i]->A, u.at[i]);
    dot[i] = S->dot(e[i], &L[i]->A, u.at[i], u.at[i]).re;
    mean[i] = S->dot(e[i], &L[i]->A, f.at[i], NULL).re / L[i]->volume;
    rest[i] = S->take_mean(e[i], &L[i]->A, L[i]->volume, f.at[i], without.at[i]);
    gmg_operator_of(e[i], &L[i]->A)->apply(e[i], &L[i]->A, u.at[i], q.at[i]);
  }
  const double A = 64; /* units in the last place */
  same_twin(name, "residual", &r, A), same_twin(name, "operator", &q, A);
  same_number(name, "residual norm", e[0], norm[0], norm[1], A), same_number(name, "norm of f", e[0], f_norm[0], f_norm[1], A);
  same_number(name, "magnitude", e[0], magnitude[0], magnitude[1], A), same_number(name, "inner product", e[0], dot[0], dot[1], A);
  assert_near(mean[0], mean[1], A * epsilon_of(e[0]));
  ON_BOTH(i) assert_near(rest[i].mean, mean[0], A * epsilon_of(e[0]));
  same_twin(name, "f without its mean", &without, A);
  same_number(name, "norm of f without its mean", e[0], rest[0].norm, rest[1].norm, A);
  ON_BOTH(i) {
    gmg_operator_of(e[i], &L[i]->A)->over_diagonal(e[i], &L[i]->A, f.at[i], r.at[i]);
  }
  same_twin(name, "over the diagonal", &r, A);
  low_residuals(name, e, L, &u, &f, &r);
  end_twin(&u), end_twin(&f), end_twin(&r), end_twin(&q), end_twin(&without);
}

/* An array on the device with this layout. The values of x, which is packed, stand in it, NaN elsewhere. To be released. */
static void *spread_on_device(const gmg_exec *e, gmg_layout at, size_t first, const void *x)
{
  const gmg_layout all = gmg_layout_of_list(first + gmg_offset(at, at.n[0] - 1, at.n[1] - 1, at.n[2] - 1) + 1);
  char *to = e->memory->alloc(e->context, all.n[0] * e->real_size);
  assert_non_null(to);
  e->vector->fill(e, all.n[0], NAN, to);
  gmg_array_copy(e, gmg_layout_packed(at.n), x, at, to + first * e->real_size);
  return to;
}

/* Residuals of arrays with gaps. The first unknown is the first or the second of an aligned pair, rows have even or odd lengths,
   and f and u have equal or different layouts. */
static void residuals_with_gaps(const char *name, const both *b, int l)
{
  static const struct {
    size_t f_row, f_rows, f_first, u_row, u_rows, u_first;
  } gaps[] = {{2, 0, 1, 2, 0, 1}, {3, 1, 0, 3, 1, 1}, {2, 0, 2, 2, 2, 2}, {2, 1, 0, 4, 0, 3}, {0, 0, 1, 1, 1, 0}};
  gmg_solver *const *s = b->solver;
  const gmg_exec *h = s[0]->levels_exec, *d = s[1]->levels_exec;
  const gmg_operator *A = &s[0]->level[l].A;
  const size_t n = A->cells, size = d->real_size;
  const double few = 64;
  twin u = begin_twin(h, d, n, 61), f = begin_twin(h, d, n, 62), r = begin_twin(h, d, n, 0);
  double f_norm[2];
  gmg_operator_of(h, A)->residual(h, A, f.at[HOST], u.at[HOST], r.at[HOST]);
  const double norm = gmg_operator_of(h, A)->measure_residual(h, A, f.at[HOST], u.at[HOST], NULL, NULL, NULL, &f_norm[HOST], GMG_WAIT);
  for (int k = 0; k < COUNT(gaps); k++) {
    const gmg_layout packed = gmg_layout_packed(A->n);
    gmg_residual_layouts at = {packed, packed, packed};
    at.f.row += gaps[k].f_row, at.f.rows += gaps[k].f_rows, at.u.row += gaps[k].u_row, at.u.rows += gaps[k].u_rows;
    gmg_operator B = s[1]->level[l].A;
    void *F = spread_on_device(d, at.f, gaps[k].f_first, f.at[DEVICE]), *U = spread_on_device(d, at.u, gaps[k].u_first, u.at[DEVICE]);
    const char *of_f = (char *)F + gaps[k].f_first * size, *of_u = (char *)U + gaps[k].u_first * size;
    B.caller_layouts = &at;
    gmg_operator_of(d, &B)->residual(d, &B, of_f, of_u, r.at[DEVICE]);
    same_twin(name, "residual between arrays with gaps", &r, few);
    const double measured = gmg_operator_of(d, &B)->measure_residual(d, &B, of_f, of_u, NULL, NULL, NULL, &f_norm[DEVICE], GMG_WAIT);
    same_number(name, "its norm", h, norm, measured, few), same_number(name, "norm of f", h, f_norm[HOST], f_norm[DEVICE], few);
    d->memory->release(d->context, F), d->memory->release(d->context, U);
  }
  end_twin(&u), end_twin(&f), end_twin(&r);
}

/* Without a direction a step of conjugate gradients moves nothing, whatever p and q hold. */
static void no_steps(const char *name, const gmg_exec e[2], twin *direction, size_t n)
{
  static const gmg_cg_scalars none[] = {{.pq = 0, .pr = 1}, {.pq = -1, .pr = 1}, {.pq = 1e-300, .pr = 1e300}, {.pq = 1, .pr = INFINITY},
                                       {.pq = INFINITY, .pr = 1}, {.pq = 1, .pr = NAN}, {.pq = NAN, .pr = 1}};
  twin p = begin_twin(&e[0], &e[1], n, 0), u = begin_twin(&e[0], &e[1], n, 16), u_before = begin_twin(&e[0], &e[1], n, 16);
  twin r = begin_twin(&e[0], &e[1], n, 17), r_before = begin_twin(&e[0], &e[1], n, 17);
  ON_BOTH(i) e[i].vector->fill(&e[i], n, NAN, p.at[i]);
  for (size_t k = 0; k < sizeof none / sizeof *none; k++) {
    double norm[2];
    put(direction, none[k]);
    ON_BOTH(i) {
      norm[i] = e[i].vector->cg_update(&e[i], n, direction->at[i], p.at[i], p.at[i], u.at[i], r.at[i], GMG_WAIT);
      same(name, "u without a step", &e[i], &e[i], u_before.at[i], u.at[i], n, 0);
      same(name, "r without a step", &e[i], &e[i], r_before.at[i], r.at[i], n, 0);
      assert_true(got(direction, i).pq == 0);
    }
    if (isfinite(none[k].pq) && isfinite(none[k].pr)) same_number(name, "norm without a step", &e[0], norm[0], norm[1], 64);
    else assert_true(isnan(norm[0]) && isnan(norm[1]));
  }
  end_twin(&p), end_twin(&u), end_twin(&u_before), end_twin(&r), end_twin(&r_before);
}

/* Directions of conjugate gradients. Their scalars are in exec's memory. The residual has a unit or none. */
static void directions(const char *name, const both *b, int l)
{
  static const gmg_cg_scalars none[] = {{.pq = 0, .zr = 2}, {.pq = -4, .zr = 2}, {.pq = NAN, .zr = 2}};
  gmg_solver *const *s = b->solver;
  const gmg_operator *A[2] = {&s[0]->level[l].A, &s[1]->level[l].A};
  const gmg_exec e[2] = {*s[0]->levels_exec, *s[1]->levels_exec};
  const gmg_exec wide[2] = {gmg_exec_make(e[0].context, GMG_F64, 0), gmg_exec_make(e[1].context, GMG_F64, 0)};
  const size_t n = A[0]->cells, numbers = sizeof(gmg_cg_scalars) / sizeof(double);
  const double few = 64;
  twin z = begin_twin(&e[0], &e[1], n, 12), p = begin_twin(&e[0], &e[1], n, 11);
  twin apart = begin_twin(&e[0], &e[1], n, 0);
  twin q = begin_twin(&e[0], &e[1], n, 0), d = begin_twin(&wide[0], &wide[1], numbers, 0), unit = begin_twin(&wide[0], &wide[1], 1, 0);
  ON_BOTH(i) wide[i].vector->fill(&wide[i], 1, 0.75, unit.at[i]);
  for (int has_unit = 0; has_unit < 2; has_unit++) {
    const double *in[2];
    ON_BOTH(i) in[i] = has_unit ? unit.at[i] : NULL;
    for (int flexible = 0; flexible < 2; flexible++) {
      put(&d, (gmg_cg_scalars){.pq = 4, .pr = 5, .zr = 2, .beta = 7});
      ON_BOTH(i) gmg_grid_ops_of(&e[i])->cg_beta(&e[i], A[i], z.at[i], z.at[i], flexible, d.at[i], in[i]);
      same_direction(name, flexible ? "flexible share" : "share", &e[0], &d, few);
      for (size_t k = 0; k < sizeof none / sizeof *none; k++) {
        put(&d, none[k]);
        ON_BOTH(i) {
          gmg_grid_ops_of(&e[i])->cg_beta(&e[i], A[i], z.at[i], flexible ? NULL : z.at[i], flexible, d.at[i], in[i]);
          assert_true(got(&d, i).beta == 0);
        }
      }
    }
    for (int anew = 0; anew < 2; anew++) { /* without keep, NaN in the array must not matter */
      put(&d, (gmg_cg_scalars){.beta = anew ? 0 : 0.25});
      ON_BOTH(i) {
        if (anew) e[i].vector->fill(&e[i], n, NAN, p.at[i]);
        const gmg_operator_ops *op = gmg_operator_of(&e[i], A[i]);
        op->cg_direction(&e[i], A[i], z.at[i], d.at[i], in[i], p.at[i], apart.at[i], z.at[i], q.at[i]);
        op->cg_direction(&e[i], A[i], z.at[i], d.at[i], in[i], p.at[i], p.at[i], z.at[i], q.at[i]);
        same(name, "direction in another field", &e[i], &e[i], p.at[i], apart.at[i], n, 0);
      }
      same_twin(name, "direction", &p, few), same_twin(name, "its image", &q, few);
      same_direction(name, "its inner products", &e[0], &d, few);
    }
  }
  no_steps(name, e, &d, n);
  end_twin(&z), end_twin(&p), end_twin(&apart), end_twin(&q), end_twin(&d), end_twin(&unit);
}

static void boundaries(const char *name, const both *b)
{
  gmg_solver *const *s = b->solver;
  gmg_level *L[2] = {s[0]->finest, s[1]->finest};
  const gmg_exec *e[2] = {&s[0]->exec, &s[1]->exec};
  const gmg_operator *A = &L[0]->A;
  const size_t padded = (A->n[0] + 2) * (A->n[1] + 2) * (A->n[2] + 2);
  twin u = begin_twin(e[0], e[1], A->cells, 31), p = begin_twin(e[0], e[1], padded, 0);
  for (int a = 0; a < A->dim; a++) {
    const size_t faces = gmg_face_count(A, a);
    twin g = begin_twin(e[0], e[1], A->cells / A->n[a], 40 + (uint64_t)a);
    twin flux = begin_twin(e[0], e[1], faces, 0), slope = begin_twin(e[0], e[1], faces, 0);
    for (int side = 0; side < 2; side++)
      ON_BOTH(i) if (L[i]->faces.g[a][side]) assert_ok(b->context[i], gmg_set_boundary_values(s[i], a, side, g.at[i]));
    ON_BOTH(i) gmg_grid_ops_of(e[i])->flux(e[i], &L[i]->A, &L[i]->faces, a, u.at[i], flux.at[i], slope.at[i]);
    same_twin(name, "flux", &flux, 64), same_twin(name, "gradient", &slope, 64);
    end_twin(&g), end_twin(&flux), end_twin(&slope);
  }
  ON_BOTH(i) gmg_grid_ops_of(e[i])->pad(e[i], &L[i]->A, &L[i]->faces, u.at[i], p.at[i]);
  ON_BOTH(i) gmg_grid_ops_of(e[i])->fold(e[i], &L[i]->A, &L[i]->faces, u.at[i]);
  same_twin(name, "ghosts", &p, 64), same_twin(name, "boundary values", &u, 64);
  end_twin(&u), end_twin(&p);
}

static void everything(const char *name, const gmg_problem *p)
{
  gmg_params q = params_for_cycles();
  q.precision = GMG_PRECISION_SAME;
  both b = begin_both(p, &q, name);
  vectors(name, &b.solver[0]->exec, &b.solver[1]->exec, unknowns(p));
  for (int l = 0; l < b.solver[0]->levels; l++) operations(name, &b, l), directions(name, &b, l), residuals_with_gaps(name, &b, l);
  for (int l = 0; l + 1 < b.solver[0]->levels; l++) transfers(name, &b, l);
  boundaries(name, &b);
  end_both(&b);
  all_transfers(name, p, 1);
}

static void operations_agree(void **state)
{
  (void)state;
  for (int type = 0; type < 2; type++)
    for (int i = 0; i < PLAIN; i++) {
      gmg_problem p = shaped_problem(&plain[i].shape);
      if (!taken(unknowns(&p))) continue;
      p.type = (gmg_type)type;
      everything(plain[i].name, &p);
    }
}

/* 2D: a warp processes a row on large levels. Other levels are processed by pairs. */
static void operations_agree_in_rows(void **state)
{
  static const plain_case flat[] = {{"few columns", {2, {8, 300, 1}, GMG_CELL, "ndrd"}},  {"vertices", {2, {128, 97, 1}, GMG_VERTEX, "ppdd"}},
                                    {"large", {2, {704, 500, 1}, GMG_CELL, "dndd"}},      {"periodic", {2, {640, 502, 1}, GMG_CELL, "ppdd"}},
                                    {"all around", {2, {600, 600, 1}, GMG_CELL, "pppp"}}, {"other pairs", {2, {706, 502, 1}, GMG_CELL, "ppdd"}},
                                    {"large, vertices", {2, {640, 500, 1}, GMG_VERTEX, "pppp"}}};
  (void)state;
  for (int type = 0; type < 2; type++)
    for (size_t i = 0; i < sizeof flat / sizeof *flat; i++) {
      gmg_problem p = shaped_problem(&flat[i].shape);
      if (!taken(unknowns(&p))) continue;
      p.type = (gmg_type)type;
      everything(flat[i].name, &p);
    }
}

/* Variable coefficients, in double. */
static void operations_agree_in_media(void **state)
{
  (void)state;
  for (int dim = 1; dim <= 3; dim++)
    for (int centering = 0; centering < 2; centering++) {
      const size_t n = dim == 3 ? 21 : 64;
      medium m[] = {ball(dim, n, 1e4, (gmg_centering)centering), wavy(dim, n, 0.9, (gmg_centering)centering),
                    stretched(dim, n, 5, (gmg_centering)centering), absorbing(dim, n, 1e4, (gmg_centering)centering)};
      static const char *const names[] = {"ball", "wavy", "stretched", "absorbing"};
      for (int i = 0; i < 4; i++) {
        if (i == 0 && centering == GMG_VERTEX) m[i].p.bc[0][0] = GMG_ROBIN, m[i].p.robin[0][0][0] = 2, m[i].p.robin[0][0][1] = 1;
        if (i == 1) m[i].p.bc[0][0] = m[i].p.bc[0][1] = GMG_PERIODIC;
        if (taken(unknowns(&m[i].p))) everything(names[i], &m[i].p);
        free_medium(&m[i]);
      }
    }
}

/* Coefficients on faces. Kernels process columns by pairs on all levels, on some or on none, depending on even and odd sizes and
   on periodic axes. */
static void operations_agree_on_faces(void **state)
{
  static const plain_case boxes[] = {{"even", {3, {72, 40, 24}, GMG_CELL, "dnddrd"}},     {"even, periodic", {3, {20, 64, 36}, GMG_CELL, "ppddpp"}},
                                     {"a cube", {3, {64, 64, 64}, GMG_CELL, "dddddd"}},   {"odd planes", {3, {34, 18, 21}, GMG_CELL, "dddndd"}},
                                     {"odd planes, periodic", {3, {36, 20, 13}, GMG_CELL, "pppppp"}},
                                     {"odd lines", {3, {20, 33, 12}, GMG_CELL, "ddppdn"}}, {"odd rows", {3, {33, 20, 12}, GMG_CELL, "ppdddd"}},
                                     {"vertices", {3, {40, 24, 16}, GMG_VERTEX, "ndrdpp"}}, {"small", {3, {2, 4, 3}, GMG_CELL, "dnppdd"}},
                                     {"the last plane alone", {3, {24, 20, 21}, GMG_CELL, "dddndr"}},
                                     {"two", {3, {2, 2, 2}, GMG_CELL, "pppppp"}},          {"long", {3, {130, 6, 2}, GMG_CELL, "dddddd"}}};
  static const struct {
    gmg_type type;
    int with_sigma, faces_given; /* faces_given: beta_face is given. On periodic axes its last values are not read */
  } kinds[] = {{GMG_F64, 0, 0}, {GMG_F32, 0, 0}, {GMG_F64, 1, 0}, {GMG_F32, 1, 0}, {GMG_F64, 1, 1}, {GMG_F32, 1, 1}};
  (void)state;
  for (int k = 0; k < COUNT(kinds); k++)
    for (size_t i = 0; i < sizeof boxes / sizeof *boxes; i++) {
      gmg_problem p = shaped_problem(&boxes[i].shape);
      if (!taken(unknowns(&p))) continue;
      p.type = kinds[k].type;
      const size_t n = unknowns(&p);
      void *beta = rough(&p, n, 100, 51), *sigma = kinds[k].with_sigma ? rough(&p, n, 1000, 52) : NULL, *face[3] = {NULL};
      for (int a = 0; a < 3 && kinds[k].faces_given; a++)
        p.beta_face[a] = face[a] = rough(&p, n / p.n[a] * (p.n[a] + 1), 100, 54 + (uint64_t)a);
      p.beta = kinds[k].faces_given ? NULL : beta, p.sigma = sigma;
      everything(boxes[i].name, &p);
      free(beta), free(sigma), free(face[0]), free(face[1]), free(face[2]);
    }
  for (int centering = 0; centering < 2; centering++) { /* stretched axes: volumes differ */
    medium m = stretched(3, 24, 5, (gmg_centering)centering);
    m.beta = rough(&m.p, unknowns(&m.p), 100, 53), m.p.beta = m.beta;
    if (taken(unknowns(&m.p))) everything("stretched", &m.p);
    free_medium(&m);
  }
}

/* The inverse of a dense symmetric positive definite matrix, times weights of the columns: A (A^-1 W) = W. */
static void dense_inverses_are_right(void **state)
{
  static const size_t sizes[] = {1, 2, 7, 31, 32, 33, 64, 100, 255, 257};
  gmg_context *c;
  (void)state;
  assert_int_equal(gmg_context_create_cuda(0, NULL, &c), GMG_OK);
  for (int type = 0; type < 2; type++)
    for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++) {
      const size_t n = sizes[s];
      if (!taken(n * n)) continue;
      gmg_exec e = gmg_exec_make(c, type ? GMG_F64 : GMG_F32, 0);
      const gmg_coarse_kernels *k = gmg_coarse_kernels_of(&e);
      double *A = field(n * n, 41), *m = field(n * n, 0), *w = field(n, 42), most = 0;
      void *on_device[3];
      assert_ok(c, gmg_exec_alloc(&e, "matrix", n * n * sizeof *A, &on_device[0]));
      assert_ok(c, gmg_exec_alloc(&e, "weights", n * sizeof *w, &on_device[1]));
      assert_ok(c, gmg_exec_alloc(&e, "work", k->invert_work(n), &on_device[2]));
      for (size_t i = 0; i < n; i++) {
        for (size_t j = 0; j < i; j++) A[i * n + j] = A[j * n + i];
        A[i * n + i] += (double)n, w[i] += 2;
      }
      e.memory->upload(c, on_device[0], A, n * n * sizeof *A), e.memory->upload(c, on_device[1], w, n * sizeof *w);
      k->invert_dense(&e, n, on_device[1], on_device[2], on_device[0]);
      e.memory->download(c, m, on_device[0], n * n * sizeof *m);
      for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j < n; j++) {
          double sum = i == j ? -w[j] : 0;
          for (size_t l = 0; l < n; l++) sum += A[i * n + l] * m[l * n + j];
          most = !(fabs(sum) <= most) ? fabs(sum) : most;
        }
      print_message("%zu: %.1e\n", n, most);
      assert_below(most, 1e-11);
      free(A), free(m), free(w);
      gmg_exec_release(&e);
    }
  gmg_context_destroy(c);
}

int main(int argc, char **argv)
{
  only(argc, argv);
  if (without_device()) return SKIPPED;
  const struct CMUnitTest tests[] = {cmocka_unit_test(operations_agree), cmocka_unit_test(operations_agree_in_rows),
                                     cmocka_unit_test(operations_agree_in_media), cmocka_unit_test(operations_agree_on_faces),
                                     cmocka_unit_test(dense_inverses_are_right)};
  return run_selected(tests);
}
