/* A layered medium: -div(mu grad u) = cos(250 z) in the flat box [0,1]^2 x [0,0.06], u = 0 on the upright faces, no flux
 * through bottom and top, four layers with mu = 10, 100, 10 and 1000. Compares gmg with conjugate gradients with and
 * without diagonal preconditioning, on the same discrete problem and to the same tolerance. The fluxes of gmg_flux() then show
 * through which faces the source of each layer leaves it. The conjugate gradients always run on the host.
 *
 * The problem is that of Cheik Ahamed's thesis (Ecole Centrale Paris, 2015), where finite elements take 803 iterations of
 * conjugate gradients to 1e-6, 353 with diagonal preconditioning. */
#include "demo.h"

#include <cjson/cJSON.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const demo_program about = {
    "layers",
    "Solves -div(mu grad u) = cos(250 z) in a flat box of four layers (cell-centred, f64) and compares with conjugate "
    "gradients. --n N: N x N cells in the plane, 12 in height; the height's number must be a multiple of 4.",
    DEMO_TAKES_RUN | DEMO_TAKES_DEVICE | DEMO_TAKES_SIZE | DEMO_TAKES_METHOD | DEMO_TAKES_SMOOTHER | DEMO_TAKES_LIMIT |
        DEMO_TAKES_CONTRAST | DEMO_TAKES_OUTPUT,
    DEMO_SMOOTH, 3, 200};

enum { LAYERS = 4, CELLS_A_LAYER = 3, GMG = 0, DIAGONAL_CG = 1, PLAIN_CG = 2, METHODS = 3, FIELDS = 13 };
static const double BOX[3] = {1, 1, 0.06}, WAVE = 250, RTOL = 1e-6;
static const char *const METHOD_TEXT[METHODS] = {"gmg", "CG, diagonally preconditioned", "CG"};
static const char *const METHOD_NAME[METHODS] = {"gmg", "diagonal_cg", "cg"};

typedef struct effort {
  int iterations;
  double residual, seconds; /* relative to f; wall clock */
} effort;

/* The balance of a layer: its source, and the flux through the upright faces, the interface below and the one above. */
typedef struct balance {
  double mu, source, sides, below, above;
} balance;

typedef struct run {
  const demo_options *o;
  gmg_context *context;
  gmg_problem problem;
  gmg_params params;
  gmg_plan_info plan;
  gmg_solver *solver;
  gmg_context *cg_context; /* a host context for the conjugate gradients, which compute A x by gmg_residual() */
  gmg_solver *cg_solver;
  gmg_report report;
  size_t cells;
  demo_array to_mu, to_f, to_u, to_flux[3]; /* the arrays passed to gmg: mu, f, u, flux in the context's memory */
  double *mu, *f, *u, *zero;
  double *x, *r, *z, *p, *Ap, *diagonal; /* of the conjugate gradients */
  double *flux[3];
  effort effort[METHODS];
  balance layer[LAYERS];
  double source, out; /* integral of f, and what leaves through all faces of the box */
  double absolute;    /* integral of |f|, the scale of defects */
  double defect;      /* of the balance of the box */
} run;

static double layer_mu(const run *r, int layer)
{
  const double contrast = r->o->contrast, mu[LAYERS] = {10, 10 * sqrt(contrast), 10, 10 * contrast};
  return mu[layer];
}

static int layer_of(const run *r, size_t k) { return (int)(k * LAYERS / r->problem.n[2]); }

/* f is the mean over a cell, so that its sum is the integral. */
static void fill(run *r)
{
  const size_t plane = r->problem.n[0] * r->problem.n[1];
  const double h = r->problem.h[2];
  for (size_t c = 0; c < r->cells; c++) {
    const size_t k = c / plane;
    r->mu[c] = layer_mu(r, layer_of(r, k));
    r->f[c] = (sin(WAVE * (double)(k + 1) * h) - sin(WAVE * (double)k * h)) / (WAVE * h);
  }
}

/* --- conjugate gradients (Hestenes and Stiefel 1952) --- */

/* The residual of f = 0 is -A x. */
static int apply(const run *r, const double *x, double *minus_Ax)
{
  return demo_check(r->o, r->cg_context, gmg_residual(r->cg_solver, r->zero, x, minus_Ax));
}

/* Neighbours have the other colour. So A times the indicator of a colour is the diagonal at its unknowns. */
static int find_diagonal(run *r)
{
  const size_t *n = r->problem.n;
  for (size_t colour = 0; colour < 2; colour++) {
    for (size_t c = 0; c < r->cells; c++) r->p[c] = (c % n[0] + c / n[0] % n[1] + c / n[0] / n[1]) % 2 == colour;
    if (apply(r, r->p, r->Ap)) return 1;
    for (size_t c = 0; c < r->cells; c++)
      if (r->p[c] != 0) r->diagonal[c] = -r->Ap[c];
  }
  return 0;
}

static void precondition(run *r, int diagonally)
{
#pragma omp parallel for
  for (size_t c = 0; c < r->cells; c++) r->z[c] = diagonally ? r->r[c] / r->diagonal[c] : r->r[c];
}

static int conjugate_gradients(run *r, int method)
{
  enum { LIMIT = 20000 };
  effort *e = &r->effort[method];
  const double start = demo_now(), norm = sqrt(demo_dot(r->cells, r->f, r->f)), rtol = r->params.rtol;
  if (method == DIAGONAL_CG && find_diagonal(r)) return 1;
  memset(r->x, 0, r->cells * sizeof(double));
  memset(r->p, 0, r->cells * sizeof(double));
  memcpy(r->r, r->f, r->cells * sizeof(double));
  double before = 1;
  for (e->residual = 1; e->residual > rtol && e->iterations < LIMIT; e->iterations++) {
    precondition(r, method == DIAGONAL_CG);
    const double rz = demo_dot(r->cells, r->r, r->z);
    demo_combine(r->cells, e->iterations ? rz / before : 0, r->p, 1, r->z);
    if (apply(r, r->p, r->Ap)) return 1;
    const double step = -rz / demo_dot(r->cells, r->p, r->Ap);
    demo_combine(r->cells, 1, r->x, step, r->p);
    demo_combine(r->cells, 1, r->r, step, r->Ap);
    e->residual = sqrt(demo_dot(r->cells, r->r, r->r)) / norm;
    before = rz;
  }
  e->seconds = demo_now() - start;
  return 0;
}

/* --- fluxes --- */

/* The total flux along an axis through its faces at index i, in planes from .. to - 1. */
static double through(const run *r, int axis, size_t i, size_t from, size_t to)
{
  size_t m[3] = {r->problem.n[0], r->problem.n[1], r->problem.n[2]};
  const double *h = r->problem.h, area = h[0] * h[1] * h[2] / h[axis];
  double sum = 0;
  m[axis]++;
  size_t begin[3] = {0, 0, from}, end[3] = {m[0], m[1], to};
  begin[axis] = i, end[axis] = i + 1;
  for (size_t z = begin[2]; z < end[2]; z++)
    for (size_t y = begin[1]; y < end[1]; y++)
      for (size_t x = begin[0]; x < end[0]; x++) sum += r->flux[axis][(z * m[1] + y) * m[0] + x];
  return sum * area;
}

static int balance_layers(run *r)
{
  const size_t *n = r->problem.n, plane = n[0] * n[1], high = n[2] / LAYERS;
  const double volume = r->problem.h[0] * r->problem.h[1] * r->problem.h[2];
  void *const flux[3] = {r->to_flux[0].there, r->to_flux[1].there, r->to_flux[2].there};
  if (demo_check(r->o, r->context, gmg_flux(r->solver, r->to_u.there, flux, NULL))) return 1;
  for (int a = 0; a < 3; a++)
    if (demo_array_fetch(r->o, &r->to_flux[a])) return 1;
  for (size_t c = 0; c < r->cells; c++) r->absolute += volume * fabs(r->f[c]);
  for (size_t l = 0; l < LAYERS; l++) {
    balance *b = &r->layer[l];
    const size_t from = l * high, to = from + high;
    *b = (balance){.mu = layer_mu(r, (int)l), .below = 0 - through(r, 2, from, 0, 0), .above = through(r, 2, to, 0, 0)};
    for (int a = 0; a < 2; a++) b->sides += through(r, a, n[a], from, to) - through(r, a, 0, from, to);
    for (size_t c = from * plane; c < to * plane; c++) b->source += volume * r->f[c];
    r->source += b->source;
    r->out += b->sides + (l == 0 ? b->below : 0) + (l + 1 == LAYERS ? b->above : 0);
  }
  r->defect = fabs(r->source - r->out) / r->absolute;
  return 0;
}

static double layer_defect(const run *r, const balance *b)
{
  return fabs(b->source - b->sides - b->below - b->above) / r->absolute;
}

/* --- runs and output --- */

static int create_fields(run *r)
{
  gmg_problem *p = &r->problem;
  double **fields[] = {&r->zero, &r->x, &r->r, &r->z, &r->p, &r->Ap, &r->diagonal};
  if (demo_room(r->o, p, FIELDS)) return 1;
  int ok = demo_array_create(r->o, p, &r->to_mu) & demo_array_create(r->o, p, &r->to_f) & demo_array_create(r->o, p, &r->to_u);
  r->mu = r->to_mu.here, r->f = r->to_f.here, r->u = r->to_u.here;
  for (size_t i = 0; i < sizeof fields / sizeof *fields; i++) ok &= (*fields[i] = demo_field_create(p)) != NULL;
  for (int a = 0; a < 3; a++) {
    gmg_problem faces = *p;
    faces.n[a]++;
    ok &= demo_array_create(r->o, &faces, &r->to_flux[a]), r->flux[a] = r->to_flux[a].here;
  }
  if (!ok) return demo_fail(r->o, "out of memory: fields of %zu cells", r->cells);
  fill(r);
  return demo_array_send(r->o, &r->to_mu) || demo_array_send(r->o, &r->to_f);
}

/* On the host the conjugate gradients use gmg's solver. If gmg runs on a device, they use a solver with one level on the host. */
static int create_cg(run *r)
{
  gmg_problem p = r->problem;
  gmg_params params = gmg_params_default();
  r->cg_context = r->context, r->cg_solver = r->solver;
  if (r->o->device.kind == DEMO_HOST) return 0;
  params.max_levels = 1, params.accel = GMG_ACCEL_NONE;
  p.beta = r->mu;
  r->cg_context = NULL, r->cg_solver = NULL;
  if (gmg_context_create_host(0, &r->cg_context)) return demo_fail(r->o, "a host context for the conjugate gradients");
  return demo_check(r->o, r->cg_context, gmg_solver_create(r->cg_context, &p, &params, &r->cg_solver));
}

static int create(run *r)
{
  gmg_problem *p = &r->problem;
  if (create_fields(r)) return 1;
  p->beta = r->to_mu.there;
  if (demo_plan(r->o, r->context, p, &r->params, FIELDS, &r->plan)) return 1;
  demo_print_header(r->o, p, &r->plan);
  if (demo_check(r->o, r->context, gmg_solver_create(r->context, p, &r->params, &r->solver))) return 1;
  return create_cg(r);
}

static void destroy(run *r)
{
  double *fields[] = {r->zero, r->x, r->r, r->z, r->p, r->Ap, r->diagonal};
  demo_array *arrays[] = {&r->to_mu, &r->to_f, &r->to_u, &r->to_flux[0], &r->to_flux[1], &r->to_flux[2]};
  for (size_t i = 0; i < sizeof fields / sizeof *fields; i++) free(fields[i]);
  for (size_t i = 0; i < sizeof arrays / sizeof *arrays; i++) demo_array_destroy(arrays[i]);
  if (r->cg_solver != r->solver) gmg_solver_destroy(r->cg_solver), gmg_context_destroy(r->cg_context);
  gmg_solver_destroy(r->solver);
}

static void tell(const run *r)
{
  if (r->o->quiet) return;
  printf("\nto a residual of %g ||f|| %*s iterations   seconds    residual\n", r->params.rtol, 8, "");
  for (int m = 0; m < METHODS; m++) {
    const effort *e = &r->effort[m];
    printf("%-35s %10d  %8.3g  %10.2e\n", METHOD_TEXT[m], e->iterations, e->seconds, e->residual);
  }
  printf("\nlayer        mu      source   out: sides       below       above      defect\n");
  for (int l = LAYERS - 1; l >= 0; l--) {
    const balance *b = &r->layer[l];
    printf("%5d  %8g  %10.3e   %10.3e  %10.3e  %10.3e  %10.2e\n", l, b->mu, b->source, b->sides, b->below, b->above,
           layer_defect(r, b));
  }
  printf("whole box, integral of f %.9e, outflow %.9e: defect %.2e of the integral of |f|\n\n", r->source, r->out,
         r->defect);
}

static int add_row(cJSON *rows, const char *const names[], const double *values, size_t count, const char *method)
{
  cJSON *row = cJSON_CreateObject();
  int ok = row && (!method || cJSON_AddStringToObject(row, "name", method));
  for (size_t i = 0; i < count; i++) ok = ok && cJSON_AddNumberToObject(row, names[i], values[i]);
  if (row && cJSON_AddItemToArray(rows, row)) return ok;
  cJSON_Delete(row);
  return 0;
}

static int write_json(const run *r)
{
  static const char *const effort_names[] = {"iterations", "residual", "seconds"};
  static const char *const layer_names[] = {"mu", "source", "sides", "below", "above", "defect"};
  if (!r->o->json) return 0;
  cJSON *root = demo_json_start(r->o, r->context, &r->problem, &r->plan);
  cJSON *methods = cJSON_AddArrayToObject(root, "methods"), *layers = cJSON_AddArrayToObject(root, "layers");
  int ok = methods && layers && demo_json_report(root, &r->report, demo_message(r->context, r->report.status));
  for (int m = 0; m < METHODS && ok; m++) {
    const effort *e = &r->effort[m];
    ok = add_row(methods, effort_names, (double[]){e->iterations, e->residual, e->seconds}, 3, METHOD_NAME[m]);
  }
  for (int l = 0; l < LAYERS && ok; l++) {
    const balance *b = &r->layer[l];
    const double values[] = {b->mu, b->source, b->sides, b->below, b->above, layer_defect(r, b)};
    ok = add_row(layers, layer_names, values, 6, NULL);
  }
  ok = ok && cJSON_AddNumberToObject(root, "contrast", r->o->contrast) &&
       cJSON_AddNumberToObject(root, "source", r->source) && cJSON_AddNumberToObject(root, "outflow", r->out) &&
       cJSON_AddNumberToObject(root, "defect", r->defect);
  return demo_json_write(r->o, root, ok);
}

static int simulate(run *r)
{
  const demo_options *o = r->o;
  if (create(r)) return 1;
  const gmg_status status = gmg_solve(r->solver, r->to_f.there, r->to_u.there, &r->report);
  if (!gmg_status_is_outcome(status)) return demo_check(o, r->context, status);
  if (demo_array_fetch(o, &r->to_u)) return 1;
  r->effort[GMG] = (effort){r->report.cycles, r->report.residual / r->report.residual0, r->report.seconds};
  for (int m = DIAGONAL_CG; m < METHODS; m++) {
    if (!o->quiet) printf("%s%s ...\n", m == DIAGONAL_CG ? "\n" : "", METHOD_TEXT[m]), fflush(stdout);
    if (conjugate_gradients(r, m)) return 1;
  }
  if (balance_layers(r)) return 1;
  tell(r);
  const demo_named_field fields[] = {{"u", r->u}, {"f", r->f}, {"beta", r->mu}};
  int failed = write_json(r) | (o->output ? demo_fields_write(o, &r->problem, fields, 3) : 0);
  printf("%s: %d iterations of conjugate gradients, %d diagonally preconditioned; flux balance off by %.1e\n", o->program,
         r->effort[PLAIN_CG].iterations, r->effort[DIAGONAL_CG].iterations, r->defect);
  failed |= demo_print_outcome(o, r->context, &r->report);
  if (r->defect <= 10 * r->params.rtol || status != GMG_OK) return failed; /* within the limit that the residual sets */
  return demo_fail(o, "the fluxes out of the box miss the integral of f by %.2e of it", r->defect);
}

int main(int argc, char **argv)
{
  demo_options o;
  int code = demo_options_read(argc, argv, &about, &o);
  if (code >= 0) return code;
  if (o.problem.dim != 3) return demo_fail(&o, "--dim %d: the layers are those of a 3D box", o.problem.dim), 2;
  if (o.n.count == 1) o.problem.n[2] = LAYERS * CELLS_A_LAYER;
  if (o.problem.n[2] % LAYERS) return demo_fail(&o, "--n: %zu cells in height are not a multiple of 4", o.problem.n[2]), 2;
  if (o.params.rtol == 0) o.params.rtol = RTOL;
  run r = {.o = &o, .problem = o.problem, .params = o.params, .cells = demo_cells(&o.problem)};
  r.problem.bc[2][0] = r.problem.bc[2][1] = GMG_NEUMANN;
  gmg_problem_set_box(&r.problem, BOX);
  code = demo_context_create(&o, &r.context);
  if (!code) code = simulate(&r);
  destroy(&r);
  gmg_context_destroy(r.context);
  return code;
}
