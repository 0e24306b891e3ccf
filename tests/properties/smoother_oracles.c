/* Smoothers against slow references: point relaxation in colours, whole-level methods, and the definition of the stale twin. */
#include "reference.h"
#include "smoother_shapes.h"
#include "sweeps.h"

#include <stdlib.h>
#include <string.h>

static int odd_periodic(const gmg_problem *p, int a)
{
  return p->bc[a][0] == GMG_PERIODIC && p->n[a] > 1 && p->n[a] % 2;
}

/* Red-black against point relaxation. Odd periodic axes have phases, and are first swept near their seams. */
static void red_black_oracle_part(const gmg_problem *p, const double *f, double *u, double omega, int near_seam)
{
  const size_t n = unknowns(p);
  for (int colour = 0; colour < 2; colour++)
    for (int phase = 0; phase < 4; phase++)
      for (size_t c = 0; c < n; c++) {
        const size_t at[3] = {c % p->n[0], c / p->n[0] % p->n[1], c / (p->n[0] * p->n[1])};
        int mine = 0, inside = !near_seam;
        for (int a = 0; a < p->dim; a++) {
          mine += odd_periodic(p, a) && at[a] == p->n[a] - 1;
          inside |= odd_periodic(p, a) && (at[a] < 2 || at[a] + 2 >= p->n[a]);
        }
        if ((int)((at[0] + at[1] + at[2]) % 2) != colour || mine != phase || !inside) continue;
        double diag = p->shift, sum = f[c];
        size_t stride = 1;
        for (int a = 0; a < p->dim; stride *= p->n[a], a++) {
          const row1d r = dense_row(p, a, at);
          const size_t base = c - at[a] * stride, last = p->n[a] - 1;
          diag += r.diag;
          sum -= r.below * u[base + (at[a] > 0 ? at[a] - 1 : last) * stride];
          sum -= r.above * u[base + (at[a] < last ? at[a] + 1 : 0) * stride];
        }
        u[c] += omega * (sum / diag - u[c]);
      }
}

static void red_black_oracle(const gmg_problem *p, const double *f, double *u, double omega)
{
  red_black_oracle_part(p, f, u, omega, 1);
  red_black_oracle_part(p, f, u, omega, 0);
}

static void red_black_matches_the_oracle(void **state)
{
  (void)state;
  static const gmg_centering centerings[] = {GMG_VERTEX, GMG_CELL};
  for (int i = 0; i < SHAPES; i++)
    for (int j = 0; j < COUNT(centerings); j++) {
      gmg_problem p = shape_problem(i, centerings[j]);
      gmg_params params = same_precision();
      params.smoother = gmg_smoother_by_name("red_black"), params.omega = 1.15, params.max_levels = 2, params.coarse_cells = 1;
      const size_t n = unknowns(&p);
      double *f = calloc(n, sizeof *f), *u = calloc(n, sizeof *u), *w = calloc(n, sizeof *w);
      fill_random(f, n, 1), fill_random(u, n, 2);
      memcpy(w, u, n * sizeof *w);
      session s = begin_solver(&p, &params, 2);
      if (s.solver->levels > 1) {
        smooth(&s, f, w, 2, GMG_LEG_DOWN);
        for (int k = 0; k < 2; k++) red_black_oracle(&p, f, u, 1.15);
        for (size_t c = 0; c < n; c++) assert_near(w[c], u[c], 1e-13);
      }
      end_solver(&s);
      free(f), free(u), free(w);
    }
}

/* With one block of the whole box and without overlap, async is red-black or Jacobi. */
static void one_block_is_the_global_method(void **state)
{
  (void)state;
  static const char *const names[] = {"red_black", "jacobi", "gauss_seidel"};
  for (int local = 0; local < 3; local++)
    for (int overlap = 0; overlap < 3; overlap++) {
      gmg_problem p = make_problem(3, 9, 8, 7, GMG_CELL, "dnrddd");
      gmg_params params = same_precision(), global = same_precision();
      params.async.local = (gmg_local_kind)(GMG_LOCAL_RED_BLACK + local), params.async.overlap = count_or_none(overlap), params.async.local_sweeps = 3, params.omega = 0.9;
      params.async.block[0] = params.async.block[1] = params.async.block[2] = 100;
      global.smoother = gmg_smoother_by_name(names[local]), global.omega = 0.9;
      const size_t n = unknowns(&p);
      double *f = calloc(n, sizeof *f), *u = calloc(n, sizeof *u), *w = calloc(n, sizeof *w);
      fill_random(f, n, 1), fill_random(u, n, 2);
      memcpy(w, u, n * sizeof *w);
      session a = begin_solver(&p, &params, 2), b = begin_solver(&p, &global, 1);
      smooth(&a, f, u, 1, GMG_LEG_DOWN);
      smooth(&b, f, w, 3, GMG_LEG_DOWN);
      for (size_t c = 0; c < n; c++) assert_near(u[c], w[c], 1e-13);
      end_solver(&a), end_solver(&b);
      free(f), free(u), free(w);
    }
}

/* The stale twin against its definition. For every block: copies the field, relaxes the block and its overlap in the copy by point
   relaxation, and keeps the block's own values. */
static void stale_oracle(const gmg_problem *p, const gmg_params *q, const double *f, double *u)
{
  const size_t n = unknowns(p), *N = p->n, *b = q->async.block;
  double *before = malloc(n * sizeof *before), *copy = malloc(n * sizeof *copy);
  memcpy(before, u, n * sizeof *u);
  for (size_t bz = 0; bz < N[2]; bz += b[2])
    for (size_t by = 0; by < N[1]; by += b[1])
      for (size_t bx = 0; bx < N[0]; bx += b[0]) {
        const size_t first[3] = {bx, by, bz};
        memcpy(copy, before, n * sizeof *copy);
        for (int s = 0; s < 2 * q->async.local_sweeps; s++)
          for (size_t c = 0; c < n; c++) {
            const size_t at[3] = {c % N[0], c / N[0] % N[1], c / (N[0] * N[1])};
            int inside = (int)((at[0] + at[1] + at[2]) % 2) == s % 2;
            for (int a = 0; a < 3; a++) {
              const long low = (long)first[a] - q->async.overlap, high = (long)(first[a] + b[a]) + q->async.overlap;
              inside = inside && (long)at[a] >= low && (long)at[a] < high;
            }
            if (!inside) continue;
            double diag = p->shift, sum = f[c];
            size_t stride = 1;
            for (int a = 0; a < 3; stride *= N[a], a++) {
              const row1d r = dense_row(p, a, at);
              diag += r.diag;
              if (at[a] > 0) sum -= r.below * copy[c - stride];
              if (at[a] < N[a] - 1) sum -= r.above * copy[c + stride];
            }
            copy[c] += q->omega * (sum / diag - copy[c]);
          }
        for (size_t c = 0; c < n; c++) {
          const size_t at[3] = {c % N[0], c / N[0] % N[1], c / (N[0] * N[1])};
          int own = 1;
          for (int a = 0; a < 3; a++) own = own && at[a] >= first[a] && at[a] < first[a] + b[a];
          if (own) u[c] = copy[c];
        }
      }
  free(before), free(copy);
}

static void stale_twin_matches_its_definition(void **state)
{
  (void)state;
  for (int overlap = 0; overlap < 3; overlap++) {
    gmg_problem p = make_problem(3, 13, 9, 8, GMG_CELL, "dnrddn");
    gmg_params params = same_precision();
    params.async.overlap = count_or_none(overlap), params.deterministic = 1, params.omega = 1.2;
    params.async.block[0] = 5, params.async.block[1] = 4, params.async.block[2] = 3;
    const size_t n = unknowns(&p);
    double *f = calloc(n, sizeof *f), *u = calloc(n, sizeof *u), *w = calloc(n, sizeof *w);
    fill_random(f, n, 1), fill_random(u, n, 2);
    memcpy(w, u, n * sizeof *w);
    session s = begin_solver(&p, &params, 2);
    smooth(&s, f, u, 2, GMG_LEG_DOWN);
    const gmg_params chosen = gmg_params_resolved(&params, &p);
    stale_oracle(&p, &chosen, f, w);
    stale_oracle(&p, &chosen, f, w);
    for (size_t c = 0; c < n; c++) assert_near(u[c], w[c], 1e-13);
    end_solver(&s);
    free(f), free(u), free(w);
  }
}

int main(void)
{
  const struct CMUnitTest tests[] = {cmocka_unit_test(red_black_matches_the_oracle), cmocka_unit_test(one_block_is_the_global_method),
                                     cmocka_unit_test(stale_twin_matches_its_definition)};
  return run_selected(tests);
}
