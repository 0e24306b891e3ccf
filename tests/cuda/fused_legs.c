/* Fused legs of the asynchronous smoother on CUDA against their parts: smoothing and the restricted residual; the coarse
   correction, smoothing and the update of u; and whole solves with and without them. */
#include "fused_legs.h"

static const gmg_block_order orders[] = {GMG_ORDER_NATURAL, GMG_ORDER_TWO_COLOUR, GMG_ORDER_RANDOM};

/* --- the leg up ------------------------------------------------------------------------------------------------------ */

static void updates_of(const shape *box, const size_t block[3], int order, update_ability can)
{
  gmg_problem p = unit_cells(box);
  if (!taken(unknowns(&p))) return;
  p.shift = 0;
  gmg_params q = relaxing(GMG_LOCAL_RED_BLACK, 2, p.dim == 2 ? 2 : 1, (gmg_block_order)order, block[0], block[1], block[2]);
  char name[100];
  snprintf(name, sizeof name, "%zu x %zu x %zu, %s", p.n[0], p.n[1], p.n[2], box->bc);
  q.deterministic = 1, q.precision = GMG_PRECISION_MIXED, q.fmg = 1; /* with the maps of a base */
  both b = begin_both(&p, &q, name);
  for (int i = 0; i < UPDATES; i++) update_agrees(name, &b, &updates[i], can);
  end_both(&b);
}

/* The plane kernel in 3D, whose blocks may begin in the middle of a pair, and the row kernel in 2D. Rows are whole vectors, end
   within a lane, or leave one pair for the last block. */
static void sweeps_update(void **state)
{
  static const struct {
    shape shape;
    size_t block[3];
    int can_prolong;
  } s[] = {{{3, {64, 44, 40}, GMG_CELL, "ddddnn"}, {30, 14, 20}, 1},  {{3, {60, 28, 36}, GMG_CELL, "pppppp"}, {30, 14, 18}, 1},
           {{3, {46, 32, 64}, GMG_CELL, "ndrdpp"}, {23, 12, 32}, 1},  {{3, {30, 14, 32}, GMG_CELL, "dddddd"}, {30, 14, 32}, 1},
           {{3, {58, 24, 96}, GMG_VERTEX, "pppppp"}, {29, 10, 96}, 1}, {{3, {40, 40, 100}, GMG_CELL, "ddppdn"}, {30, 12, 34}, 1},
           {{3, {33, 28, 36}, GMG_CELL, "dddddd"}, {30, 14, 18}, 1},  {{3, {64, 44, 40}, GMG_CELL, "dddddd"}, {30, 14, 15}, 0},
           {{3, {65, 71, 70}, GMG_CELL, "dnrdpp"}, {30, 14, 18}, 1},  {{3, {64, 65, 66}, GMG_VERTEX, "dddddd"}, {30, 14, 18}, 1},
           {{3, {66, 64, 72}, GMG_VERTEX, "pppppp"}, {28, 8, 24}, 1}, {{3, {101, 64, 67}, GMG_CELL, "ddddrn"}, {25, 14, 67}, 1},
           {{3, {8, 28, 36}, GMG_CELL, "pppppp"}, {30, 14, 18}, 1}, /* a tile is longer than the axis */
           {{2, {300, 200, 1}, GMG_CELL, "ddnn"}, {100, 50, 1}, 1},   {{2, {256, 64, 1}, GMG_CELL, "pppp"}, {64, 32, 1}, 1},
           {{2, {702, 90, 1}, GMG_CELL, "nrdd"}, {120, 30, 1}, 1},    {{2, {301, 200, 1}, GMG_CELL, "dddd"}, {120, 50, 1}, 0},
           {{2, {240, 66, 1}, GMG_CELL, "dnrd"}, {120, 20, 1}, 1},    {{2, {488, 50, 1}, GMG_CELL, "ppdn"}, {40, 50, 1}, 1},
           {{2, {120, 40, 1}, GMG_CELL, "pppp"}, {120, 40, 1}, 1},    {{2, {200, 36, 1}, GMG_CELL, "ddpp"}, {60, 7, 1}, 1},
           {{2, {64, 130, 1}, GMG_CELL, "nrpp"}, {20, 33, 1}, 1},     {{2, {36, 16, 1}, GMG_CELL, "dddd"}, {20, 5, 1}, 1},
           {{2, {122, 44, 1}, GMG_CELL, "pppp"}, {40, 20, 1}, 1},     {{2, {63, 45, 1}, GMG_CELL, "dndr"}, {20, 9, 1}, 0}};
  (void)state;
  for (int g = 0; g < (int)(sizeof s / sizeof *s); g++) updates_of(&s[g].shape, s[g].block, g % 3, (update_ability){1, s[g].can_prolong, s[g].can_prolong});
}

/* The upward leg that adds the coarse correction, against the one that finds it in u. Beyond walls that mirror, and across odd
   seams, the blocks of a device relax otherwise than those of the host, so both run on the device. */
static void corrections_in_the_pass(void **state)
{
  static const struct {
    shape shape;
    size_t block[3];
  } s[] = {{{3, {65, 67, 69}, GMG_VERTEX, "nnrnnd"}, {30, 14, 18}}, {{3, {65, 67, 69}, GMG_CELL, "pppppp"}, {30, 14, 18}},
           {{3, {65, 71, 65}, GMG_VERTEX, "nnnnnn"}, {26, 10, 65}}, {{3, {69, 65, 70}, GMG_VERTEX, "ppppnd"}, {30, 14, 14}},
           {{3, {64, 66, 64}, GMG_VERTEX, "ndndnd"}, {30, 14, 16}}, {{3, {111, 65, 64}, GMG_CELL, "dnrrpp"}, {30, 14, 32}},
           {{3, {57, 29, 66}, GMG_CELL, "pppppp"}, {25, 10, 34}}, {{3, {59, 31, 65}, GMG_VERTEX, "ppppnn"}, {23, 10, 65}},
           {{3, {73, 81, 40}, GMG_CELL, "pppppp"}, {29, 14, 40}}, {{3, {36, 97, 49}, GMG_CELL, "nnppdd"}, {18, 10, 20}},
           {{3, {49, 53, 49}, GMG_CELL, "rnddpp"}, {25, 10, 18}}, {{3, {70, 81, 66}, GMG_VERTEX, "nnppnd"}, {29, 14, 18}}};
  (void)state;
  for (int g = 0; g < (int)(sizeof s / sizeof *s); g++)
    for (int reversed = 0; reversed < 2; reversed++) {
      gmg_problem p = unit_cells(&s[g].shape);
      if (!taken(unknowns(&p))) continue;
      gmg_params q = relaxing(GMG_LOCAL_RED_BLACK, 2, 1, (gmg_block_order)(g % 3), s[g].block[0], s[g].block[1], s[g].block[2]);
      char name[100];
      snprintf(name, sizeof name, "%zu x %zu x %zu, %s", p.n[0], p.n[1], p.n[2], s[g].shape.bc);
      q.precision = GMG_PRECISION_MIXED;
      both b = begin_both(&p, &q, name);
      const gmg_solver *d = b.solver[DEVICE];
      const gmg_exec *low = d->levels_exec;
      const gmg_level *L = &d->level[0];
      twin f = begin_twin(low, low, L->A.cells, 81), u = begin_twin(low, low, L->A.cells, 82);
      twin c = begin_twin(low, low, L[1].A.cells, 83);
      twin x = begin_twin(&d->exec, &d->exec, L->A.cells, 84), scale = begin_twin(&d->exec, &d->exec, 1, 85);
      for (int fused = 0; fused < 2; fused++) {
        if (!fused) d->mg.grid->transfer(low, L->prolong, c.at[0], u.at[0], 1);
        const gmg_update_target to = {.x = x.at[fused], .layout = gmg_layout_of(&L->A), .scale = scale.at[0], .keep = 1,
                                      .coarse = fused ? c.at[1] : NULL, .prolong = fused ? L->prolong : NULL};
        assert_int_equal(d->mg.fused[0]->postsmooth_update(&L->view, d->mg.state[0], f.at[fused], u.at[fused], 1,
                                                           reversed ? GMG_LEG_UP_REVERSED : GMG_LEG_UP, &to), 1);
      }
      same_twin(name, "updated field", &x, 1024 * epsilon_of(low) / epsilon_of(&d->exec));
      end_twin(&f), end_twin(&u), end_twin(&c), end_twin(&x), end_twin(&scale);
      end_both(&b);
    }
}

/* The kernel of packed tiles, for each size. It adds the coarse correction if unknowns and blocks come in pairs. */
static void packed_tiles_update(void **state)
{
  static const struct {
    shape shape;
    size_t block[3];
    int can_prolong;
  } s[] = {{{3, {70, 35, 21}, GMG_CELL, "dndrdd"}, {32, 16, 8}, 0}, {{3, {64, 48, 24}, GMG_CELL, "pppppp"}, {32, 24, 8}, 1},
           {{3, {70, 36, 22}, GMG_CELL, "dndrdd"}, {32, 16, 8}, 1}, {{3, {36, 20, 18}, GMG_CELL, "ppdrpp"}, {16, 16, 8}, 1},
           {{3, {40, 23, 17}, GMG_CELL, "dddddd"}, {14, 9, 8}, 0},  {{3, {24, 22, 18}, GMG_CELL, "rndddn"}, {8, 8, 8}, 1},
           {{3, {16, 18, 14}, GMG_CELL, "ddppdd"}, {6, 7, 5}, 0},   {{3, {8, 8, 16}, GMG_CELL, "ppppdd"}, {8, 8, 8}, 1},
           {{3, {71, 20, 22}, GMG_CELL, "dndrdd"}, {32, 16, 8}, 0}, {{3, {37, 22, 17}, GMG_CELL, "rnppdd"}, {16, 16, 8}, 0},
           {{3, {15, 8, 16}, GMG_CELL, "ddppdn"}, {15, 8, 8}, 0},   {{3, {40, 22, 18}, GMG_VERTEX, "nnnrnn"}, {16, 8, 8}, 0},
           {{3, {33, 17, 15}, GMG_VERTEX, "nndnpp"}, {16, 8, 8}, 0}, {{3, {33, 18, 14}, GMG_CELL, "pppppp"}, {16, 8, 8}, 0}};
  (void)state;
  for (int g = 0; g < (int)(sizeof s / sizeof *s); g++) updates_of(&s[g].shape, s[g].block, g % 3, (update_ability){1, s[g].can_prolong, 0});
}

/* --- the leg down ---------------------------------------------------------------------------------------------------- */

static void residuals_in_the_pass(void **state)
{
  static const struct {
    shape shape;
    size_t block[3];
    int can; /* 1: blocks consist of whole coarse cells. 2: one step from zero in float (the row kernel). 3: also every step in float */
  } s[] = {{{3, {64, 44, 40}, GMG_CELL, "ddddnn"}, {30, 14, 20}, 1},  {{3, {60, 28, 36}, GMG_CELL, "pppppp"}, {30, 14, 18}, 1},
           {{3, {46, 32, 64}, GMG_CELL, "ndrdpp"}, {26, 12, 32}, 1},  {{3, {30, 20, 32}, GMG_CELL, "dddddd"}, {30, 14, 32}, 1},
           {{3, {30, 20, 32}, GMG_CELL, "pppppp"}, {30, 14, 32}, 1},  {{3, {40, 40, 100}, GMG_CELL, "ddppdn"}, {2, 4, 34}, 1},
           {{3, {32, 38, 36}, GMG_CELL, "rnndpp"}, {30, 12, 10}, 1},   {{3, {34, 30, 36}, GMG_CELL, "dddddd"}, {17, 14, 18}, 0},
           {{3, {64, 44, 40}, GMG_CELL, "dddddd"}, {30, 14, 15}, 0},  {{3, {65, 44, 40}, GMG_CELL, "dddddd"}, {30, 14, 20}, 0},
           {{3, {256, 160, 124}, GMG_CELL, "ddddpp"}, {0, 0, 0}, 3}, {{2, {256, 64, 1}, GMG_CELL, "pppp"}, {60, 32, 1}, 2}};
  (void)state;
  for (int g = 0; g < (int)(sizeof s / sizeof *s); g++)
    for (int type = 0; type < 2; type++) {
      gmg_problem p = unit_cells(&s[g].shape);
      if (!taken(unknowns(&p))) continue;
      p.type = (gmg_type)type;
      gmg_params q = relaxing(GMG_LOCAL_RED_BLACK, 2, p.dim == 2 ? 2 : 1, ROUND_ROBIN(orders, g), s[g].block[0], s[g].block[1], s[g].block[2]);
      char name[100];
      snprintf(name, sizeof name, "%zu x %zu x %zu, %s, type %d", p.n[0], p.n[1], p.n[2], s[g].shape.bc, type);
      q.precision = GMG_PRECISION_SAME;
      if (type == GMG_F64 && s[g].block[1] > 10) q.async.block[1] = 16; /* larger blocks fit */
      both b = begin_both(&p, &q, name);
      for (int i = 0; i < DOWNS; i++) {
        const int first = is_first_step(&downs[i]), in_float = type == GMG_F32;
        down_agrees(name, &b, &downs[i], s[g].can == 2 ? in_float && first : s[g].can == 3 ? in_float || first : s[g].can);
      }
      if (s[g].can == 1) down_keeps_a_solution(name, &b, 1);
      end_both(&b);
    }
}

/* The kernel of packed tiles, for each size, restricts in the last pass, in float. */
static void residuals_in_packed_tiles(void **state)
{
  static const struct {
    shape shape;
    size_t block[3];
    int can;
  } s[] = {{{3, {70, 36, 22}, GMG_CELL, "dndrdd"}, {32, 16, 8}, 1}, {{3, {64, 48, 24}, GMG_CELL, "pppppp"}, {32, 24, 8}, 1},
           {{3, {36, 20, 18}, GMG_CELL, "ppdrpp"}, {16, 16, 8}, 1}, {{3, {24, 22, 18}, GMG_CELL, "rndddn"}, {8, 8, 8}, 1},
           {{3, {32, 24, 24}, GMG_CELL, "ppppdd"}, {8, 8, 6}, 1},   {{3, {40, 24, 24}, GMG_CELL, "dddddd"}, {14, 9, 8}, 0},
           {{3, {40, 23, 24}, GMG_CELL, "dddddd"}, {14, 10, 8}, 0}, {{3, {64, 64, 64}, GMG_CELL, "dddddd"}, {0, 0, 0}, 1},
           {{3, {65, 30, 33}, GMG_CELL, "dndddr"}, {0, 0, 0}, 0}};
  (void)state;
  for (int g = 0; g < (int)(sizeof s / sizeof *s); g++) {
    gmg_problem p = unit_cells(&s[g].shape);
    if (!taken(unknowns(&p))) continue;
    p.type = GMG_F32;
    gmg_params q = relaxing(GMG_LOCAL_RED_BLACK, 2, p.dim == 2 ? 2 : 1, ROUND_ROBIN(orders, g), s[g].block[0], s[g].block[1], s[g].block[2]);
    char name[100];
    snprintf(name, sizeof name, "packed tiles, %zu x %zu x %zu, %s", p.n[0], p.n[1], p.n[2], s[g].shape.bc);
    both b = begin_both(&p, &q, name);
    for (int i = 0; i < DOWNS; i++) down_agrees(name, &b, &downs[i], s[g].can);
    for (int steps = 1; s[g].can && steps < 3; steps++) down_keeps_a_solution(name, &b, steps);
    end_both(&b);
  }
}

/* The downward leg by rows in 2D from zero, with any blocks, against sweeps over the whole level and the residual. */
static void rows_restrict_of(gmg_problem p, gmg_block_order order, size_t x, size_t y)
{
  gmg_params q = relaxing(GMG_LOCAL_RED_BLACK, 2, 2, order, x, y, x > 0), whole = q;
  p.type = GMG_F32;
  q.omega = whole.omega = 1.2, whole.smoother = gmg_smoother_by_name("red_black");
  both b = begin_both(&p, &q, "rows"), w = begin_both(&p, &whole, "rows");
  gmg_level *L[2] = {&b.solver[HOST]->level[0], &b.solver[DEVICE]->level[0]}, *W = &w.solver[HOST]->level[0];
  const gmg_exec *e[2] = {b.solver[HOST]->levels_exec, b.solver[DEVICE]->levels_exec};
  const size_t n = L[0]->A.cells;
  twin f = begin_twin(e[0], e[1], n, 81), u = begin_twin(e[0], e[1], n, 0), r = begin_twin(e[0], e[1], n, 0);
  twin c = begin_twin(e[0], e[1], b.solver[HOST]->level[1].A.cells, 0);
  e[1]->vector->fill(e[1], n, NAN, u.at[1]), e[1]->vector->fill(e[1], n, NAN, r.at[1]);
  w.solver[HOST]->mg.smoother[0]->sweep(&W->view, w.solver[HOST]->mg.state[0], f.at[0], u.at[0], 2, GMG_LEG_DOWN);
  gmg_operator_of(e[0], &L[0]->A)->restrict_residual(e[0], &L[0]->A, L[0]->restrict_, f.at[0], u.at[0], r.at[0], c.at[0]);
  const gmg_fused_ops *ops = b.solver[DEVICE]->mg.fused[0];
  void *const device_state = b.solver[DEVICE]->mg.state[0];
  const int done = ops->presmooth_restrict(&L[1]->view, device_state, f.at[1], r.at[1], u.at[1], 1, GMG_FROM_ZERO, L[1]->restrict_,
                                           c.at[1]);
  assert_int_equal(done, 1);
  same_twin("rows", "u", &u, 512), same_twin("rows", "restricted residual", &c, 2048);
  end_twin(&f), end_twin(&u), end_twin(&r), end_twin(&c);
  end_both(&b), end_both(&w);
}

static void rows_restrict(void **state)
{
  static const struct {
    shape shape;
    size_t x, y;
  } s[] = {{{2, {240, 64, 1}, GMG_CELL, "dddd"}, 60, 16},  {{2, {360, 50, 1}, GMG_CELL, "ddpp"}, 120, 26},
           {{2, {120, 40, 1}, GMG_CELL, "pppp"}, 120, 10}, {{2, {64, 48, 1}, GMG_CELL, "ppdn"}, 20, 48},
           {{2, {128, 36, 1}, GMG_CELL, "ndrd"}, 120, 12}, {{2, {100, 130, 1}, GMG_CELL, "nrdn"}, 100, 130},
           {{2, {16, 8, 1}, GMG_CELL, "pppp"}, 8, 2},      {{2, {236, 30, 1}, GMG_CELL, "ppnn"}, 116, 6},
           {{2, {122, 40, 1}, GMG_CELL, "pppp"}, 40, 10},  {{2, {62, 36, 1}, GMG_CELL, "dnrd"}, 120, 12},
           {{2, {250, 28, 1}, GMG_CELL, "ppdn"}, 120, 28}, {{2, {254, 30, 1}, GMG_CELL, "rdpp"}, 60, 6}};
  (void)state;
  for (int g = 0; g < (int)(sizeof s / sizeof *s); g++) {
    const gmg_problem p = unit_cells(&s[g].shape);
    if (taken(unknowns(&p))) rows_restrict_of(p, ROUND_ROBIN(orders, g), s[g].x, s[g].y);
  }
}

/* --- both legs, double buffered ----------------------------------------------------------------------------------------- */

/* By the plane sweep, and in float also by packed tiles and, in 2D, by the row sweep. */
static void double_buffered_legs(void **state)
{
  static const struct {
    shape shape;
    size_t block[3];
    int can[2]; /* in float, and in double: whether blocks begin with a pair, and have enough rows */
  } s[] = {{{3, {64, 44, 40}, GMG_CELL, "ddddnn"}, {30, 14, 20}, {1, 1}}, {{3, {60, 28, 36}, GMG_CELL, "pppppp"}, {30, 14, 18}, {1, 1}},
           {{3, {46, 32, 64}, GMG_CELL, "ndrdpp"}, {26, 12, 32}, {1, 1}}, {{3, {30, 20, 32}, GMG_CELL, "dddddd"}, {30, 14, 32}, {1, 1}},
           {{3, {40, 40, 100}, GMG_CELL, "ddppdn"}, {2, 8, 34}, {1, 1}},  {{3, {32, 38, 36}, GMG_CELL, "rnndpp"}, {30, 18, 10}, {0, 1}},
           {{3, {40, 40, 100}, GMG_CELL, "ddppdn"}, {2, 4, 34}, {0, 0}},  {{3, {34, 30, 36}, GMG_CELL, "dddddd"}, {17, 14, 18}, {1, 1}},
           {{3, {64, 44, 40}, GMG_CELL, "dddddd"}, {30, 14, 15}, {0, 0}}, {{3, {33, 28, 36}, GMG_CELL, "dddddd"}, {30, 14, 18}, {1, 1}},
           {{3, {64, 44, 40}, GMG_CELL, "dddnrd"}, {32, 24, 8}, {1, 0}},  {{3, {36, 28, 30}, GMG_CELL, "ppppnd"}, {16, 12, 6}, {1, 0}},
           {{3, {37, 28, 30}, GMG_CELL, "ddddnd"}, {16, 12, 6}, {0, 0}},  {{3, {36, 28, 30}, GMG_CELL, "dddddd"}, {6, 7, 5}, {1, 0}},
           {{2, {256, 64, 1}, GMG_CELL, "pppp"}, {60, 32, 1}, {1, 0}},    {{2, {250, 70, 1}, GMG_CELL, "dnrd"}, {84, 20, 1}, {1, 0}},
           {{2, {255, 64, 1}, GMG_CELL, "dddd"}, {60, 32, 1}, {0, 0}}};
  (void)state;
  for (int g = 0; g < (int)(sizeof s / sizeof *s); g++)
    for (int in_double = 0; in_double < 2; in_double++) {
      gmg_problem p = unit_cells(&s[g].shape);
      if (!taken(unknowns(&p))) continue;
      const size_t *b = s[g].block;
      gmg_params q = relaxing(GMG_LOCAL_RED_BLACK, 2, p.dim == 2 ? 2 : 1, ROUND_ROBIN(orders, g), b[0], b[1], b[2]);
      char name[100];
      snprintf(name, sizeof name, "async, %zu x %zu x %zu, %s, %s", p.n[0], p.n[1], p.n[2], s[g].shape.bc,
               in_double ? "double" : "float");
      p.type = in_double ? GMG_F64 : GMG_F32, q.precision = GMG_PRECISION_SAME;
      both fresh = begin_both(&p, &q, name);
      q.deterministic = 1;
      both stale = begin_both(&p, &q, name);
      assert_true(stale.solver[DEVICE]->mg.legs[0] != &gmg_double_buffered_legs);
      gmg_solver *const solvers[2] = {stale.solver[HOST], fresh.solver[DEVICE]};
      double_buffered_legs_agree(name, solvers, s[g].can[in_double]);
      end_both(&fresh), end_both(&stale);
    }
}

/* is_exact: the sweep is the same in every run. high: extent of blocks along the last axis. */
typedef struct {
  const char *name;
  int is_exact, high;
} smoother_case;

/* Solves of the same problem with double-buffered legs and with plain ones. The numbers of cycles agree, for async within one. In
   mixed precision the residual is measured after three cycles, and the legs between them write to another field of floats. */
static void with_and_without(const smoother_case *smoother, gmg_cycle_kind cycle, int fmg, gmg_accel accel, int mixed)
{
  const shape box = {3, {128, 96, 128}, GMG_CELL, "ddnrpp"};
  const gmg_problem p = unit_cells(&box);
  const size_t n = unknowns(&p);
  const int exact = smoother->is_exact;
  gmg_params q = params_for_cycles();
  gmg_report report[2];
  char name[100];
  if (!taken(n)) return;
  q.smoother = gmg_smoother_by_name(smoother->name), q.cycle = cycle, q.fmg = fmg;
  if (!exact) q.async.block[0] = 30, q.async.block[1] = 14, q.async.block[2] = (size_t)smoother->high;
  q.precision = mixed ? GMG_PRECISION_MIXED : GMG_PRECISION_SAME, q.accel = accel, q.rtol = 1e-11;
  if (mixed) q.check_every = 3;
  snprintf(name, sizeof name, "%s, cycle %d, fmg %d, accel %d, mixed %d", smoother->name, cycle, fmg, accel, mixed);
  both b = begin_both(&p, &q, name);
  gmg_solver *s = b.solver[DEVICE];
  const gmg_exec *e = &s->exec;
  twin f = begin_twin(e, e, n, 95), u = begin_twin(e, e, n, 0);
  assert_true(s->mg.legs[0] == &gmg_double_buffered_legs);
  for (int run = 0; run < 2; run++) {
    for (int l = 0; run && l < s->levels; l++) s->mg.legs[l] = &gmg_plain_legs;
    gmg_forget_recordings(s);
    assert_ok(b.context[DEVICE], gmg_solve(s, f.at[0], u.at[run], &report[run]));
  }
  if (abs(report[0].cycles - report[1].cycles) > (mixed ? q.check_every : !exact)) fail_msg("%s: %d and %d cycles", name, report[0].cycles, report[1].cycles);
  same_twin(name, "u", &u, mixed ? 1e8 : exact ? 1e5 : 1e7);
  end_twin(&f), end_twin(&u);
  end_both(&b);
}

static void solves_agree(void **state)
{
  static const smoother_case smoothers[] = {{"async", 0, 32}, {"async", 0, 8}, {"red_black", 1, 0}}; /* 8: packed tiles */
  static const gmg_accel accels[] = {GMG_ACCEL_NONE, GMG_ACCEL_FLEXIBLE_CG};
  (void)state;
  for (int i = 0; i < 3; i++)
    for (int k = 0; k < 2; k++)
      for (gmg_cycle_kind cycle = GMG_CYCLE_V; cycle <= GMG_CYCLE_F; cycle++)
        for (int fmg = 0; fmg < 2; fmg++)
          for (int mixed = smoothers[i].high == 8; mixed < 2 - k; mixed++)
            with_and_without(&smoothers[i], cycle, fmg, accels[k], mixed);
}

/* --- large levels in the blocks that the device chooses --------------------------------------------------------------- */

/* Deterministic solvers on both. The host's uses the blocks that the device has chosen for its finest level. */
static both begin_in_its_blocks(const char *name, const gmg_problem *p, gmg_params q)
{
  q.deterministic = 1;
  both b = begin_both(p, &q, name);
  const gmg_solver *s = b.solver[DEVICE];
  const gmg_blocks *blocks = (s->levels_exec->type == GMG_F32 ? gmg_async_blocks_f32 : gmg_async_blocks_f64)(s->mg.state[0]);
  for (int a = 0; a < 3; a++) {
    q.async.block[a] = blocks->shape[a];
    assert_true(q.async.block[a] > 0 && q.async.block[a] <= p->n[a] && blocks->count[a] == (p->n[a] + q.async.block[a] - 1) / q.async.block[a]);
  }
  print_message("%s: blocks of %zu x %zu x %zu\n", name, q.async.block[0], q.async.block[1], q.async.block[2]);
  gmg_solver_destroy(b.solver[HOST]);
  assert_ok(b.context[HOST], gmg_solver_create(b.context[HOST], p, &q, &b.solver[HOST]));
  return b;
}

static void large_levels(void **state)
{
  static const struct {
    const char *name;
    shape shape;
    gmg_precision precision;
  } cases[] = {{"256^3, float in a mixed cycle", {3, {256, 256, 256}, GMG_CELL, "ddddnn"}, GMG_PRECISION_MIXED},
               {"256^3, double", {3, {256, 256, 256}, GMG_CELL, "ddddnn"}, GMG_PRECISION_SAME},
               {"2048^2, float in a mixed cycle", {2, {2048, 2048, 1}, GMG_CELL, "dnrd"}, GMG_PRECISION_MIXED},
               {"2048^2, double", {2, {2048, 2048, 1}, GMG_CELL, "dnrd"}, GMG_PRECISION_SAME}};
  (void)state;
  for (int g = 0; g < COUNT(cases); g++) {
    const gmg_problem p = unit_cells(&cases[g].shape);
    const char *name = cases[g].name;
    const int mixed = cases[g].precision == GMG_PRECISION_MIXED;
    gmg_params q = params_for_cycles();
    if (!taken(unknowns(&p))) continue;
    q.precision = cases[g].precision, q.fmg = mixed;
    both b = begin_in_its_blocks(name, &p, q);
    same_sweeps(name, "down", &b, 0, 1, GMG_LEG_DOWN, 0, 512);
    same_sweeps(name, "from zero", &b, 0, 1, GMG_LEG_DOWN, 1, 512);
    for (int i = 0; mixed && i < UPDATES; i++)
      if ((updates[i].keep || updates[i].prolongs == 2) && updates[i].steps == 1)
        update_agrees(name, &b, &updates[i], (update_ability){1, 1, p.dim == 2}); /* a base in 3D only on larger levels */
    end_both(&b);
    if (p.dim == 2) {
      if (mixed) rows_restrict_of(p, GMG_ORDER_NATURAL, 0, 0);
      continue;
    }
    b = begin_both(&p, &q, name);
    for (int i = 0; i < DOWNS && downs[i].steps == 1; i++) down_agrees(name, &b, &downs[i], mixed || is_first_step(&downs[i]));
    end_both(&b);
  }
}

int main(int argc, char **argv)
{
  only(argc, argv);
  if (without_device()) return SKIPPED;
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(large_levels),          cmocka_unit_test(sweeps_update),             cmocka_unit_test(packed_tiles_update),
      cmocka_unit_test(corrections_in_the_pass),
      cmocka_unit_test(residuals_in_the_pass), cmocka_unit_test(residuals_in_packed_tiles), cmocka_unit_test(rows_restrict),
      cmocka_unit_test(double_buffered_legs),  cmocka_unit_test(solves_agree)};
  return run_selected(tests);
}
