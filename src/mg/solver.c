/* Creates and destroys a solver. Called through the API; gmg_solver_build() also by plan.c. gmg_solve() is in iterate/solve.c,
   gmg_solver_update() in update.c, calls without a solve in apply.c. */
#include "mg/iterate/iterate.h"
#include "mg/parts/parts.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

gmg_medium gmg_medium_of(const gmg_problem *p)
{
  gmg_medium m = {.dim = p->dim, .stretch = {1, 1, 1}, .has_beta = p->beta || p->beta_face[0], .turn = 1};
  m.unknowns = (double)p->n[0] * (double)p->n[1] * (double)p->n[2];
  for (int a = 0; a < p->dim; a++) {
    const gmg_axis_spec spec = gmg_axis_spec_of(p, a);
    double least, most;
    gmg_axis_widths(&spec, &least, &most);
    m.stretch[a] = most / least;
  }
  return m;
}

double gmg_worst_stretch(const gmg_medium *m) { return fmax(m->stretch[0], fmax(m->stretch[1], m->stretch[2])); }

/* Whether constants are in the null space: no Dirichlet wall, no Robin wall with a > 0, and no reaction term. */
int gmg_is_singular(const gmg_problem *p, const gmg_coefficients *found)
{
  if (gmg_operator_shift(p) + found->sigma_least != 0 || gmg_operator_shift(p) + found->sigma_most != 0) return 0;
  for (int a = 0; a < p->dim; a++)
    for (int side = 0; side < 2; side++)
      if (p->bc[a][side] == GMG_DIRICHLET || (p->bc[a][side] == GMG_ROBIN && p->robin[a][side][0] > 0)) return 0;
  return 1;
}

int gmg_needs_spectrum(const gmg_problem *p, const gmg_coefficients *found)
{
  return gmg_operator_shift(p) + found->sigma_least < 0;
}

static gmg_status create_fine_fields(gmg_solver *s)
{
  const size_t cells = s->finest->A.cells, entries = (size_t)s->params.max_cycles + 1;
  void *history = NULL;
  GMG_TRY(gmg_create_field(&s->exec, "effective right-hand side", cells, &s->f_eff));
  GMG_TRY(s->corrections->create(s));
  if (s->method->create) GMG_TRY(s->method->create(s));
  GMG_TRY(gmg_exec_alloc_state(&s->exec, "history of params.max_cycles", entries * sizeof *s->history, &history));
  s->history = history;
  return GMG_OK;
}

/* Copies the positions, because an update compares them. */
static gmg_status copy_positions(gmg_solver *s)
{
  for (int a = 0; a < s->problem.dim; a++) {
    const gmg_axis_spec spec = gmg_axis_spec_of(&s->problem, a);
    const size_t bytes = (spec.mesh + 1) * sizeof *spec.coord;
    void *copy = NULL;
    if (spec.coord) {
      GMG_TRY(gmg_exec_alloc_state(&s->exec, "positions of an axis", bytes, &copy));
      memcpy(copy, spec.coord, bytes);
    }
    s->problem.coord[a] = copy;
  }
  return GMG_OK;
}

/* Checks and resolves the arguments, and stores what depends on nothing else. */
static gmg_status take_arguments(gmg_solver *s, gmg_context *c, const gmg_problem *problem, const gmg_params *params, int dry)
{
  GMG_TRY(gmg_check_problem(c, problem, &s->problem, &s->box));
  gmg_params copied;
  GMG_TRY(gmg_check_params(c, &s->problem, params, &copied, &s->params));
  GMG_TRY(gmg_check_process(c, dry ? "gmg_plan" : "gmg_solver_create", gmg_has_parallel_work(&s->problem)));
  s->cycle_is_auto = copied.cycle == GMG_CYCLE_AUTO;
  s->accel_is_auto = copied.accel == GMG_ACCEL_AUTO;
  s->coarse_is_auto = copied.coarse == GMG_COARSE_AUTO;
  s->checks_are_auto = copied.check_every == 0;
  const gmg_layout f = gmg_array_of_f(&s->problem, NULL).layout, u = gmg_array_of_u(&s->problem, NULL).layout;
  const gmg_layout own = gmg_layout_packed(f.n);
  s->layouts = (gmg_residual_layouts){f, u, own}, s->layouts_with_f_eff = (gmg_residual_layouts){own, u, own};
  s->smoother_is_auto = gmg_leaves_smoother_open(&copied);
  s->symmetric = s->params.symmetric || s->params.accel == GMG_ACCEL_CG;
  s->coarse_ops = gmg_coarsest_of(s->params.coarse);
  return GMG_OK;
}

/* Whether the array sigma dominates some rows, and not others. */
static int sigma_jumps(const gmg_solver *s, const gmg_problem *p)
{
  const gmg_coefficients *c = &s->coefficients;
  double coupling = 0;
  for (int a = 0; a < p->dim; a++) {
    const gmg_axis_spec spec = gmg_axis_spec_of(p, a);
    coupling = fmax(coupling, c->beta_most * gmg_axis_coupling(&spec));
  }
  return p->sigma && c->sigma_most > GMG_JUMP * fmax(coupling, c->sigma_least);
}

/* Whether black box coarsening is possible with these parameters, for the levels in this exec. */
static int may_have_black_box(const gmg_solver *s, const gmg_problem *p)
{
  const gmg_params *q = &s->params;
  const gmg_smoother_ops *ops = gmg_smoother_ops_of(q, &s->exec, &gmg_box_arrays);
  return (p->beta || p->beta_face[0] || p->sigma) && q->fmg == 0 && q->restriction != GMG_RESTRICT_AVERAGE && ops && ops->sweep &&
         q->direct != GMG_DIRECT_ALWAYS && p->dim > 1 && !s->parts;
}

/* p: with the caller's arrays */
static void describe_medium(gmg_solver *s, const gmg_problem *p)
{
  const gmg_problem mine = gmg_as_mine(s, p);
  const gmg_coefficients *c = &s->coefficients;
  const double longest = (double)(p->n[0] > p->n[1] ? p->n[0] : p->n[1]); /* of two axes: islands count in 2D */
  const double share = c->beta_mean[0] / c->beta_most; /* of unknowns that conduct best, if there are two kinds */
  gmg_medium *m = &s->medium;
  *m = gmg_medium_of(p);
  m->backend = s->context->backend;
  m->turn = gmg_measure_turn(&s->exec, p, &mine);
  m->jumps = may_have_black_box(s, p) ? gmg_measure_jumps(&s->exec, p) : 0;
  m->may_have_black_box = may_have_black_box(s, p) && s->params.coarsening != GMG_COARSENING_DISCRETIZE;
  m->has_faces = p->beta_face[0] != NULL;
  m->islands = p->beta && m->jumps > longest / 6 && share > 0.01 && share < 0.75 ? share : 0;
}

/* Replaces the default smoother where another suits the medium, and AUTO in the coarsening. */
static void choose_smoother_and_coarsening(gmg_solver *s, const gmg_problem *p)
{
  gmg_params *q = &s->params;
  const int is_auto = q->coarsening == GMG_COARSENING_AUTO;
  describe_medium(s, p);
  if (is_auto && may_have_black_box(s, p) && (gmg_black_box_suits(s->medium.jumps) || sigma_jumps(s, p)))
    q->coarsening = GMG_COARSENING_BLACK_BOX;
  const gmg_operator_kind *kind = gmg_has_black_box(s) ? &gmg_box_arrays : gmg_operator_kind_of(p);
  const gmg_smoother *better = s->smoother_is_auto ? gmg_smoother_for(&s->medium, &s->exec, kind) : NULL;
  if (better && q->direct != GMG_DIRECT_ALWAYS && !s->parts) q->smoother = better;
  if (is_auto && may_have_black_box(s, p) && gmg_smoother_likes_black_box(&s->medium, q)) q->coarsening = GMG_COARSENING_BLACK_BOX;
  if (q->coarsening == GMG_COARSENING_AUTO) q->coarsening = GMG_COARSENING_DISCRETIZE;
  gmg_smoother_adapt(&s->medium, q);
}

/* From how many unknowns on F cycles pay with black box coarsening, [gmg_backend][dim]; 0: never. liked: with a smoother for media
   that like this coarsening (gmg_builtin_smoother::likes_black_box); others: with all others. Coarse grids of black box coarsening
   represent the fine one, so F cycles save few iterations on small grids.
   - Host, two cores: channels of two unknowns take 30 instead of 64 iterations on 1024^2 cells, and 0.98 instead of 1.35 s; discs 6
     instead of 7, and 0.20 instead of 0.16 s. With lines where the strong direction turns they pay on 512^2 cells, too.
   - Device, an H100, lines: 16 stripes 1000 : 1 take 6, 7 and 7 iterations instead of 10, 12 and 14 on 512^2, 1024^2 and 4096^2
     cells, and 5.2, 11.1 and 69 ms instead of 4.4, 9.2 and 90. With async they only pay where V cycles are slow
     (choose_slow_cycle()). */
typedef struct {
  double liked, others;
} f_cycles_pay;
static const f_cycles_pay f_cycles[2][4] = {{{0, 0}, {0, 0}, {1, 1 << 20}, {0, 0}}, {{0, 0}, {0, 0}, {1 << 22, 0}, {0, 0}}};

static gmg_cycle_kind cycle_of_black_box(const gmg_solver *s)
{
  const gmg_medium *m = &s->medium;
  const f_cycles_pay *pay = &f_cycles[m->backend][m->dim];
  const double many = gmg_smoother_likes_black_box(m, &s->params) ? pay->liked : pay->others;
  return many && m->unknowns >= many && m->islands == 0 ? GMG_CYCLE_F : GMG_CYCLE_V;
}

/* Replaces AUTO in what depends on black box coarsening. */
static void choose_for_black_box(gmg_solver *s)
{
  gmg_params *q = &s->params;
  if (!gmg_has_black_box(s)) return;
  if (s->cycle_is_auto && !s->symmetric) q->cycle = cycle_of_black_box(s);
  if (s->coarse_is_auto && !s->coefficients.asymmetry[0]) q->coarse = GMG_COARSE_DENSE, s->coarse_ops = gmg_coarsest_of(q->coarse);
}

/* Replaces the F cycle that AUTO chooses for arrays beta and sigma. On a small grid of a device launches count, and an F cycle has
   more of them. A ball in which beta is 1e4 times larger, on an H200: 512^2 in 1.21 instead of 1.80 ms, 64^3 in 0.97 instead of
   1.12 ms, with 9 and 10 iterations instead of 7 and 8; 101^3 and 2048^2 take the same time. */
static void choose_cycle(gmg_solver *s)
{
  static const size_t MAX_CELLS_LAUNCHES[2][4] = {{0}, {0, 0, 1 << 20, 1 << 18}}; /* [gmg_backend][dim] */
  const size_t *n = s->problem.n, most = MAX_CELLS_LAUNCHES[s->context->backend][s->problem.dim];
  if (s->cycle_is_auto && !s->problem.stencil && !gmg_has_black_box(s) && n[0] * n[1] * n[2] <= most) s->params.cycle = GMG_CYCLE_V;
}

/* What finishes a slow solve, if the cycle is AUTO.
   - V cycles after F cycles: a coarse grid that overcorrects does so more often in an F cycle. Not on merged cells, where V cycles
     converge more slowly, and not with black box coarsening.
   - F cycles after V cycles, with black box coarsening and a point smoother on large 2D grids of a device. 4096^2 cells on an H100,
     with V cycles alone and with this rule: channels of two unknowns 0.44 and 0.26 s, zigzag bands 20 wide 0.29 and 0.20 s,
     lognormal cells 0.15 and 0.19 s. With F cycles alone discs take 22 instead of 15 ms. */
static void choose_slow_cycle(gmg_solver *s)
{
  static const double MANY[2][4] = {{0}, {0, 0, 1 << 22, 0}}; /* [gmg_backend][dim]; 0: never */
  const double many = MANY[s->context->backend][s->problem.dim];
  const int is_f = s->params.cycle == GMG_CYCLE_F;
  s->slow_cycle = s->params.cycle;
  if (!s->cycle_is_auto || s->symmetric) return;
  if (is_f && !s->problem.stencil && !gmg_has_black_box(s)) s->slow_cycle = GMG_CYCLE_V;
  const int is_large = many && s->medium.unknowns >= many;
  if (!is_f && gmg_has_black_box(s) && is_large && !gmg_exact_axes(&s->params)) s->slow_cycle = GMG_CYCLE_F;
}

/* Replaces AUTO where sigma is below zero.
   - Close to a margin of 0 coarse grids correct the smoothest mode by a wrong amount. Conjugate gradients repair it in one
     iteration: 33^2 cells with a margin of 0.15 % take 7 iterations instead of 14 cycles.
   - Rows in a well of the array sigma are far from diagonally dominant. Over-relaxation then amplifies some modes. */
static void choose_for_negative_sigma(gmg_solver *s, const gmg_problem *p)
{
  gmg_params *q = &s->params;
  if (!gmg_needs_spectrum(p, &s->coefficients) || q->direct == GMG_DIRECT_ALWAYS) return;
  if (s->accel_is_auto) q->accel = GMG_ACCEL_FLEXIBLE_CG;
  if (p->sigma && q->omega == 0 && (gmg_smoother_traits(q, s->exec.threads) & GMG_SMOOTHER_COLOURED)) q->omega = 1;
}

/* In several processes: the parts of the finest level. */
static gmg_status cut_and_copy(gmg_solver *s)
{
  GMG_TRY(copy_positions(s));
  GMG_TRY(gmg_cut_finest(s));
  return s->parts ? gmg_check_layouts(s->context, &s->mine) : GMG_OK;
}

static gmg_status create_levels(gmg_solver *s)
{
  GMG_TRY(gmg_hierarchy_create(s));
  s->mg.levels = s->levels_in_all = s->levels;
  GMG_TRY(gmg_create_copies(s));
  if (!s->parts) return GMG_OK;
  GMG_TRY(gmg_whole_create(s));
  s->mg.levels = s->levels_in_all = s->levels - 1 + s->whole->levels;
  return GMG_OK;
}

/* What depends on the coefficients of all levels, and the fields of the finest. */
static gmg_status create_rest(gmg_solver *s)
{
  if (!s->exec.dry) GMG_TRY(gmg_update_smoothers(s));
  GMG_TRY(gmg_bottoms_create(s));
  return create_fine_fields(s);
}

static void describe_levels(gmg_solver *s)
{
  for (int l = 0; l < s->levels_in_all; l++) {
    const gmg_operator *A = gmg_operator_of_level(s, l);
    gmg_level_report *r = &s->report[l];
    for (int a = 0; a < 3; a++) r->n[a] = gmg_unknowns_along(A, a);
    r->cells = gmg_cells_of_all(A);
  }
}

gmg_status gmg_solver_build(gmg_solver *s, gmg_context *c, const gmg_problem *given, const gmg_params *given_params, int dry)
{
  GMG_TRY(gmg_agree(c, take_arguments(s, c, given, given_params, dry)));
  GMG_TRY(gmg_check_same(c, &s->problem, &s->params));
  const gmg_problem arguments = s->problem, *p = &arguments; /* with the caller's arrays */
  s->context = c;
  s->exec = gmg_exec_make(c, p->type, dry);
  gmg_exec_use_exact_sums(&s->exec, s->params.deterministic);
  s->exec.bytes = sizeof *s;
  s->levels_exec = &s->exec;
  GMG_TRY(gmg_status_or_failure(s, GMG_OK));
  GMG_TRY(gmg_agree(c, cut_and_copy(s)));
  const gmg_problem mine = gmg_as_mine(s, p);
  s->mg = (gmg_multigrid){.solver = s, .level = s->level, .pre = s->params.pre, .post = s->params.post,
                          .refresh = gmg_refresh_of(s->params.halos)};
  s->vector = s->exec.vector;
  s->grid = gmg_grid_ops_of(&s->exec);
  GMG_TRY(gmg_agree(c, gmg_check_coefficients(&s->exec, p, &mine, s->part, &s->coefficients)));
  GMG_TRY(gmg_check_symmetry(s, p, &s->coefficients));
  choose_smoother_and_coarsening(s, p);
  choose_for_black_box(s);
  choose_cycle(s);
  choose_slow_cycle(s);
  GMG_TRY(gmg_find_spectrum(s, p, &s->coefficients));
  choose_for_negative_sigma(s, p);
  s->singular = gmg_is_singular(p, &s->coefficients);
  s->mg.up = s->symmetric ? GMG_LEG_UP_REVERSED : GMG_LEG_UP;
  s->clock.timer = -1;
  if (!dry && s->params.report_level_times) GMG_TRY(s->exec.trace->clock_create(c, &s->clock));
  GMG_TRY(gmg_agree(c, create_levels(s)));
  GMG_TRY(gmg_connect_parts(s));
  gmg_load_coefficients(s, &mine);
  GMG_TRY(gmg_agree(c, create_rest(s)));
  describe_levels(s);
  return GMG_OK;
}

void gmg_solver_release(gmg_solver *s)
{
  if (!s->context) return; /* nothing to release */
  GMG_WITH_DEVICE(s->context);
  gmg_forget_recordings(s);
  if (s->parts) gmg_disconnect_parts(s);
  if (s->whole) gmg_whole_release(s);
  gmg_hierarchy_destroy(s);
  if (s->exec.trace) s->exec.trace->clock_destroy(s->context, &s->clock);
  gmg_exec_release(&s->exec);
}

gmg_status gmg_solver_create(gmg_context *context, const gmg_problem *problem, const gmg_params *params, gmg_solver **solver)
{
  if (solver) *solver = NULL;
  if (!context) return GMG_ERR_ARGUMENT;
  const gmg_status ready = solver ? gmg_check_process(context, "gmg_solver_create", 0)
                                  : gmg_fail(context, GMG_ERR_ARGUMENT, "solver is NULL");
  GMG_TRY(gmg_agree(context, ready));
  GMG_WITH_DEVICE(context);
  context->error[0] = 0;
  gmg_solver *s = calloc(1, sizeof *s);
  const gmg_status room = s ? GMG_OK : gmg_fail(context, GMG_ERR_MEMORY, "solver could not be allocated");
  const gmg_status together = gmg_agree(context, room);
  if (together != GMG_OK) free(s);
  GMG_TRY(together);
  const gmg_status status = gmg_status_or_failure(s, gmg_solver_build(s, context, problem, params, 0));
  if (status != GMG_OK) {
    gmg_solver_destroy(s);
    return status;
  }
  *solver = s;
  return GMG_OK;
}

void gmg_solver_destroy(gmg_solver *solver)
{
  if (!solver) return;
  if (solver->running) {
    (void)gmg_check_idle(solver, "gmg_solver_destroy");
    return;
  }
  gmg_solver_release(solver);
  free(solver);
}

gmg_status gmg_status_or_failure(gmg_solver *s, gmg_status status)
{
  const gmg_status health = s->exec.memory ? s->exec.memory->health(s->context) : GMG_OK;
  return health != GMG_OK ? health : status;
}
