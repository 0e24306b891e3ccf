/* Fuzz target for the public structs: bytes become a problem and parameters, sensible or not, and everything that can be
   called is called. Nothing may crash, hang, leak, print, or end with a status that the header does not promise.

   Built for libFuzzer (GMG_FUZZ) it is the target alone. Otherwise a driver of its own makes inputs from a seed:
     fuzz_structs [NUMBER [SEED]]     that many inputs (2000)
     fuzz_structs FILE...             inputs kept by libFuzzer */
#include "gmg.h"
#include "gmg_smoother.h"

#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_UNKNOWNS = 600, LONGEST = 40, REALS = 4096 };

/* Bytes, then zeros. */
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

/* Mostly in 0 .. n - 1, now and then just outside or far out. */
static int integer(input *in, int n)
{
  static const int odd[] = {-1, 1 << 30, -(1 << 30), 1000, -7};
  const unsigned b = byte(in);
  if (b >= 250) return b == 250 ? n : odd[b - 251];
  return (int)b % n;
}

/* Mostly between 0.01 and 10, now and then what breaks arithmetic. */
static double real(input *in)
{
  static const double odd[] = {0, -1, NAN, INFINITY, -INFINITY, 1e300, 1e-300, -0.0, 1e30, 1e-30, 2, 1e-8, 1e8, -1e-3, 1};
  const unsigned b = byte(in);
  return b >= 240 ? odd[(b - 240) % 15] : 0.01 * pow(10, (double)b / 80);
}

/* Coefficients are made of one value with a second one at one place. */
static void *array(input *in, gmg_type type, size_t n)
{
  double *x = calloc(REALS, sizeof *x);
  const double usual = real(in), other = real(in);
  const size_t place = byte(in);
  for (size_t i = 0; i < n; i++) {
    const double v = i == place % n ? other : usual * (1 + 0.1 * (double)(i % 7));
    if (type == GMG_F32) ((float *)x)[i] = (float)v;
    else x[i] = v;
  }
  return x;
}

static double *positions(input *in, size_t n)
{
  double *x = calloc(n + 2, sizeof *x);
  const double width = real(in), other = real(in);
  const size_t place = byte(in);
  for (size_t i = 1; i < n + 2; i++) x[i] = x[i - 1] + (i == place % (n + 2) ? other : width);
  return x;
}

/* Mostly a symmetric one with a large enough centre, now and then Q1 or with an entry of its own. */
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

/* The problem's arrays are to be freed. A size that create must refuse is never used to make an array. */
static gmg_problem make_problem(input *in)
{
  const size_t one[3] = {1, 1, 1};
  gmg_problem p = gmg_problem_default(1 + (int)byte(in) % 3, one);
  size_t left = MOST_UNKNOWNS, n = 1;
  for (int a = 0; a < p.dim; a++) {
    p.n[a] = 1 + byte(in) % (left < LONGEST ? left : LONGEST);
    left /= p.n[a], n *= p.n[a];
    p.h[a] = real(in);
    for (int side = 0; side < 2; side++) {
      p.bc[a][side] = (gmg_bc)integer(in, 4);
      p.robin[a][side][0] = real(in), p.robin[a][side][1] = real(in);
    }
    if (byte(in) % 16 && p.bc[a][0] != p.bc[a][1]) /* periodic on one side only is soon known */
      p.bc[a][p.bc[a][0] == GMG_PERIODIC ? 0 : 1] = GMG_NEUMANN;
  }
  p.centering = (gmg_centering)integer(in, 2);
  p.type = (gmg_type)integer(in, 2);
  p.shift = byte(in) % 2 ? real(in) : 0;
  const unsigned boxed = byte(in);
  if (boxed % 4 == 0) p.stencil = stencil(in, p.dim);
  if (p.stencil && boxed < 230) { /* what else the stencil allows */
    p.centering = GMG_VERTEX;
    for (int a = 0; a < 6; a++)
      if (p.bc[a / 2][a % 2] == GMG_ROBIN) p.bc[a / 2][a % 2] = GMG_NEUMANN;
  }
  const unsigned arrays = byte(in) % 2 && (!p.stencil || boxed >= 230) ? byte(in) : 0; /* bits */
  const gmg_type type = p.type == GMG_F32 ? GMG_F32 : GMG_F64;
  if (arrays & 1) p.beta = array(in, type, n);
  if (arrays & 2) p.sigma = array(in, type, n);
  for (int a = 0; a < p.dim; a++) {
    if (arrays & 4 && (arrays & 64 || a != 1)) p.beta_face[a] = array(in, type, n / p.n[a] * (p.n[a] + 1));
    if (arrays >> (3 + a) & 1) p.coord[a] = positions(in, p.n[a]);
  }
  if (arrays & 128) { /* fields that spoil the rest */
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
  q.smoother = gmg_smoother_by_name(gmg_smoother_name(integer(in, 5)));
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
  if (byte(in) > 240) q.precision = (gmg_precision)integer(in, 3);
  if (set & 128) q.max_cycles = integer(in, 4);
  if (q.max_cycles == 0) q.max_cycles = GMG_NONE;
  if (q.max_cycles > 5) q.max_cycles = 1000001; /* refused; so many cycles would only take long */
  return q;
}

static void promise(int kept, const char *what, gmg_status status)
{
  if (kept) return;
  fprintf(stderr, "fuzz_structs: %s: %s\n", what, gmg_status_string(status));
  abort();
}

static int is_error(gmg_status s) { return s == GMG_ERR_ARGUMENT || s == GMG_ERR_UNSUPPORTED || s == GMG_ERR_MEMORY; }

/* Every call on a solver that exists. */
static void use(input *in, gmg_solver *s, const gmg_context *c, const gmg_problem *p, int cycles)
{
  const size_t n = p->n[0] * (p->dim > 1 ? p->n[1] : 1) * (p->dim > 2 ? p->n[2] : 1);
  const size_t bytes = n * (p->type == GMG_F32 ? sizeof(float) : sizeof(double));
  void *f = array(in, p->type, n), *u = array(in, p->type, n), *r = malloc(bytes), *g = array(in, p->type, n);
  gmg_problem other = *p;
  gmg_stencil *const box = p->stencil ? stencil(in, p->dim) : NULL;
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
    status = gmg_precondition(s, f, r);
    promise(status == GMG_OK, "precondition", status);
    status = gmg_residual(s, f, u, r);
    promise(status == GMG_OK, "residual", status);
    other.shift = byte(in) % 2 ? real(in) : p->shift;
    other.stencil = byte(in) % 4 ? p->stencil : box;
    if (byte(in) > 240) other.h[0] = real(in), other.n[0] += byte(in) % 2;
    if (other.n[0] != p->n[0]) { /* the arrays would be too short */
      other.beta = other.sigma = NULL;
      for (int a = 0; a < 3; a++) other.beta_face[a] = NULL, other.coord[a] = NULL;
    }
    status = gmg_solver_update(s, &other);
    promise(status == GMG_OK || is_error(status), "update", status);
    promise(status == GMG_OK || gmg_context_error(c)[0], "update without a text", status);
  }
  free(f), free(u), free(r), free(g), free(box);
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
  const int seen_late = strstr(gmg_context_error(c), "is not positive definite") != NULL; /* a plan has no values to factorise */
  promise(status == planned || status == GMG_ERR_MEMORY || seen_late, "plan and create differ", planned);
  promise((status == GMG_OK) == (s != NULL), "solver", status);
  promise((status == GMG_OK) == (gmg_context_error(c)[0] == 0), "text", status);
  if (status == GMG_OK) use(&in, s, c, &p, q.max_cycles > 0 ? q.max_cycles : 0);
  gmg_solver_destroy(s);
  gmg_context_destroy(c);
  free((void *)p.beta), free((void *)p.sigma), free((void *)p.stencil);
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
      if (i % 4 && data[k] >= 240) data[k] = (uint8_t)(data[k] - 120); /* sensible values reach deeper */
    }
    LLVMFuzzerTestOneInput(data, sizeof data);
  }
  printf("%ld inputs\n", number);
  return 0;
}
#endif
