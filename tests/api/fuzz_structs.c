/* Fuzz target for the public structs. Bytes become a problem and parameters, valid or not, and every function is called. A call
   must not crash, hang, leak, print, or return a status that the header does not promise.

   With GMG_FUZZ it is built for libFuzzer. Otherwise its own driver makes inputs from a seed:
     fuzz_structs [NUMBER [SEED]]     that many inputs (2000)
     fuzz_structs FILE...             inputs kept by libFuzzer */
#include "gmg.h"
#include "gmg_smoother.h"

#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_UNKNOWNS = 600, LONGEST = 40, REALS = 8192, GAP = 0xff /* GAP: every byte of a gap, which is NaN in both types */ };

/* An input: its bytes, then zeros. */
typedef struct {
  const uint8_t *at;
  size_t left;
} input;

static unsigned byte(input *in)
{
  if (!in->left) return 0;
  in->left--;
  return *in->at++;
}

/* An integer, mostly in 0 .. n - 1, sometimes just outside or far outside. */
static int integer(input *in, int n)
{
  static const int odd[] = {-1, 1 << 30, -(1 << 30), 1000, -7};
  const unsigned b = byte(in);
  if (b >= 250) return b == 250 ? n : odd[b - 251];
  return (int)b % n;
}

/* A number, mostly between 0.01 and 10, sometimes one that breaks arithmetic. */
static double real(input *in)
{
  static const double odd[] = {0, -1, NAN, INFINITY, -INFINITY, 1e300, 1e-300, -0.0, 1e30, 1e-30, 2, 1e-8, 1e8, -1e-3, 1};
  const unsigned b = byte(in);
  return b >= 240 ? odd[(b - 240) % 15] : 0.01 * pow(10, (double)b / 80);
}

/* The shape and layout of an array. */
typedef struct {
  size_t n[3], row, plane, first;
} form;

static form form_of(const gmg_problem *p, int face_axis, const gmg_array_layout *l)
{
  form x = {{p->n[0], p->dim > 1 ? p->n[1] : 1, p->dim > 2 ? p->n[2] : 1}, 0, 0, l->first};
  if (face_axis >= 0) x.n[face_axis]++;
  x.row = p->dim > 1 && l->row ? l->row : x.n[0];
  x.plane = p->dim > 2 && l->plane ? l->plane : x.row * x.n[1];
  return x;
}

/* Whether an array of this form fits into the memory of the test. */
static int fits(const form *x)
{
  const size_t y = x->n[1] - 1, z = x->n[2] - 1;
  return (double)x->first + (double)x->n[0] + (y ? (double)x->row * (double)y : 0) + (z ? (double)x->plane * (double)z : 0) <= REALS;
}

static size_t place_in(const form *x, size_t i)
{
  const size_t line = i / x->n[0];
  return x->first + i % x->n[0] + line % x->n[1] * x->row + line / x->n[1] * x->plane;
}

/* An array whose values are all about the same, except one. The rest of its memory is a gap. */
static void *array(input *in, gmg_type type, form shape)
{
  double *x = malloc(REALS * sizeof *x);
  const double usual = real(in), other = real(in);
  const size_t place = byte(in), n = shape.n[0] * shape.n[1] * shape.n[2];
  memset(x, GAP, REALS * sizeof *x);
  for (size_t i = 0; i < n && fits(&shape); i++) {
    const double v = i == place % n ? other : usual * (1 + 0.1 * (double)(i % 7));
    if (type == GMG_F32) ((float *)x)[place_in(&shape, i)] = (float)v;
    else x[place_in(&shape, i)] = v;
  }
  return x;
}

/* Whether the gaps are unchanged. */
static int keeps_gaps(const void *x, gmg_type type, form shape)
{
  static unsigned char is_value[REALS];
  const size_t size = type == GMG_F32 ? sizeof(float) : sizeof(double), n = shape.n[0] * shape.n[1] * shape.n[2];
  const unsigned char *at = x;
  memset(is_value, 0, sizeof is_value);
  for (size_t i = 0; i < n; i++) is_value[place_in(&shape, i)] = 1;
  for (size_t i = 0; i < REALS * size; i++)
    if (!is_value[i / size] && at[i] != GAP) return 0;
  return 1;
}

/* A layout. Every second one is packed, the others have small gaps, sometimes ones that are refused or too large. */
static gmg_array_layout layout(input *in, const gmg_problem *p)
{
  static const size_t odd[] = {1, 7, 500, 100000, (size_t)1 << 40, (size_t)1 << 62, SIZE_MAX / 1024, SIZE_MAX / 2, SIZE_MAX};
  const unsigned what = byte(in), value = byte(in);
  gmg_array_layout l = {0, 0, 0};
  if (what % 2) return l;
  if (what & 4) l.row = p->n[0] + value % 4;
  if (what & 8) l.plane = (l.row ? l.row : p->n[0]) * (p->n[1] + value / 4 % 3);
  if (what & 16) l.first = value / 16;
  if (what >= 236) *(what % 3 == 0 ? &l.row : what % 3 == 1 ? &l.plane : &l.first) = odd[value % 9];
  return l;
}

static double *positions(input *in, size_t n)
{
  double *x = calloc(n + 2, sizeof *x);
  const double width = real(in), other = real(in);
  const size_t place = byte(in);
  for (size_t i = 1; i < n + 2; i++) x[i] = x[i - 1] + (i == place % (n + 2) ? other : width);
  return x;
}

/* A stencil, mostly symmetric with a large enough centre, sometimes Q1 or with one other entry. */
static gmg_stencil *stencil(input *in, int dim)
{
  gmg_stencil *s = calloc(1, sizeof *s);
  double *entry = &s->entry[0][0][0], size = 0;
  const unsigned what = byte(in);
  if (what % 4 == 0) {
    const double h[3] = {real(in), real(in), real(in)};
    *s = gmg_stencil_q1(dim, h, what % 8 ? real(in) : 0);
  } else {
    for (int e = 0; e < 13; e++) {
      if ((dim < 3 && e / 9 != 1) || (dim < 2 && e / 3 % 3 != 1)) continue;
      entry[e] = entry[26 - e] = byte(in) % 4 ? -real(in) : what % 3 ? 0 : 0.1 * real(in);
      size += 2 * fabs(entry[e]);
    }
    entry[13] = size * (what % 5 ? 1 : 1.5);
  }
  if (what > 200) entry[byte(in) % 27] = real(in);
  if (what > 230) s->size = byte(in) % sizeof *s;
  return s;
}

/* Gives arrays to entries. They hold the constant value. Sometimes one value differs, or the constant stays beside the array.
   Entries across Dirichlet walls need no values, but get them. */
static void vary(input *in, const gmg_problem *p, gmg_stencil *s)
{
  const form shape = form_of(p, -1, &p->coefficient_layout);
  const unsigned what = byte(in), odd = byte(in) % 27, place = byte(in);
  const size_t n = shape.n[0] * shape.n[1] * shape.n[2], size = p->type == GMG_F32 ? sizeof(float) : sizeof(double);
  const double other = real(in);
  for (int e = 0; e < 27 && s->size == 0; e++) {
    double *const entry = &(&s->entry[0][0][0])[e];
    const int is_used = (p->dim > 2 || e / 9 == 1) && (p->dim > 1 || e / 3 % 3 == 1);
    if (!(is_used && (what % 3 || e % 2)) && !(what > 250 && e == (int)odd)) continue;
    char *x = malloc(REALS * size);
    memset(x, GAP, REALS * size);
    for (size_t i = 0; i < n && fits(&shape); i++) {
      const double v = what > 200 && e == (int)odd && i == place % n ? other : *entry;
      if (p->type == GMG_F32) ((float *)x)[place_in(&shape, i)] = (float)v;
      else ((double *)x)[place_in(&shape, i)] = v;
    }
    (&s->array[0][0][0])[e] = x;
    if (what < 240 || e != (int)odd) *entry = 0;
  }
}

static int varies(const gmg_stencil *s)
{
  int count = 0;
  for (int e = 0; s && e < 27; e++) count += (&s->array[0][0][0])[e] != NULL;
  return count;
}

static void free_stencil(const gmg_stencil *s)
{
  for (int e = 0; s && e < 27; e++) free((void *)(&s->array[0][0][0])[e]);
  free((void *)s);
}

/* Whether a vertex axis has an odd number of intervals. */
static int has_odd_axis(const gmg_problem *p, int a)
{
  const size_t walls = (p->bc[a][0] == GMG_DIRICHLET) + (p->bc[a][1] == GMG_DIRICHLET);
  return p->bc[a][0] == GMG_PERIODIC ? p->n[a] % 2 : (p->n[a] + 1 + walls) % 2;
}

/* A problem. Its arrays are to be freed. No array is made with a size that create must refuse. */
static gmg_problem make_problem(input *in)
{
  const size_t one[3] = {1, 1, 1};
  gmg_problem p = gmg_problem_default(1 + (int)byte(in) % 3, one);
  size_t left = MOST_UNKNOWNS;
  for (int a = 0; a < p.dim; a++) {
    p.n[a] = 1 + byte(in) % (left < LONGEST ? left : LONGEST);
    left /= p.n[a];
    p.h[a] = real(in);
    for (int side = 0; side < 2; side++) {
      p.bc[a][side] = (gmg_bc)integer(in, 4);
      p.robin[a][side][0] = real(in), p.robin[a][side][1] = real(in);
    }
    if (byte(in) % 16 && p.bc[a][0] != p.bc[a][1]) /* an axis that is periodic on one side only is refused at once */
      p.bc[a][p.bc[a][0] == GMG_PERIODIC ? 0 : 1] = GMG_NEUMANN;
  }
  p.centering = (gmg_centering)integer(in, 2);
  p.type = (gmg_type)integer(in, 2);
  p.shift = byte(in) % 2 ? real(in) : 0;
  const unsigned boxed = byte(in);
  if (boxed % 4 == 0) p.stencil = stencil(in, p.dim);
  if (p.stencil && boxed < 230) { /* other members that box stencils allow */
    p.centering = GMG_VERTEX;
    for (int a = 0; a < 6; a++)
      if (p.bc[a / 2][a % 2] == GMG_ROBIN) p.bc[a / 2][a % 2] = GMG_NEUMANN;
  }
  const unsigned arrays = byte(in) % 2 && (!p.stencil || boxed >= 230) ? byte(in) : 0; /* bits: which arrays are given */
  const gmg_type type = p.type == GMG_F32 ? GMG_F32 : GMG_F64;
  p.f_layout = layout(in, &p), p.u_layout = layout(in, &p), p.coefficient_layout = layout(in, &p);
  const unsigned varied = p.stencil ? byte(in) : 0;
  if (varied % 2) { /* sometimes with axes that have no coarser ones */
    for (int a = 0; a < p.dim && varied % 8 != 1; a++) p.n[a] += has_odd_axis(&p, a) && p.n[a] > 1 ? -1 : 0;
    const form shape = form_of(&p, -1, &p.coefficient_layout);
    if (!fits(&shape)) p.coefficient_layout.first = SIZE_MAX;
    vary(in, &p, (gmg_stencil *)p.stencil);
  }
  for (int a = -1; a < p.dim && arrays; a++) { /* an array that does not fit gets a layout that is refused, because its number of bytes overflows */
    const form shape = form_of(&p, a, &p.coefficient_layout);
    if (!fits(&shape)) p.coefficient_layout.first = SIZE_MAX;
  }
  if (arrays & 1) p.beta = array(in, type, form_of(&p, -1, &p.coefficient_layout));
  if (arrays & 2) p.sigma = array(in, type, form_of(&p, -1, &p.coefficient_layout));
  for (int a = 0; a < p.dim; a++) {
    if (arrays & 4 && (arrays & 64 || a != 1)) p.beta_face[a] = array(in, type, form_of(&p, a, &p.coefficient_layout));
    if (arrays >> (3 + a) & 1) p.coord[a] = positions(in, p.n[a]);
  }
  if (arrays & 128) { /* values that make the problem invalid */
    const unsigned which = byte(in) % 6;
    if (which == 0) p.dim = integer(in, 4);
    if (which == 1) p.n[byte(in) % 3] = byte(in) % 2 ? 0 : SIZE_MAX - byte(in);
    if (which == 2) p.n[0] = p.n[1] = p.n[2] = (size_t)1 << 31;
    if (which == 3) p.h[byte(in) % 3] = real(in);
  }
  return p;
}

static gmg_params make_params(input *in)
{
  gmg_params q = gmg_params_default();
  const unsigned set = byte(in);
  q.smoother = gmg_smoother_by_name(gmg_smoother_name(integer(in, 6)));
  q.max_cycles = byte(in) % 6;
  q.cycle = (gmg_cycle_kind)integer(in, 4);
  q.accel = (gmg_accel)integer(in, 4);
  if (set & 1) q.pre = integer(in, 4) - 1, q.post = integer(in, 4) - 1;
  if (set & 2) q.omega = real(in), q.restriction = (gmg_restriction)integer(in, 3), q.symmetric = integer(in, 2);
  if (set & 4) q.fmg = integer(in, 4) - 1, q.deterministic = integer(in, 2);
  if (set & 8) {
    q.async.local_sweeps = q.chebyshev_degree = integer(in, 5), q.async.local = (gmg_local_kind)integer(in, 4), q.async.overlap = integer(in, 4) - 1;
    q.async.passes = integer(in, 3), q.async.order = (gmg_block_order)integer(in, 5), q.async.seed = byte(in);
    q.async.assignment = (gmg_assignment)integer(in, 3), q.async.in_flight = integer(in, 4);
    if (byte(in) > 240) q.async.oversubscription = integer(in, 3);
    for (int a = 0; a < 3; a++) q.async.block[a] = byte(in) < 250 ? byte(in) % 9 : SIZE_MAX - byte(in);
  }
  if (set & 16) q.coarse = (gmg_coarse_kind)integer(in, 3), q.coarse_rtol = 0.05 * real(in), q.coarse_cells = byte(in);
  if (set & 32) q.max_levels = integer(in, 6), q.coarsen_threshold = 0.1 * real(in);
  if (set & 64) q.rtol = real(in), q.atol = real(in), q.check_every = integer(in, 4) - 1;
  q.line_axes = integer(in, 9);
  if (byte(in) > 240) q.precision = (gmg_precision)integer(in, 3);
  if (set & 128) q.max_cycles = integer(in, 4);
  if (q.max_cycles == 0) q.max_cycles = GMG_NONE;
  if (q.max_cycles > 5) q.max_cycles = 1000001; /* refused, because so many cycles would take too long */
  return q;
}

static void promise(int kept, const char *what, gmg_status status)
{
  if (kept) return;
  fprintf(stderr, "fuzz_structs: %s: %s\n", what, gmg_status_string(status));
  abort();
}

static int is_error(gmg_status s) { return s == GMG_ERR_ARGUMENT || s == GMG_ERR_UNSUPPORTED || s == GMG_ERR_MEMORY; }

/* Calls every function of a solver. */
static void use(input *in, gmg_solver *s, const gmg_context *c, const gmg_problem *p, int cycles)
{
  const gmg_array_layout packed = {0, 0, 0};
  const form of_f = form_of(p, -1, &p->f_layout), of_u = form_of(p, -1, &p->u_layout), of_g = form_of(p, -1, &packed);
  if (!fits(&of_f) || !fits(&of_u)) return; /* accepted, but too large for the test's memory */
  void *f = array(in, p->type, of_f), *u = array(in, p->type, of_u), *g = array(in, p->type, of_g);
  void *r = array(in, p->type, of_f), *z = array(in, p->type, of_u);
  gmg_problem other = *p;
  gmg_stencil *const box = p->stencil ? stencil(in, p->dim) : NULL;
  if (box && varies(p->stencil) && byte(in) % 4) vary(in, p, box);
  gmg_report report;
  for (int i = 0; i < 3; i++) {
    const int axis = integer(in, 3), side = integer(in, 2);
    const gmg_status status = byte(in) % 2 ? gmg_set_boundary_values(s, axis, side, g)
                                           : gmg_set_boundary_constant(s, axis, side, real(in));
    promise(p->stencil ? status == GMG_ERR_UNSUPPORTED : status == GMG_OK || status == GMG_ERR_ARGUMENT, "boundary values", status);
  }
  for (int round = 0; round < 2; round++) {
    gmg_status status = gmg_solve(s, f, u, &report);
    promise(gmg_status_is_outcome(status) || status == GMG_ERR_ARGUMENT, "solve", status);
    promise(status == GMG_OK || gmg_context_error(c)[0], "solve without a text", status);
    promise(report.status == status && report.cycles <= cycles && report.history_length <= cycles + 1, "report", status);
    status = gmg_precondition(s, f, z);
    promise(status == GMG_OK, "precondition", status);
    status = gmg_residual(s, f, u, r);
    promise(status == GMG_OK, "residual", status);
    other.shift = byte(in) % 2 ? real(in) : p->shift;
    other.stencil = byte(in) % 4 ? p->stencil : box;
    if (byte(in) > 240) other.h[0] = real(in), other.n[0] += byte(in) % 2;
    if (byte(in) > 230) other.u_layout = layout(in, p), other.f_layout = layout(in, p);
    if (other.n[0] != p->n[0]) { /* the arrays would be too small */
      other.beta = other.sigma = NULL;
      for (int a = 0; a < 3; a++) other.beta_face[a] = NULL, other.coord[a] = NULL;
    }
    status = gmg_solver_update(s, &other);
    promise(status == GMG_OK || is_error(status), "update", status);
    promise(status == GMG_OK || gmg_context_error(c)[0], "update without a text", status);
  }
  promise(keeps_gaps(f, p->type, of_f) && keeps_gaps(u, p->type, of_u), "gaps in f or u", GMG_OK);
  promise(keeps_gaps(r, p->type, of_f) && keeps_gaps(z, p->type, of_u), "gaps in r or z", GMG_OK);
  free(f), free(u), free(r), free(z), free(g), free_stencil(box);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
  static gmg_plan_info info;
  input in = {data, size};
  gmg_context *c = NULL;
  gmg_solver *s = NULL;
  gmg_status status = gmg_context_create_host(1 + (int)(byte(&in) % 2), &c);
  promise(status == GMG_OK, "context", status);
  const gmg_problem p = make_problem(&in);
  const gmg_params q = make_params(&in);
  const gmg_status planned = gmg_plan(c, &p, &q, &info);
  status = gmg_solver_create(c, &p, &q, &s);
  promise(status == GMG_OK || is_error(status), "create", status);
  /* a plan does not factorise */
  const int seen_late = strstr(gmg_context_error(c), "is not positive definite") || strstr(gmg_context_error(c), "is singular up to");
  promise(status == planned || status == GMG_ERR_MEMORY || seen_late, "plan and create differ", planned);
  promise((status == GMG_OK) == (s != NULL), "solver", status);
  promise((status == GMG_OK) == (gmg_context_error(c)[0] == 0), "text", status);
  if (status == GMG_OK) use(&in, s, c, &p, q.max_cycles > 0 ? q.max_cycles : 0);
  gmg_solver_destroy(s);
  gmg_context_destroy(c);
  free((void *)p.beta), free((void *)p.sigma), free_stencil(p.stencil);
  for (int a = 0; a < 3; a++) free((void *)p.beta_face[a]), free((void *)p.coord[a]);
  return 0;
}

#ifndef GMG_FUZZ
static int run_file(const char *name)
{
  static uint8_t data[1 << 16];
  FILE *file = fopen(name, "rb");
  if (!file) return 0;
  const size_t size = fread(data, 1, sizeof data, file);
  fclose(file);
  LLVMFuzzerTestOneInput(data, size);
  return 1;
}

int main(int argc, char **argv)
{
  char *end = NULL;
  long number = argc > 1 ? strtol(argv[1], &end, 10) : 2000;
  uint64_t state = argc > 2 ? strtoull(argv[2], NULL, 10) : 1;
  for (int i = 1; argc > 1 && *end && i < argc; i++)
    if (!run_file(argv[i])) return fprintf(stderr, "fuzz_structs: cannot read %s\n", argv[i]), 1;
  if (argc > 1 && *end) return 0;
  for (long i = 0; i < number; i++) {
    uint8_t data[256];
    for (size_t k = 0; k < sizeof data; k++) {
      state = state * 6364136223846793005u + 1442695040888963407u;
      data[k] = (uint8_t)(state >> 56);
      if (i % 4 && data[k] >= 240) data[k] = (uint8_t)(data[k] - 120); /* valid values reach more code */
    }
    LLVMFuzzerTestOneInput(data, sizeof data);
  }
  printf("%ld inputs\n", number);
  return 0;
}
#endif
