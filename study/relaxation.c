/* Block-asynchronous relaxation as a solver, after Anzt, Tomov, Dongarra, Heuveline, "A block-asynchronous relaxation method for
 * graphics processing units" (2013): its Tables 2 to 5 and Figures 5 to 9, on stencils in place of its matrices.
 * docs/study-relaxation.md shows the results, and says which stencil replaces which matrix, and which matrix has none.
 *
 * -Lap u + eps u = f with h = 1 and zero Dirichlet walls, f = 1, u = 0 at the start, double. eps gives Jacobi's iteration matrix
 * the paper's spectral radius. async-(k): every block does k undamped Jacobi sweeps, without overlap, in one pass per iteration. */
#include "relaxation.h"

#include <math.h>
#include <string.h>

#define PI 3.14159265358979323846

const stand_in study_relaxation_cases[CASES] = {{"Chem97ZtZ", 1, 2541, 0.7889, {1, 1, 1}, {1, 1, 1}, 80},
                                                {"Fv1", 2, 98, 0.8541, {98, 4, 1}, {98, 1, 1}, 200},
                                                {"Fv2", 2, 99, 0.8541, {99, 4, 1}, {99, 1, 1}, 200},
                                                {"Fv3", 2, 99, 0.9993, {99, 4, 1}, {99, 1, 1}, 1000},
                                                {"Trefethen_20000", 3, 27, 0.8601, {27, 16, 1}, {27, 5, 1}, 120}};
const method study_relaxation_jacobi = {"Jacobi", "jacobi", 0, 0, 1, 0},
    study_relaxation_gauss_seidel = {"Gauss-Seidel", "gauss_seidel", 0, 0, 1, 1};
const method study_relaxation_async_default = {"async, gmg's default", "async", 0, 0, 0, 0};

method study_relaxation_async(int k, int stale)
{
  static const char *const names[][10] = {
      {"", "async-(1)", "async-(2)", "async-(3)", "async-(4)", "async-(5)", "async-(6)", "async-(7)", "async-(8)", "async-(9)"},
      {"", "async-(1), stale", "async-(2), stale", "async-(3), stale", "async-(4), stale", "async-(5), stale", "async-(6), stale",
       "async-(7), stale", "async-(8), stale", "async-(9), stale"}};
  return (method){names[stale][k], "async", k, stale, stale, 0};
}

static const scale scales[STUDY_SCALES] = {[STUDY_QUICK] = {20, 20, 3, 1, 0, 0, 4},
                                           [STUDY_DEFAULT] = {200, 200, 20, 5, 1023, 6, 1},
                                           [STUDY_FULL] = {1000, 1000, 20, 5, 8191, 20, 1}};

scale study_relaxation_scale(const study *s)
{
  scale x = scales[s->options.scale];
  if (s->options.runs) x.spread = x.waiting = x.runs = s->options.runs;
  if (s->options.n && x.large) x.large = (size_t)s->options.n;
  return x;
}

/* --- problems, parameters, records --- */

/* The spectral radius of Jacobi's iteration matrix is 2 dim cos(pi / (n + 1)) / (2 dim + eps). */
static double eps_of(const stand_in *c) { return 2 * c->dim * (cos(PI / ((double)c->n + 1)) / c->rho - 1); }

gmg_problem study_relaxation_problem(const stand_in *c) { return study_problem(c->dim, c->n, eps_of(c)); }

gmg_params study_relaxation_params(const method *m, const size_t block[3])
{
  gmg_params p = study_params();
  p.smoother = gmg_smoother_by_name(m->smoother);
  if (m == &study_relaxation_async_default) return p;
  p.omega = 1;
  p.async.local = GMG_LOCAL_JACOBI, p.async.local_sweeps = m->local ? m->local : 1;
  p.async.overlap = GMG_NONE, p.async.passes = 1;
  p.deterministic = m->stale || m->on_host; /* Gauss-Seidel: the sequential method */
  if (block) memcpy(p.async.block, block, sizeof p.async.block);
  return p;
}

struct cJSON *study_relaxation_begin_record(study *s, const char *part, const char *paper, const stand_in *c, const char *name,
                                            const study_place *at, const size_t block[3])
{
  struct cJSON *r = study_record(s, part);
  study_text(s, r, "paper", paper);
  study_text(s, r, "matrix", c->matrix);
  study_text(s, r, "method", name);
  study_where(s, r, at);
  study_number(s, r, "dim", c->dim);
  study_number(s, r, "n", (double)c->n);
  study_number(s, r, "eps", study_rounded(eps_of(c), 8));
  study_number(s, r, "rho", c->rho);
  if (block) {
    const double sizes[3] = {(double)block[0], (double)block[1], (double)block[2]};
    study_numbers(s, r, "block", sizes, (size_t)c->dim, 6);
  }
  return r;
}

int study_relaxation_skip(study *s, const char *part, const char *paper, const stand_in *c, const char *name, const study_place *at)
{
  const char *why = gmg_context_error(at->context);
  study_text(s, study_relaxation_begin_record(s, part, paper, c, name, at, NULL), "skipped", why);
  study_say(s, "%-8s %-16s %-20s skipped: %s", part, c->matrix, name, why);
  return 0;
}

const study_place *study_relaxation_place(const study *s, const method *m)
{
  return m->on_host ? &s->place[STUDY_HOST] : study_best(s);
}

static const study_part parts[] = {{"spread", study_relaxation_spread},
                                   {"sweeps", study_relaxation_sweeps},
                                   {"large", study_relaxation_large},
                                   {"timing", study_relaxation_timing},
                                   {"solvers", study_relaxation_solvers},
                                   {NULL, NULL}};

static const study_program about = {
    "study_relaxation",
    "Block-asynchronous relaxation as a solver, after Anzt, Tomov, Dongarra, Heuveline (2013). Parts: spread (Tables 2, 3, Figure 5),\n"
    "sweeps (Table 4), large (the same on a large grid; --n along each of 2 axes), timing (Figure 8), solvers (Figures 6, 7, 9, Table 5).",
    parts, 100, 20000};

int main(int argc, char **argv) { return study_main(&about, argc, argv); }
