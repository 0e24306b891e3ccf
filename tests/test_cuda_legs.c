/* Whole legs of a cycle in one operation of the asynchronous smoother and of red-black on CUDA, against their parts: prolongation, sweeps
   and the correction of u; sweeps and the restricted residual. */
#include "twins.h"

#include "smoothers/relax/partition.h"

/* --- the way up ------------------------------------------------------------------------------------------------------ */

/* The way up of a mixed cycle: the coarse correction, a sweep, and all of it onto a field in double; one operation on the device,
   if it can, and three on the host. Ways: with and without the coarse correction; on top of the field or instead; as many steps;
   from way 8 on a field that does not begin with a pair. */
static void onto_agrees(const char *name, const both *b, int way, int can, int can_lift)
{
  gmg_solver *const *s = b->solver;
  const gmg_exec *narrow[2] = {s[0]->levels_exec, s[1]->levels_exec}, *wide[2] = {&s[0]->exec, &s[1]->exec};
  gmg_level *L[2] = {&s[0]->level[0], &s[1]->level[0]};
  const size_t n = L[0]->A.cells;
  const int lifts = way & 1, keep = way >> 1 & 1, steps = 1 + (way >> 2 & 1);
  const size_t skip = (size_t)way >> 3;
  const gmg_leg leg = keep ? GMG_LEG_UP : GMG_LEG_UP_REVERSED;
  twin f = begin_twin(narrow[0], narrow[1], n, 81), c = begin_twin(narrow[0], narrow[1], n, 82);
  twin coarse = begin_twin(narrow[0], narrow[1], s[0]->level[1].A.cells, 83), x = begin_twin(wide[0], wide[1], n + skip, 84);
  twin size = begin_twin(wide[0], wide[1], 1, 85);
  double *const at[2] = {(double *)x.at[0] + skip, (double *)x.at[1] + skip};
  if (!keep) ON_BOTH(i) wide[i]->vector->fill(wide[i], n, NAN, at[i]);
  if (lifts) s[0]->levels_stencil->tensor(narrow[0], L[0]->prolong, coarse.at[0], c.at[0], 1);
  s[0]->smoother->sweep(&L[0]->view, L[0]->smoother, f.at[0], c.at[0], steps, leg);
  wide[0]->vector->axpby_from_low(wide[0], n, size.at[0], c.at[0], keep, at[0]);
  const gmg_update_target to = {at[1], 0.25, size.at[1], keep, lifts ? coarse.at[1] : NULL, lifts ? L[1]->prolong : NULL};
  const int done = s[1]->fused->postsmooth_update(&L[1]->view, L[1]->smoother, f.at[1], c.at[1], steps, leg, &to);
  if (done != (lifts ? can_lift && steps == 1 : can)) fail_msg("%s, way %d: done %d", name, way, done);
  if (done) {
    double *values = malloc(n * sizeof *values); /* 0.25 of the correction on the device, all on the host */
    assert_non_null(values);
    gmg_exec_read_reals(wide[0], at[0], n, values);
    double *start = field(n + skip, 84);
    for (size_t i = 0; i < n; i++) values[i] = keep ? start[skip + i] + 0.25 * (values[i] - start[skip + i]) : 0.25 * values[i];
    (void)gmg_exec_write_reals(wide[0], at[0], n, values);
    same_twin(name, "onto", &x, 1024 * epsilon_of(narrow[0]) / epsilon_of(wide[0]));
    free(values), free(start);
  }
  end_twin(&f), end_twin(&c), end_twin(&coarse), end_twin(&x), end_twin(&size);
}

/* kind: 1 with coefficients on faces, 3 with sigma, too. */
static void ways_onto_agree(const shape *box, const size_t block[3], int order, int kind, int ways, int can, int can_lift)
{
  gmg_problem p = shaped_problem(box);
  if (!taken(unknowns(&p))) return;
  const double length[3] = {(double)p.n[0], (double)p.n[1], (double)p.n[2]}; /* so that all axes are coarsened */
  gmg_problem_set_box(&p, length);
  double *beta = field(unknowns(&p), 86), *sigma = field(unknowns(&p), 87);
  for (size_t i = 0; i < unknowns(&p); i++) beta[i] = exp(6 * beta[i]), sigma[i] += 0.5;
  if (kind & 1) p.beta = beta;
  if (kind & 2) p.sigma = sigma;
  gmg_params q = relaxing(GMG_LOCAL_RED_BLACK, 2, 1, (gmg_block_order)order, block[0], block[1], block[2]);
  char name[100];
  snprintf(name, sizeof name, "%zu x %zu x %zu, %s, kind %d", p.n[0], p.n[1], p.n[2], box->bc, kind);
  q.deterministic = 1, q.precision = GMG_PRECISION_MIXED;
  both b = begin_both(&p, &q, name);
  for (int way = 0; way < ways; way++) onto_agrees(name, &b, way, can, can_lift);
  end_both(&b);
  free(beta), free(sigma);
}

static void sweeps_onto_agree(void **state)
{
  static const struct {
    shape shape;
    size_t block[3];
    int can_lift; /* pairs that blocks begin with; 2: and not else, blocks are of warps */
  } s[] = {{{3, {64, 44, 40}, GMG_CELL, "ddddnn"}, {30, 14, 20}, 1},  {{3, {60, 28, 36}, GMG_CELL, "pppppp"}, {30, 14, 18}, 1},
           {{3, {46, 32, 64}, GMG_CELL, "ndrdpp"}, {23, 12, 32}, 1},  {{3, {30, 14, 32}, GMG_CELL, "dddddd"}, {30, 14, 32}, 1},
           {{3, {58, 24, 96}, GMG_VERTEX, "pppppp"}, {29, 10, 96}, 0}, {{3, {40, 40, 100}, GMG_CELL, "ddppdn"}, {30, 12, 34}, 1},
           {{3, {33, 28, 36}, GMG_CELL, "dddddd"}, {30, 14, 18}, 0},  {{3, {64, 44, 40}, GMG_CELL, "dddddd"}, {30, 14, 15}, 0},
           {{2, {300, 200, 1}, GMG_CELL, "ddnn"}, {124, 50, 1}, 1},   {{2, {256, 64, 1}, GMG_CELL, "pppp"}, {128, 32, 1}, 1},
           {{2, {700, 90, 1}, GMG_CELL, "nrdd"}, {500, 30, 1}, 1},    {{2, {301, 200, 1}, GMG_CELL, "dddd"}, {124, 50, 1}, 0},
           {{2, {240, 66, 1}, GMG_CELL, "dnrd"}, {120, 20, 1}, 2},    {{2, {488, 50, 1}, GMG_CELL, "ppdn"}, {40, 50, 1}, 2},
           {{2, {120, 40, 1}, GMG_CELL, "pppp"}, {120, 40, 1}, 2},    {{2, {200, 36, 1}, GMG_CELL, "ddpp"}, {60, 7, 1}, 2},
           {{2, {64, 130, 1}, GMG_CELL, "nrpp"}, {20, 33, 1}, 2},     {{2, {36, 16, 1}, GMG_CELL, "dddd"}, {20, 5, 1}, 2}};
  (void)state;
  for (int g = 0; g < (int)(sizeof s / sizeof *s); g++)
    for (int kind = 0; kind < (s[g].shape.dim == 3 ? 4 : 1); kind += 1 + (kind > 0)) /* constant; on faces; with sigma, too */
      ways_onto_agree(&s[g].shape, s[g].block, g % 3, kind, 8, s[g].can_lift < 2, s[g].can_lift && !kind);
}

/* From tiles of patches of each size, with the coarse correction where unknowns and blocks go by pairs. */
static void patches_onto_agree(void **state)
{
  static const struct {
    shape shape;
    size_t block[3];
    int can_lift;
  } s[] = {{{3, {70, 35, 21}, GMG_CELL, "dndrdd"}, {32, 16, 8}, 0}, {{3, {64, 48, 24}, GMG_CELL, "pppppp"}, {32, 24, 8}, 1},
           {{3, {70, 36, 22}, GMG_CELL, "dndrdd"}, {32, 16, 8}, 1}, {{3, {36, 20, 18}, GMG_CELL, "ppdrpp"}, {16, 16, 8}, 1},
           {{3, {40, 23, 17}, GMG_CELL, "dddddd"}, {14, 9, 8}, 0},  {{3, {24, 22, 18}, GMG_CELL, "rndddn"}, {8, 8, 8}, 1},
           {{3, {16, 18, 14}, GMG_CELL, "ddppdd"}, {6, 7, 5}, 0},   {{3, {8, 8, 16}, GMG_CELL, "ppppdd"}, {8, 8, 8}, 1}};
  (void)state;
  for (int g = 0; g < (int)(sizeof s / sizeof *s); g++) ways_onto_agree(&s[g].shape, s[g].block, g % 3, 0, 12, 1, s[g].can_lift);
}

/* --- the way down ---------------------------------------------------------------------------------------------------- */

/* Smoothing and the restricted residual in one go, on the device alone: the residual is that of the u which is left. */
static void restricts(const char *name, const both *b, int way, int can)
{
  const gmg_solver *s = b->solver[1];
  const gmg_exec *e = s->levels_exec;
  const gmg_level *L = &s->level[0];
  const size_t n = L->A.cells, coarse = s->level[1].A.cells;
  twin f = begin_twin(b->solver[0]->levels_exec, e, n, 91), u = begin_twin(b->solver[0]->levels_exec, e, n, 92);
  twin got = begin_twin(e, e, coarse, 93);
  if (way & 1) e->vector->fill(e, n, NAN, u.at[1]); /* from zero */
  const int done = s->fused->presmooth_restrict(&L->view, L->smoother, f.at[1], u.at[1], u.at[1], 1 + way / 2,
                                                way & 1 ? GMG_FROM_ZERO : GMG_FROM_CURRENT, L->restrict_, got.at[0]);
  if (done != can) fail_msg("%s, way %d: done %d", name, way, done);
  if (done) {
    s->levels_stencil->restrict_residual(e, &L->A, L->restrict_, f.at[1], u.at[1], L->r, got.at[1]);
    same_twin(name, "restricted residual", &got, 2048);
  }
  end_twin(&f), end_twin(&u), end_twin(&got);
}

static void residuals_in_the_pass_agree(void **state)
{
  static const struct {
    shape shape;
    size_t block[3];
    int can; /* blocks of whole coarse cells; 2: from zero in float, blocks are of warps */
  } s[] = {{{3, {64, 44, 40}, GMG_CELL, "ddddnn"}, {30, 14, 20}, 1},  {{3, {60, 28, 36}, GMG_CELL, "pppppp"}, {30, 14, 18}, 1},
           {{3, {46, 32, 64}, GMG_CELL, "ndrdpp"}, {26, 12, 32}, 1},  {{3, {30, 20, 32}, GMG_CELL, "dddddd"}, {30, 14, 32}, 1},
           {{3, {30, 20, 32}, GMG_CELL, "pppppp"}, {30, 14, 32}, 1},  {{3, {40, 40, 100}, GMG_CELL, "ddppdn"}, {2, 4, 34}, 1},
           {{3, {32, 38, 36}, GMG_CELL, "rnndpp"}, {30, 12, 10}, 1},   {{3, {34, 30, 36}, GMG_CELL, "dddddd"}, {17, 14, 18}, 0},
           {{3, {64, 44, 40}, GMG_CELL, "dddddd"}, {30, 14, 15}, 0},  {{3, {65, 44, 40}, GMG_CELL, "dddddd"}, {30, 14, 20}, 0},
           {{3, {256, 160, 124}, GMG_CELL, "ddddpp"}, {0, 0, 0}, 1}, {{2, {256, 64, 1}, GMG_CELL, "pppp"}, {60, 32, 1}, 2}};
  (void)state;
  for (int g = 0; g < (int)(sizeof s / sizeof *s); g++)
    for (int type = 0; type < 2; type++) {
      gmg_problem p = shaped_problem(&s[g].shape);
      if (!taken(unknowns(&p))) continue;
      const double length[3] = {(double)p.n[0], (double)p.n[1], (double)p.n[2]};
      gmg_problem_set_box(&p, length);
      p.type = (gmg_type)type, p.shift = 0.3;
      gmg_params q = relaxing(GMG_LOCAL_RED_BLACK, 2, 1, (gmg_block_order)(g % 3), s[g].block[0], s[g].block[1], s[g].block[2]);
      char name[100];
      snprintf(name, sizeof name, "%zu x %zu x %zu, %s, type %d", p.n[0], p.n[1], p.n[2], s[g].shape.bc, type);
      q.precision = GMG_PRECISION_SAME;
      if (type == GMG_F64 && s[g].block[1] > 10) q.block[1] = 16; /* more fits */
      both b = begin_both(&p, &q, name);
      for (int way = 0; way < 6; way++) restricts(name, &b, way, s[g].can == 2 ? type == GMG_F32 && way == 1 : s[g].can);
      end_both(&b);
    }
}

/* The same from tiles of patches of each size, from zero in float alone. */
static void residuals_in_patches_agree(void **state)
{
  static const struct {
    shape shape;
    size_t block[3];
    int can;
  } s[] = {{{3, {70, 36, 22}, GMG_CELL, "dndrdd"}, {32, 16, 8}, 1}, {{3, {64, 48, 24}, GMG_CELL, "pppppp"}, {32, 24, 8}, 1},
           {{3, {36, 20, 18}, GMG_CELL, "ppdrpp"}, {16, 16, 8}, 1}, {{3, {24, 22, 18}, GMG_CELL, "rndddn"}, {8, 8, 8}, 1},
           {{3, {32, 24, 24}, GMG_CELL, "ppppdd"}, {8, 8, 6}, 1},   {{3, {40, 24, 24}, GMG_CELL, "dddddd"}, {14, 9, 8}, 0},
           {{3, {40, 23, 24}, GMG_CELL, "dddddd"}, {14, 10, 8}, 0}, {{3, {64, 64, 64}, GMG_CELL, "dddddd"}, {0, 0, 0}, 1}};
  (void)state;
  for (int g = 0; g < (int)(sizeof s / sizeof *s); g++) {
    gmg_problem p = shaped_problem(&s[g].shape);
    if (!taken(unknowns(&p))) continue;
    const double length[3] = {(double)p.n[0], (double)p.n[1], (double)p.n[2]};
    gmg_problem_set_box(&p, length);
    p.type = GMG_F32, p.shift = 0.3;
    gmg_params q = relaxing(GMG_LOCAL_RED_BLACK, 2, 1, (gmg_block_order)(g % 3), s[g].block[0], s[g].block[1], s[g].block[2]);
    char name[100];
    snprintf(name, sizeof name, "patches, %zu x %zu x %zu, %s", p.n[0], p.n[1], p.n[2], s[g].shape.bc);
    both b = begin_both(&p, &q, name);
    for (int way = 0; way < 6; way++) restricts(name, &b, way, s[g].can && way == 1);
    end_both(&b);
  }
}

/* The way down of 2D from zero: whatever the blocks, what sweeps over the level as a whole leave, and its residual. */
static void way_down_agrees(gmg_problem p, gmg_block_order order, size_t x, size_t y)
{
  const double length[3] = {(double)p.n[0], (double)p.n[1], 1};
  gmg_problem_set_box(&p, length);
  gmg_params q = relaxing(GMG_LOCAL_RED_BLACK, 2, 1, order, x, y, x > 0), whole = q;
  p.type = GMG_F32, p.shift = 0.3;
  q.omega = whole.omega = 1.2, whole.smoother = gmg_smoother_by_name("red_black");
  both b = begin_both(&p, &q, "way down"), w = begin_both(&p, &whole, "way down");
  gmg_level *L[2] = {&b.solver[HOST]->level[0], &b.solver[DEVICE]->level[0]}, *W = &w.solver[HOST]->level[0];
  const gmg_exec *e[2] = {b.solver[HOST]->levels_exec, b.solver[DEVICE]->levels_exec};
  const size_t n = L[0]->A.cells;
  twin f = begin_twin(e[0], e[1], n, 81), u = begin_twin(e[0], e[1], n, 0), r = begin_twin(e[0], e[1], n, 0);
  twin c = begin_twin(e[0], e[1], b.solver[HOST]->level[1].A.cells, 0);
  e[1]->vector->fill(e[1], n, NAN, u.at[1]);
  w.solver[HOST]->smoother->sweep(&W->view, W->smoother, f.at[0], u.at[0], 2, GMG_LEG_DOWN);
  b.solver[HOST]->levels_stencil->restrict_residual(e[0], &L[0]->A, L[0]->restrict_, f.at[0], u.at[0], r.at[0], c.at[0]);
  const gmg_fused_ops *ops = b.solver[DEVICE]->fused;
  const int done = ops->presmooth_restrict(&L[1]->view, L[1]->smoother, f.at[1], u.at[1], u.at[1], 1, GMG_FROM_ZERO, L[1]->restrict_, c.at[1]);
  assert_int_equal(done, 1);
  same_twin("way down", "u", &u, 512), same_twin("way down", "restricted residual", &c, 2048);
  end_twin(&f), end_twin(&u), end_twin(&r), end_twin(&c);
  end_both(&b), end_both(&w);
}

static void ways_down_agree(void **state)
{
  static const struct {
    shape shape;
    size_t x, y;
  } s[] = {{{2, {240, 64, 1}, GMG_CELL, "dddd"}, 60, 16},  {{2, {360, 50, 1}, GMG_CELL, "ddpp"}, 120, 26},
           {{2, {120, 40, 1}, GMG_CELL, "pppp"}, 120, 10}, {{2, {64, 48, 1}, GMG_CELL, "ppdn"}, 20, 48},
           {{2, {128, 36, 1}, GMG_CELL, "ndrd"}, 120, 12}, {{2, {100, 130, 1}, GMG_CELL, "nrdn"}, 100, 130},
           {{2, {16, 8, 1}, GMG_CELL, "pppp"}, 8, 2},      {{2, {236, 30, 1}, GMG_CELL, "ppnn"}, 116, 6}};
  (void)state;
  for (int g = 0; g < (int)(sizeof s / sizeof *s); g++) {
    const gmg_problem p = shaped_problem(&s[g].shape);
    if (taken(unknowns(&p))) way_down_agrees(p, (gmg_block_order)(g % 3), s[g].x, s[g].y);
  }
}

/* --- red-black: exact ------------------------------------------------------------------------------------------------ */

/* From zero what red and black one after the other leave on the host, and the residual of that, the same every run. */
static void exact_way_down(const char *name, const both *b, int can)
{
  gmg_solver *const *s = b->solver;
  const gmg_exec *e[2] = {s[0]->levels_exec, s[1]->levels_exec};
  gmg_level *L[2] = {&s[0]->level[0], &s[1]->level[0]};
  const gmg_fused_ops *ops = s[1]->fused;
  const size_t n = L[0]->A.cells, coarse = s[0]->level[1].A.cells;
  twin f = begin_twin(e[0], e[1], n, 91), u = begin_twin(e[0], e[1], n, 0), c = begin_twin(e[0], e[1], coarse, 0);
  twin again = begin_twin(e[1], e[1], coarse, 0);
  e[1]->vector->fill(e[1], n, NAN, u.at[1]);
  ON_BOTH(i) e[1]->vector->fill(e[1], coarse, NAN, again.at[i]);
  s[0]->smoother->sweep(&L[0]->view, L[0]->smoother, f.at[0], u.at[0], 1, GMG_LEG_DOWN);
  s[0]->levels_stencil->restrict_residual(e[0], &L[0]->A, L[0]->restrict_, f.at[0], u.at[0], L[0]->r, c.at[0]);
  for (int steps = 1; steps <= 2; steps++) { /* neither from a u that is not 0 nor two steps */
    const gmg_start start = steps == 1 ? GMG_FROM_CURRENT : GMG_FROM_ZERO;
    const int done = ops->presmooth_restrict(&L[1]->view, L[1]->smoother, f.at[1], u.at[1], u.at[1], steps, start, L[1]->restrict_, c.at[1]);
    assert_int_equal(done, 0);
  }
  for (int run = 0; run < 2; run++) {
    const int done = ops->presmooth_restrict(&L[1]->view, L[1]->smoother, f.at[1], u.at[1], u.at[1], 1, GMG_FROM_ZERO, L[1]->restrict_,
                                             again.at[run]);
    if (done != can) fail_msg("%s: down %d", name, done);
    if (!done) continue;
    same_twin(name, "u", &u, 64);
    same(name, "restricted residual", e[0], e[1], c.at[0], again.at[run], coarse, 64);
  }
  if (can) same_twin(name, "restricted residual, again", &again, 0);
  end_twin(&f), end_twin(&u), end_twin(&c), end_twin(&again);
}

static void red_black_legs_agree(void **state)
{
  static const struct {
    shape shape;
    int down, can_lift; /* down: 2 in float alone, by rows */
  } s[] = {{{3, {80, 82, 84}, GMG_CELL, "dddddd"}, 1, 1},  {{3, {64, 96, 84}, GMG_CELL, "dnrddn"}, 1, 1},
           {{3, {80, 82, 84}, GMG_CELL, "pppppp"}, 1, 1},  {{3, {28, 26, 700}, GMG_CELL, "ppddpp"}, 1, 1},
           {{3, {36, 120, 122}, GMG_CELL, "nrddpp"}, 1, 1}, {{3, {97, 57, 101}, GMG_CELL, "dnnddr"}, 0, 0},
           {{2, {702, 800, 1}, GMG_CELL, "pppp"}, 0, 1},   {{3, {80, 82, 84}, GMG_VERTEX, "pppppp"}, 0, 0},
           {{2, {1000, 602, 1}, GMG_CELL, "dddn"}, 2, 1},  {{3, {92, 90, 71}, GMG_CELL, "ddddnd"}, 0, 0},
           {{2, {1024, 512, 1}, GMG_CELL, "pppp"}, 2, 1},  {{2, {2000, 256, 1}, GMG_CELL, "ppnr"}, 2, 1},
           {{2, {48, 12000, 1}, GMG_CELL, "rndd"}, 2, 1},  {{2, {1001, 600, 1}, GMG_CELL, "dddd"}, 0, 0}};
  (void)state;
  for (int g = 0; g < (int)(sizeof s / sizeof *s); g++)
    for (int type = 0; type < 3; type++) { /* up: mixed, 2 */
      gmg_problem p = shaped_problem(&s[g].shape);
      if (!taken(unknowns(&p))) continue;
      const double length[3] = {(double)p.n[0], (double)p.n[1], (double)p.n[2]};
      gmg_problem_set_box(&p, length);
      gmg_params q = gmg_params_default();
      char name[100];
      snprintf(name, sizeof name, "red_black, %zu x %zu x %zu, %s, type %d", p.n[0], p.n[1], p.n[2], s[g].shape.bc, type);
      p.type = type == 0 ? GMG_F32 : GMG_F64, p.shift = 0.3;
      q.smoother = gmg_smoother_by_name("red_black"), q.precision = type == 2 ? GMG_PRECISION_MIXED : GMG_PRECISION_SAME;
      both b = begin_both(&p, &q, name);
      if (type < 2) exact_way_down(name, &b, s[g].down == 1 || (s[g].down == 2 && p.type == GMG_F32));
      for (int way = 0; type == 2 && way < 12; way++) onto_agrees(name, &b, way, 1, s[g].can_lift);
      end_both(&b);
    }
}

/* --- large levels in the blocks that the device chooses --------------------------------------------------------------- */

/* Both deterministic; the host takes the finest level in the blocks that the device has. */
static both begin_in_its_blocks(const char *name, const gmg_problem *p, gmg_params q)
{
  typedef struct {
    const void *variant;
    gmg_blocks blocks;
  } chosen; /* what a level's state begins with (async/cuda/variant.h) */
  q.deterministic = 1;
  both b = begin_both(p, &q, name);
  const chosen *c = b.solver[DEVICE]->level[0].smoother;
  for (int a = 0; a < 3; a++) {
    q.block[a] = c->blocks.shape[a];
    assert_true(q.block[a] > 0 && q.block[a] <= p->n[a] && c->blocks.count[a] == (p->n[a] + q.block[a] - 1) / q.block[a]);
  }
  print_message("%s: blocks of %zu x %zu x %zu\n", name, q.block[0], q.block[1], q.block[2]);
  gmg_solver_destroy(b.solver[HOST]);
  assert_ok(b.context[HOST], create_there(b.context[HOST], p, &q, &b.solver[HOST]));
  return b;
}

static void large_levels_agree(void **state)
{
  static const shape s[] = {{3, {256, 256, 256}, GMG_CELL, "ddddnn"}, {2, {2048, 2048, 1}, GMG_CELL, "dnrd"}};
  static const char *const names[] = {"256^3, float in a mixed cycle", "256^3, double", "2048^2, float in a mixed cycle", "2048^2, double"};
  (void)state;
  for (int g = 0; g < 4; g++) {
    gmg_problem p = shaped_problem(&s[g / 2]);
    const double length[3] = {(double)p.n[0], (double)p.n[1], (double)p.n[2]};
    gmg_params q = gmg_params_default();
    gmg_problem_set_box(&p, length);
    p.shift = 0.3, q.precision = g % 2 ? GMG_PRECISION_SAME : GMG_PRECISION_MIXED;
    both b = begin_in_its_blocks(names[g], &p, q);
    same_sweeps(names[g], "down", &b, 0, 1, GMG_LEG_DOWN, 0, 512);
    same_sweeps(names[g], "from zero", &b, 0, 1, GMG_LEG_DOWN, 1, 512);
    for (int way = 2; g % 2 == 0 && way < 4; way++) onto_agrees(names[g], &b, way, p.dim == 3, 1);
    end_both(&b);
    if (p.dim == 2) {
      if (g % 2 == 0) way_down_agrees(p, GMG_ORDER_NATURAL, 0, 0);
      continue;
    }
    b = begin_both(&p, &q, names[g]);
    for (int way = 0; way < 2; way++) restricts(names[g], &b, way, 1);
    end_both(&b);
  }
}

int main(int argc, char **argv)
{
  only(argc, argv);
  if (without_device()) return SKIPPED;
  const struct CMUnitTest tests[] = {cmocka_unit_test(sweeps_onto_agree), cmocka_unit_test(patches_onto_agree),
                                     cmocka_unit_test(residuals_in_patches_agree), cmocka_unit_test(residuals_in_the_pass_agree),
                                     cmocka_unit_test(ways_down_agree), cmocka_unit_test(red_black_legs_agree),
                                     cmocka_unit_test(large_levels_agree)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
