/* The gravity anomaly of a buried sphere: -Lap Phi = 4 pi G (density anomaly) in a block of ground, 2 km by 2 km and 1 km deep,
 * and the anomaly that a gravimeter on its surface would measure, d Phi / dz at the top, from gmg_flux().
 *
 * Outside a sphere Phi is G m / r, as if the mass were in its centre. So the exact potential in every cell is known, and so is the
 * anomaly G m depth / r^3 on the surface. The error must be at most a multiple of h^2, or the program fails. The boundary values
 * are the exact potential. For a body of another shape they would be those of its monopole about the centre of mass.
 *
 * The equation is that of Cheik Ahamed's thesis (Ecole Centrale Paris, 2015), Section 3.5.3, whose densities, those of the crater
 * of Chicxulub, are not public. */
#include "demo.h"

#include <cjson/cJSON.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

static const demo_program about = {
    "gravity",
    "The potential and the gravity anomaly of a buried sphere against their exact values (cell-centred, f64). --n N: N x N cells in "
    "the plane, half as many in depth.",
    DEMO_TAKES_RUN | DEMO_TAKES_DEVICE | DEMO_TAKES_SIZE | DEMO_TAKES_METHOD | DEMO_TAKES_SMOOTHER | DEMO_TAKES_LIMIT |
        DEMO_TAKES_SPHERE | DEMO_TAKES_OUTPUT,
    DEMO_SMOOTH, 3, 128};

static const double BOX[3] = {2000, 2000, 1000}; /* metres; the surface is the upper face of axis 2 */
static const double PI = 3.14159265358979323846, G = 6.67428e-11, MILLIGAL = 1e-5; /* m^3 / (kg s^2); m / s^2 */
static const double DENSEST = 1e18; /* the core of a neutron star */
/* Allowed errors, in units of (h / radius)^2 times the largest potential and of (h / depth)^2 times the largest anomaly: twice the
 * observed ones. */
static const double OF_POTENTIAL = 0.25, OF_ANOMALY = 5;
enum { PARTS = 16 }; /* subdivisions of a side of a cut cell, for its mean density */

typedef struct run {
  const demo_options *o;
  gmg_context *context;
  gmg_problem problem;
  gmg_plan_info plan;
  gmg_solver *solver;
  gmg_report report;
  double centre[3], mass, width; /* width: the largest h */
  demo_array f, u, up; /* up: d Phi / dz on the faces across axis 2 */
  double *error;       /* Phi minus its exact value */
  double off_potential, off_anomaly, may_potential, may_anomaly; /* largest errors over largest values, and what they may be */
} run;

/* --- the exact solution --- */

static double distance(const run *r, const double x[3])
{
  double square = 0;
  for (int a = 0; a < 3; a++) square += (x[a] - r->centre[a]) * (x[a] - r->centre[a]);
  return sqrt(square);
}

static double potential(const run *r, const double x[3])
{
  const double d = distance(r, x), R = r->o->radius;
  return G * r->mass * (d >= R ? 1 / d : (3 * R * R - d * d) / (2 * R * R * R));
}

/* The downward anomaly at a point of the surface. */
static double anomaly(const run *r, const double x[3])
{
  return G * r->mass * r->o->depth / pow(distance(r, x), 3);
}

static void place(const run *r, size_t cell, double x[3])
{
  for (int a = 0; a < 3; cell /= r->problem.n[a], a++) x[a] = demo_position(&r->problem, a, cell % r->problem.n[a]);
}

/* The share of a cell that is inside the sphere. A cut cell is sampled at PARTS^3 points. */
static double share(const run *r, const double x[3])
{
  const double *h = r->problem.h, half = 0.5 * sqrt(h[0] * h[0] + h[1] * h[1] + h[2] * h[2]), d = distance(r, x);
  if (d > r->o->radius + half) return 0;
  if (d < r->o->radius - half) return 1;
  int inside = 0;
  for (int p = 0; p < PARTS * PARTS * PARTS; p++) {
    const int part[3] = {p % PARTS, p / PARTS % PARTS, p / PARTS / PARTS};
    double y[3];
    for (int a = 0; a < 3; a++) y[a] = x[a] + h[a] * ((part[a] + 0.5) / PARTS - 0.5);
    inside += distance(r, y) <= r->o->radius;
  }
  return (double)inside / (PARTS * PARTS * PARTS);
}

/* --- the discrete problem --- */

static void fill(run *r)
{
  double *f = r->f.here, x[3];
  for (size_t c = 0; c < demo_cells(&r->problem); c++) {
    place(r, c, x);
    f[c] = 4 * PI * G * r->o->density * share(r, x);
  }
}

static int set_walls(run *r)
{
  for (int face = 0, failed = 0; face < 6; face++) {
    const int a = face / 2, first = a == 0, second = a == 2 ? 1 : 2; /* the axes of the face */
    gmg_problem shape = r->problem;
    demo_array g;
    shape.n[a] = 1;
    if (!demo_array_create(r->o, &shape, &g)) failed = demo_fail(r->o, "out of memory: values of a face");
    for (size_t i = 0; !failed && i < demo_cells(&shape); i++) {
      double x[3];
      x[a] = face % 2 ? BOX[a] : 0;
      x[first] = demo_position(&r->problem, first, i % shape.n[first]);
      x[second] = demo_position(&r->problem, second, i / shape.n[first]);
      ((double *)g.here)[i] = potential(r, x);
    }
    failed = failed || demo_array_send(r->o, &g) ||
             demo_check(r->o, r->context, gmg_set_boundary_values(r->solver, a, face % 2, g.there));
    demo_array_destroy(&g);
    if (failed) return failed;
  }
  return 0;
}

static int create(run *r)
{
  const gmg_problem *p = &r->problem;
  gmg_problem faces = *p;
  faces.n[2]++;
  if (demo_plan(r->o, r->context, p, &r->o->params, 4, &r->plan)) return 1;
  demo_print_header(r->o, p, &r->plan);
  const int ok = demo_array_create(r->o, p, &r->f) & demo_array_create(r->o, p, &r->u) & demo_array_create(r->o, &faces, &r->up);
  r->error = demo_field_create(p);
  if (!ok || !r->error) return demo_fail(r->o, "out of memory: fields of %zu cells", demo_cells(p));
  fill(r);
  if (demo_array_send(r->o, &r->f)) return 1;
  gmg_params params = r->o->params;
  demo_table table = {0, 0};
  if (!r->o->quiet) params.monitor = demo_table_row, params.monitor_data = &table;
  if (demo_check(r->o, r->context, gmg_solver_create(r->context, p, &params, &r->solver)) || set_walls(r)) return 1;
  const gmg_status status = gmg_solve(r->solver, r->f.there, r->u.there, &r->report);
  if (!gmg_status_is_outcome(status)) return demo_check(r->o, r->context, status);
  void *const gradient[3] = {NULL, NULL, r->up.there};
  if (demo_check(r->o, r->context, gmg_flux(r->solver, r->u.there, NULL, gradient))) return 1;
  return demo_array_fetch(r->o, &r->u) || demo_array_fetch(r->o, &r->up);
}

/* --- results --- */

/* Phi grows towards the mass, so that its gradient along z, upward, is minus the pull of the sphere on the gravimeter, downward. */
static double measured(const run *r, size_t x, size_t y)
{
  const size_t *n = r->problem.n;
  return -((const double *)r->up.here)[(n[2] * n[1] + y) * n[0] + x];
}

static double exact(const run *r, size_t x, size_t y)
{
  const double at[3] = {demo_position(&r->problem, 0, x), demo_position(&r->problem, 1, y), BOX[2]};
  return anomaly(r, at);
}

static void compare(run *r)
{
  const size_t *n = r->problem.n;
  const double *u = r->u.here, top = 1.5 * G * fabs(r->mass) / r->o->radius, above = G * fabs(r->mass) / pow(r->o->depth, 2);
  double x[3];
  for (size_t c = 0; c < demo_cells(&r->problem); c++) {
    place(r, c, x);
    r->error[c] = u[c] - potential(r, x);
    r->off_potential = fmax(r->off_potential, fabs(r->error[c]) / top);
  }
  for (size_t i = 0; i < n[0] * n[1]; i++)
    r->off_anomaly = fmax(r->off_anomaly, fabs(measured(r, i % n[0], i / n[0]) - exact(r, i % n[0], i / n[0])) / above);
  r->may_potential = OF_POTENTIAL * pow(r->width / r->o->radius, 2);
  r->may_anomaly = OF_ANOMALY * pow(r->width / r->o->depth, 2);
}

static void tell(const run *r)
{
  enum { ROWS = 9 };
  const size_t *n = r->problem.n;
  if (r->o->quiet) return;
  printf("\nmetres from above the sphere   anomaly, mGal       exact\n");
  for (size_t row = 0; row < ROWS; row++) {
    const size_t i = n[0] / 2 + row * (n[0] - 1 - n[0] / 2) / (ROWS - 1), y = n[1] / 2;
    const double across = demo_position(&r->problem, 1, y) - r->centre[1], along = demo_position(&r->problem, 0, i) - r->centre[0];
    printf("%28.1f   %13.6f  %10.6f\n", sqrt(across * across + along * along), measured(r, i, y) / MILLIGAL,
           exact(r, i, y) / MILLIGAL);
  }
  printf("\nlargest error of the potential %.2e of its maximum (allowed %.2e), of the anomaly %.2e (allowed %.2e)\n",
         r->off_potential, r->may_potential, r->off_anomaly, r->may_anomaly);
}

/* Adds the whole profile, in metres and milligals. */
static int add_profile(const run *r, cJSON *root)
{
  const size_t n = r->problem.n[0], y = r->problem.n[1] / 2;
  double *line[3] = {malloc(n * sizeof(double)), malloc(n * sizeof(double)), malloc(n * sizeof(double))};
  cJSON *to = cJSON_AddObjectToObject(root, "profile");
  int ok = to && line[0] && line[1] && line[2];
  for (size_t i = 0; ok && i < n; i++) {
    line[0][i] = demo_position(&r->problem, 0, i);
    line[1][i] = measured(r, i, y) / MILLIGAL;
    line[2][i] = exact(r, i, y) / MILLIGAL;
  }
  ok = ok && demo_json_numbers(to, "x", line[0], n) && demo_json_numbers(to, "anomaly", line[1], n) &&
       demo_json_numbers(to, "exact", line[2], n);
  for (int i = 0; i < 3; i++) free(line[i]);
  return ok;
}

static int write_json(const run *r)
{
  const struct {
    const char *name;
    double value;
  } numbers[] = {{"depth", r->o->depth}, {"radius", r->o->radius}, {"density", r->o->density}, {"mass", r->mass},
                 {"error_potential", r->off_potential}, {"allowed_potential", r->may_potential},
                 {"error_anomaly", r->off_anomaly}, {"allowed_anomaly", r->may_anomaly}};
  if (!r->o->json) return 0;
  cJSON *root = demo_json_start(r->o, r->context, &r->problem, &r->plan);
  int ok = root && demo_json_report(root, &r->report, demo_message(r->context, r->report.status));
  for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
    ok = ok && cJSON_AddNumberToObject(root, numbers[i].name, numbers[i].value);
  return demo_json_write(r->o, root, ok && demo_json_numbers(root, "centre", r->centre, 3) && add_profile(r, root));
}

static int simulate(run *r)
{
  const demo_options *o = r->o;
  if (create(r)) return 1;
  compare(r);
  tell(r);
  const demo_named_field fields[] = {{"u", r->u.here}, {"f", r->f.here}, {"error", r->error}};
  int failed = write_json(r) | (o->output ? demo_fields_write(o, &r->problem, fields, 3) : 0);
  failed |= demo_print_outcome(o, r->context, &r->report);
  if (failed) return failed;
  if (r->off_potential > r->may_potential)
    return demo_fail(o, "the potential is off by %.2e of its maximum, more than %.2e", r->off_potential, r->may_potential);
  if (r->off_anomaly > r->may_anomaly)
    return demo_fail(o, "the anomaly is off by %.2e of its maximum, more than %.2e", r->off_anomaly, r->may_anomaly);
  return 0;
}

/* The sphere must be wholly in the ground, and a few cells large. */
static int refuse(const run *r)
{
  const demo_options *o = r->o;
  const double R = o->radius;
  if (r->problem.dim != 3) return demo_fail(o, "--dim %d: a sphere is in 3D", r->problem.dim), 2;
  if (o->density == 0) return demo_fail(o, "--density 0: nothing to find"), 2;
  if (fabs(o->density) > DENSEST) return demo_fail(o, "--density %g: nothing is denser than %g kg/m^3", o->density, DENSEST), 2;
  if (o->depth <= R) return demo_fail(o, "--depth %g: a sphere of radius %g reaches the surface", o->depth, R), 2;
  if (R >= BOX[0] / 2) return demo_fail(o, "--radius %g: the ground is only %g metres wide", R, BOX[0]), 2;
  if (o->depth + R >= BOX[2])
    return demo_fail(o, "--depth %g: a sphere of radius %g reaches the bottom at %g metres", o->depth, R, BOX[2]), 2;
  if (R < 2 * r->width) return demo_fail(o, "--n: cells of %.3g metres are too large for a sphere of radius %g", r->width, R), 2;
  return 0;
}

int main(int argc, char **argv)
{
  demo_options o;
  int code = demo_options_read(argc, argv, &about, &o);
  if (code >= 0) return code;
  if (o.n.count == 1 && o.problem.dim == 3) o.problem.n[2] = (o.problem.n[2] + 1) / 2;
  run r = {.o = &o, .problem = o.problem, .centre = {BOX[0] / 2, BOX[1] / 2, BOX[2] - o.depth}};
  gmg_problem_set_box(&r.problem, BOX);
  r.mass = 4 * PI / 3 * pow(o.radius, 3) * o.density;
  for (int a = 0; a < 3; a++) r.width = fmax(r.width, r.problem.h[a]);
  code = refuse(&r);
  if (!code) code = demo_context_create(&o, &r.context);
  if (!code) code = simulate(&r);
  gmg_solver_destroy(r.solver);
  gmg_context_destroy(r.context);
  demo_array_destroy(&r.f), demo_array_destroy(&r.u), demo_array_destroy(&r.up);
  free(r.error);
  return code;
}
