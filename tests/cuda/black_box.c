/* Black box coarsening on CUDA against the host: weights, coarse operators and transfers on every level. */
#include "twins.h"
#include "varying.h"

static const shape shapes[] = {{1, {90, 1, 1}, GMG_CELL, "dn"},       {2, {70, 33, 1}, GMG_CELL, "dddd"},    {2, {65, 48, 1}, GMG_VERTEX, "nnpp"},
                               {2, {3, 200, 1}, GMG_CELL, "pppp"},    {3, {20, 17, 12}, GMG_CELL, "dddddd"}, {3, {13, 9, 24}, GMG_VERTEX, "nnndpp"},
                               {3, {12, 15, 20}, GMG_CELL, "pppppp"}, {3, {2, 3, 50}, GMG_CELL, "ddnnpp"}};

/* Arrays of levels l and l + 1, and the transfers between them. Weights differ where a sum is close to 0: hence the limits. */
static void same_level(const char *name, const both *b, int l)
{
  const gmg_exec *e[2];
  const gmg_level *L[2];
  ON_BOTH(i) e[i] = b->solver[i]->levels_exec, L[i] = &b->solver[i]->level[l];
  const size_t n = L[0]->A.cells, m = L[0][1].A.cells;
  for (int w = 0; w < 27; w++) {
    if (L[0]->black_box.weight[w]) same(name, "weights", e[0], e[1], L[0]->black_box.weight[w], L[1]->black_box.weight[w], m, 1000);
    if (L[0][1].A.box->array[w]) same(name, "entries", e[0], e[1], L[0][1].A.box->array[w], L[1][1].A.box->array[w], m, 4000);
  }
  twin r = begin_twin(e[0], e[1], n, 21), f = begin_twin(e[0], e[1], m, 0), c = begin_twin(e[0], e[1], m, 22), u = begin_twin(e[0], e[1], n, 23);
  ON_BOTH(i) {
    const gmg_black_box_ops *ops = gmg_black_box_ops_of(e[i]);
    ops->restrict_(e[i], &L[i]->A, &L[i][1].A, &L[i]->black_box, r.at[i], f.at[i]);
    ops->prolong(e[i], &L[i]->A, &L[i][1].A, &L[i]->black_box, c.at[i], u.at[i]);
  }
  same_twin(name, "restriction", &f, 1000), same_twin(name, "prolongation", &u, 1000);
  end_twin(&r), end_twin(&f), end_twin(&c), end_twin(&u);
}

static void same_levels(const char *name, const gmg_problem *p)
{
  gmg_params q = params_for_cycles();
  q.coarsening = GMG_COARSENING_BLACK_BOX, q.precision = GMG_PRECISION_SAME, q.coarse_cells = 1, q.coarsen_threshold = 0.2;
  both b = begin_both(p, &q, name);
  assert_int_equal(b.solver[HOST]->levels, b.solver[DEVICE]->levels);
  for (int l = 0; l + 1 < b.solver[HOST]->levels && l < 3; l++) same_level(name, &b, l);
  end_both(&b);
}

/* kind: 0 constant, 1 beta, 2 beta and sigma, 3 on faces. */
static void coefficients_agree(void **state)
{
  (void)state;
  for (int i = 0; i < COUNT(shapes); i++)
    for (int type = 0; type < 2; type++)
      for (int kind = 0; kind < 4; kind++) {
        gmg_problem p = shaped_problem(&shapes[i]);
        const size_t n = unknowns(&p), faces = (p.n[0] + 1) * (p.n[1] + 1) * (p.n[2] + 1);
        char name[60];
        p.type = (gmg_type)type;
        if (!taken(n)) continue;
        for (int a = 0; a < p.dim; a++) p.h[a] = 0.1 + 0.02 * a;
        void *beta = rough(&p, faces, 100, 31), *sigma = rough(&p, n, 10, 32);
        if (kind == 1 || kind == 2) p.beta = beta;
        if (kind == 2) p.sigma = sigma;
        for (int a = 0; a < p.dim && kind == 3; a++) p.beta_face[a] = beta;
        snprintf(name, sizeof name, "shape %d, type %d, kind %d", i, type, kind);
        same_levels(name, &p);
        free(beta), free(sigma);
      }
}

static void stencils_agree(void **state)
{
  (void)state;
  for (int i = 1; i < COUNT(shapes); i++) {
    gmg_problem p = shaped_problem(&shapes[i]);
    char name[60];
    if (!taken(unknowns(&p))) continue;
    for (int a = 0; a < p.dim; a++) p.h[a] = 0.1;
    varying box = p.centering == GMG_CELL ? varying_cells(&p, beta_uneven, 0.1, 0.1) : varying_q1(&p, beta_uneven, 0.1);
    p.stencil = &box.stencil;
    snprintf(name, sizeof name, "stencil %d", i);
    same_levels(name, &p);
    free_varying(&box);
  }
}

int main(int argc, char **argv)
{
  if (without_device()) return SKIPPED;
  only(argc, argv);
  const struct CMUnitTest tests[] = {cmocka_unit_test(coefficients_agree), cmocka_unit_test(stencils_agree)};
  return run_selected(tests);
}
