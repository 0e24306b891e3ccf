/* Embedding gmg in a time loop, with its six calls: the heat equation u_t = Lap u + q on the unit box, walls at u = 1,
 * by backward Euler. Each step solves -Lap u + u / dt = u_old / dt + q; halfway dt doubles by gmg_solver_update().
 * u = 1 + a(t) sin(pi x) sin(pi y) [sin(pi z)] solves it, so every step is checked: "scheme" is the largest distance
 * from the exact solution of the discrete equations (solver error), "heat" that from the differential equation.
 * usage: embed [--dim 2|3] [--n N] [--steps S] */
#include "gmg.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const double PI = 3.14159265358979323846, WALL = 1, HELD = 0.25; /* q keeps a quarter of the mode alive */

/* The host program's own data. */
typedef struct simulation {
  int dim, steps;
  size_t n, cells;
  double time, dt;
  double scheme, heat; /* amplitude of the mode: by backward Euler, by the heat equation */
  double *u, *f, *mode;
} simulation;

static double decay(const simulation *s, int discrete)
{
  const double h = 1.0 / (double)s->n;
  return s->dim * (discrete ? 4 / (h * h) * pow(sin(PI * h / 2), 2) : PI * PI);
}

static void fill(simulation *s)
{
  const size_t n = s->n;
  for (size_t at = 0; at < s->cells; at++) {
    const size_t index[3] = {at % n, at / n % n, at / n / n};
    s->mode[at] = 1;
    for (int a = 0; a < s->dim; a++) s->mode[at] *= sin(PI * ((double)index[a] + 0.5) / (double)n);
    s->u[at] = WALL + s->mode[at];
  }
  s->scheme = s->heat = 1;
}

static double distance(const simulation *s, double amplitude)
{
  double most = 0;
  for (size_t at = 0; at < s->cells; at++) most = fmax(most, fabs(s->u[at] - WALL - amplitude * s->mode[at]));
  return most;
}

static int failed(gmg_context *context, gmg_status status)
{
  if (status == GMG_OK || status == GMG_STAGNATED) return 0;
  fprintf(stderr, "embed: %s: %s\n", gmg_status_string(status), gmg_context_error(context));
  return 1;
}

static int step(simulation *s, gmg_context *context, gmg_solver *solver, int number)
{
  const double rate = decay(s, 1), exact_rate = decay(s, 0);
  gmg_report report;
  for (size_t at = 0; at < s->cells; at++) s->f[at] = s->u[at] / s->dt + HELD * rate * s->mode[at];
  if (failed(context, gmg_solve(solver, s->f, s->u, &report))) return 1; /* the old u is the guess */
  s->time += s->dt;
  s->scheme = (s->scheme + s->dt * HELD * rate) / (1 + s->dt * rate);
  s->heat = HELD + (1 - HELD) * exp(-exact_rate * s->time);
  printf("%4d  %8.4f  %6d  %10.3e  %10.3e  %10.3e\n", number, s->time, report.cycles, report.residual,
         distance(s, s->scheme), distance(s, s->heat));
  return 0;
}

static int simulate(simulation *s)
{
  gmg_context *context = NULL;
  gmg_solver *solver = NULL;
  gmg_problem problem = gmg_problem_default(s->dim, (size_t[]){s->n, s->n, s->n}); /* unit box, Dirichlet, double */
  gmg_params params = gmg_params_default();
  problem.shift = 1 / s->dt;

  if (gmg_context_create_host(0, &context) != GMG_OK) return fprintf(stderr, "embed: out of memory\n"), 1; /* call 1 */
  int bad = failed(context, gmg_solver_create(context, &problem, &params, &solver));                       /* call 2 */
  for (int face = 0; face < 2 * s->dim && !bad; face++)
    bad = failed(context, gmg_set_boundary_constant(solver, face / 2, face % 2, WALL));                    /* call 3 */

  printf("step      time  cycles    residual      scheme        heat\n");
  for (int i = 1; i <= s->steps && !bad; i++) {
    if (i == s->steps / 2 + 1) { /* a new time step: new shift, same solver, nothing allocated */
      s->dt *= 2;
      problem.shift = 1 / s->dt;
      bad = failed(context, gmg_solver_update(solver, &problem));
    }
    bad = bad || step(s, context, solver, i);                                               /* call 4: gmg_solve() */
  }
  gmg_solver_destroy(solver);                                                                              /* call 5 */
  gmg_context_destroy(context);                                                                            /* call 6 */
  return bad;
}

static int usage(FILE *to, int code)
{
  fprintf(to, "usage: embed [--dim 2|3] [--n N] [--steps S]\n"
              "Heat equation by backward Euler; N cells along each axis (64), S time steps (20).\n");
  return code;
}

int main(int argc, char **argv)
{
  long dim = 2, n = 64, steps = 20;
  const struct {
    const char *name;
    long *value, least, most;
  } options[] = {{"--dim", &dim, 2, 3}, {"--n", &n, 1, 4096}, {"--steps", &steps, 1, 1000000}};
  for (int i = 1; i < argc; i += 2) {
    char *end = "?";
    int found = -1;
    if (!strcmp(argv[i], "--help")) return usage(stdout, 0);
    for (int k = 0; k < 3; k++)
      if (!strcmp(argv[i], options[k].name)) found = k;
    if (found < 0 || i + 1 == argc) return fprintf(stderr, "embed: bad option %s\n", argv[i]), usage(stderr, 2);
    *options[found].value = strtol(argv[i + 1], &end, 10);
    if (end == argv[i + 1] || *end || *options[found].value < options[found].least ||
        *options[found].value > options[found].most)
      return fprintf(stderr, "embed: %s %s: bad value\n", argv[i], argv[i + 1]), usage(stderr, 2);
  }

  simulation s = {.dim = (int)dim, .steps = (int)steps, .n = (size_t)n, .dt = 0.002};
  s.cells = s.n * s.n * (dim == 3 ? s.n : 1);
  s.u = calloc(s.cells, sizeof *s.u), s.f = calloc(s.cells, sizeof *s.f), s.mode = calloc(s.cells, sizeof *s.mode);
  int bad = !s.u || !s.f || !s.mode;
  if (bad) fprintf(stderr, "embed: out of memory\n");
  else fill(&s), bad = simulate(&s);
  free(s.u), free(s.f), free(s.mode);
  return bad;
}
