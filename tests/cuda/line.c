/* CUDA against the host in 1D: the asynchronous smoother in many settings with all boundary conditions, and transfers on every
   level. */
#include "twins.h"

static const size_t sizes[] = {1, 2, 3, 4, 5, 33, 400, 512, 513, 2048, 4095, 4096, 4097, 100003};
enum { SIZES = sizeof sizes / sizeof *sizes };
static const char *const ends[] = {"dd", "nd", "dn", "nn", "rd", "pp"};
enum { ENDS = sizeof ends / sizeof *ends };
static const gmg_type types[] = {GMG_F32, GMG_F64};
static const gmg_centering centerings[] = {GMG_VERTEX, GMG_CELL};

static gmg_problem line_problem(size_t n, gmg_type type, gmg_centering centering, const char *bc)
{
  gmg_problem p = make_problem(1, n, 1, 1, centering, bc);
  p.type = type;
  return p;
}

static const char *name_of(const gmg_problem *p, const char *bc, const char *what)
{
  static char name[128];
  snprintf(name, sizeof name, "%s, %zu %s in %s, %s", what, p->n[0], p->centering == GMG_CELL ? "cells" : "vertices",
           p->type == GMG_F64 ? "double" : "float", bc);
  return name;
}

/* --- smoothing --------------------------------------------------------------------------------------------------------- */

/* Sweeps on the first two levels: from zero, upwards and reversed. Two steps if deterministic. Otherwise one, because the second
   step may begin before the first has ended. */
static void smooth_both(const char *name, const gmg_problem *p, const gmg_params *q)
{
  both b = begin_both(p, q, name);
  const int steps = q->deterministic ? 2 : 1;
  static const struct {
    const char *name;
    int from_zero;
    gmg_leg leg;
  } sweeps[] = {{"from zero", 1, GMG_LEG_DOWN}, {"smoothing", 0, GMG_LEG_UP}, {"reversed", 0, GMG_LEG_UP_REVERSED}};
  for (int l = 0; l + 1 < b.solver[0]->levels && l < 2; l++)
    for (int k = 0; k < COUNT(sweeps); k++) {
      gmg_level *L[2] = {&b.solver[0]->level[l], &b.solver[1]->level[l]};
      const gmg_exec *e[2] = {b.solver[0]->levels_exec, b.solver[1]->levels_exec};
      twin u = begin_twin(e[0], e[1], L[0]->A.cells, 51), f = begin_twin(e[0], e[1], L[0]->A.cells, 52);
      ON_BOTH(i) {
        const gmg_smoother_ops *ops = b.solver[i]->mg.smoother[0];
        void *const state = b.solver[i]->mg.state[l];
        if (sweeps[k].from_zero) ops->sweep_from_zero(&L[i]->view, state, f.at[i], u.at[i], steps, sweeps[k].leg);
        else ops->sweep(&L[i]->view, state, f.at[i], u.at[i], steps, sweeps[k].leg);
      }
      same_twin(name, sweeps[k].name, &u, 1024);
      end_twin(&u), end_twin(&f);
    }
  end_both(&b);
}

typedef struct {
  size_t block;
  int overlap, sweeps;
  gmg_local_kind local;
  gmg_block_order order;
} setting;

static const setting settings[] = {{16, 1, 2, GMG_LOCAL_RED_BLACK, GMG_ORDER_NATURAL},
                                   {500, 1, 2, GMG_LOCAL_RED_BLACK, GMG_ORDER_RANDOM},
                                   {33, 0, 5, GMG_LOCAL_RED_BLACK, GMG_ORDER_TWO_COLOUR},
                                   {2048, 2, 1, GMG_LOCAL_RED_BLACK, GMG_ORDER_NATURAL},
                                   {7, 2, 5, GMG_LOCAL_RED_BLACK, GMG_ORDER_NATURAL},
                                   {1, 1, 2, GMG_LOCAL_RED_BLACK, GMG_ORDER_TWO_COLOUR},
                                   {8000, 1, 2, GMG_LOCAL_RED_BLACK, GMG_ORDER_NATURAL},
                                   {512, 0, 5, GMG_LOCAL_JACOBI, GMG_ORDER_NATURAL},
                                   {100, 2, 3, GMG_LOCAL_JACOBI, GMG_ORDER_RANDOM},
                                   {4000, 1, 1, GMG_LOCAL_JACOBI, GMG_ORDER_NATURAL}};
enum { SETTINGS = sizeof settings / sizeof *settings };

/* Type and centering alternate, so that an axis has another type and centering in another setting. */
static void smoothing_agrees(void **state)
{
  enum { SHIFTED_EVERY = 3 };
  (void)state;
  for (int s = 0; s < SETTINGS; s++)
    for (int i = 0; i < SIZES; i++)
      for (int k = 0; k < ENDS; k++) {
        const setting *x = &settings[s];
        if (x->block < sizes[i] / 300 || !taken(sizes[i])) continue; /* the first is slow on the host */
        const gmg_type type = ROUND_ROBIN(types, s + i);
        const gmg_centering centering = ROUND_ROBIN(centerings, s / 2 + i + k);
        const int shifted = (i + k) % SHIFTED_EVERY == 0;
        gmg_problem p = line_problem(sizes[i], type, centering, ends[k]);
        gmg_params q = params_for_cycles();
        if (shifted) p.shift = 5.0 * (double)(sizes[i] * sizes[i]);
        q.precision = GMG_PRECISION_SAME, q.deterministic = 1, q.coarse_cells = 1;
        q.async.block[0] = x->block, q.async.overlap = count_or_none(x->overlap), q.async.local_sweeps = x->sweeps, q.async.local = x->local, q.async.order = x->order;
        smooth_both(name_of(&p, ends[k], "blocks"), &p, &q);
      }
}

/* One block of the whole axis gives the same result on both, in place as well. */
static void one_block_agrees(void **state)
{
  (void)state;
  for (int i = 0; sizes[i] <= 400; i++)
    for (int k = 0; k < ENDS; k++)
      for (int t = 0; t < COUNT(types); t++)
        for (int c = 0; c < COUNT(centerings); c++)
          for (int deterministic = 0; deterministic < 2; deterministic++) {
            const gmg_problem p = line_problem(sizes[i], types[t], centerings[c], ends[k]);
            gmg_params q = params_for_cycles();
            q.precision = GMG_PRECISION_SAME, q.deterministic = deterministic, q.coarse_cells = 1;
            if (!deterministic && ends[k][0] == 'p') continue; /* the block is its own neighbour */
            if (!taken(sizes[i])) continue;
            smooth_both(name_of(&p, ends[k], "one block"), &p, &q);
          }
}

/* --- transfers --------------------------------------------------------------------------------------------------------- */

/* shift: fields begin `shift` elements late. With 1, pairs are not aligned. */
static void transfer(const char *name, const both *b, int l, size_t shift)
{
  gmg_level *L[2] = {&b->solver[0]->level[l], &b->solver[1]->level[l]};
  const gmg_exec *e[2] = {b->solver[0]->levels_exec, b->solver[1]->levels_exec};
  const size_t n = L[0]->A.cells + shift, m = b->solver[0]->level[l + 1].A.cells + shift, late = shift * e[0]->real_size;
  twin u = begin_twin(e[0], e[1], n, 21), f = begin_twin(e[0], e[1], n, 22), r = begin_twin(e[0], e[1], n, 0);
  twin coarse = begin_twin(e[0], e[1], m, 23), fine = begin_twin(e[0], e[1], n, 24), anew = begin_twin(e[0], e[1], n, 25);
  ON_BOTH(i) {
    const gmg_grid_ops *S = gmg_grid_ops_of(e[i]);
    char *const c = (char *)coarse.at[i] + late;
    S->transfer(e[i], L[i]->prolong, c, (char *)fine.at[i] + late, 1);
    S->transfer(e[i], L[i]->prolong, c, (char *)anew.at[i] + late, 0);
    gmg_operator_of(e[i], &L[i]->A)->restrict_residual(e[i], &L[i]->A, L[i]->restrict_, (char *)f.at[i] + late, (char *)u.at[i] + late, r.at[i], c);
  }
  same_twin(name, "prolongation", &fine, 1024), same_twin(name, "interpolation", &anew, 1024);
  same_twin(name, "restriction", &coarse, 1024);
  end_twin(&u), end_twin(&f), end_twin(&r), end_twin(&coarse), end_twin(&fine), end_twin(&anew);
}

static void transfers_agree_on(const gmg_problem *p, const char *bc)
{
  if (!taken(p->n[0])) return;
  static const struct {
    const char *name, *smoother;
    gmg_restriction restriction;
    int symmetric;
  } cases[] = {{"transfers", "async", GMG_RESTRICT_AUTO, 0},
               {"averages", "async", GMG_RESTRICT_AVERAGE, 0},
               {"adjoints", "red_black", GMG_RESTRICT_AUTO, 1}};
  for (int i = 0; i < COUNT(cases); i++) {
    gmg_params q = params_for_cycles();
    q.precision = GMG_PRECISION_SAME, q.coarse_cells = 2;
    q.smoother = gmg_smoother_by_name(cases[i].smoother);
    q.restriction = cases[i].restriction, q.symmetric = cases[i].symmetric;
    const char *name = name_of(p, bc, cases[i].name);
    both b = begin_both(p, &q, name);
    for (int l = 0; l + 1 < b.solver[0]->levels; l++)
      for (size_t shift = 0; shift < 2; shift++) transfer(name, &b, l, shift);
    end_both(&b);
  }
}

static void transfers_agree(void **state)
{
  static const size_t more[] = {65535, 65536, 1000000, 1048577};
  (void)state;
  for (int i = 0; i < SIZES; i++)
    for (int k = 0; k < ENDS; k++)
      for (int c = 0; c < COUNT(centerings); c++) {
        const gmg_problem p = line_problem(sizes[i], ROUND_ROBIN(types, i + k), centerings[c], ends[k]);
        transfers_agree_on(&p, ends[k]);
      }
  for (int i = 0; i < COUNT(more); i++)
    for (int t = 0; t < COUNT(types); t++)
      for (int c = 0; c < COUNT(centerings); c++) {
        const char *const bc = centerings[c] == GMG_CELL ? "dd" : "pp";
        const gmg_problem p = line_problem(more[i], types[t], centerings[c], bc);
        transfers_agree_on(&p, bc);
      }
}

/* --- cycles ------------------------------------------------------------------------------------------------------------ */

/* Cycles on a long axis. With given blocks the residuals of host and device agree. With blocks that the device chooses, its
   residual is no worse. */
static void cycles_agree(void **state)
{
  (void)state;
  const gmg_problem p = line_problem(1 << 20, GMG_F64, GMG_CELL, "dd");
  double own = 0;
  for (int choice = 0; choice < 2; choice++) {
    gmg_params q = params_for_cycles();
    gmg_report r[2];
    q.deterministic = 1, q.max_cycles = 2, q.rtol = 1e-30, q.async.block[0] = choice ? 0 : 2000;
    both b = begin_both(&p, &q, "a long axis");
    const gmg_exec *e[2] = {&b.solver[0]->exec, &b.solver[1]->exec};
    twin f = begin_twin(e[0], e[1], unknowns(&p), 61), u = begin_twin(e[0], e[1], unknowns(&p), 0);
    ON_BOTH(i) assert_true(gmg_solve(b.solver[i], f.at[i], u.at[i], &r[i]) <= GMG_STAGNATED);
    print_message("1D, %zu unknowns, %d cycles: residual %g on the host, %g on the device\n", p.n[0], r[1].cycles, r[0].residual,
                  r[1].residual);
    if (choice == 0) assert_near(r[1].residual / r[0].residual, 1, 0.05);
    else assert_below(r[1].residual, 1.5 * own);
    own = r[1].residual;
    end_twin(&f), end_twin(&u);
    end_both(&b);
  }
}

int main(int argc, char **argv)
{
  only(argc, argv);
  if (without_device()) return SKIPPED;
  const struct CMUnitTest tests[] = {cmocka_unit_test(smoothing_agrees), cmocka_unit_test(one_block_agrees),
                                     cmocka_unit_test(transfers_agree), cmocka_unit_test(cycles_agree)};
  return run_selected(tests);
}
