/* Transfers between levels on CUDA, against the host: prolongation, restriction of the residual, and full multigrid's step to a
   finer level. Shared by the tests of operations and of transfers. */
#ifndef GMG_TEST_TRANSFERS_H
#define GMG_TEST_TRANSFERS_H

#include "twins.h"

static inline void transfers(const char *name, const both *b, int l)
{
  gmg_solver *const *s = b->solver;
  gmg_level *L[2] = {&s[0]->level[l], &s[1]->level[l]};
  const gmg_exec *e[2] = {s[0]->levels_exec, s[1]->levels_exec};
  const size_t n = L[0]->A.cells, m = s[0]->level[l + 1].A.cells;
  twin u = begin_twin(e[0], e[1], n, 21), f = begin_twin(e[0], e[1], n, 22), r = begin_twin(e[0], e[1], n, 0);
  twin coarse = begin_twin(e[0], e[1], m, 23), fine = begin_twin(e[0], e[1], n, 24);
  ON_BOTH(i) {
    const gmg_grid_ops *S = gmg_grid_ops_of(e[i]);
    if (L[i]->operator_dependent) S->prolong_faces(e[i], &L[i]->A, L[i]->prolong, coarse.at[i], fine.at[i]);
    else S->transfer(e[i], L[i]->prolong, coarse.at[i], fine.at[i], 1);
    gmg_operator_of(e[i], &L[i]->A)->restrict_residual(e[i], &L[i]->A, L[i]->restrict_, f.at[i], u.at[i], r.at[i], coarse.at[i]);
  }
  if (!L[0]->operator_dependent && e[0]->type == GMG_F64) {
    const gmg_exec low_z[2] = {gmg_exec_make(s[0]->context, GMG_F32, 0), gmg_exec_make(s[1]->context, GMG_F32, 0)};
    twin small = begin_twin(&low_z[0], &low_z[1], n, 0), divisor = begin_twin(e[0], e[1], 1, 25);
    for (int store = 1; store >= 0; store--) {
      int stored[2];
      ON_BOTH(i) e[i]->vector->fill(e[i], n, 0, u.at[i]);
      ON_BOTH(i) stored[i] = gmg_operator_of(e[i], &L[i]->A)->interpolated_residual(e[i], &L[i]->A, L[i]->prolong, coarse.at[i], f.at[i], u.at[i], store, divisor.at[i], small.at[i]);
      if (store && !(stored[HOST] && stored[DEVICE])) fail_msg("%s: the interpolated field was not stored", name);
      if (stored[HOST] && stored[DEVICE]) same_twin(name, "interpolated", &u, 1024);
      same_twin(name, store ? "its residual" : "the residual alone", &small, 1024);
      ON_BOTH(i) low_z[i].vector->fill(&low_z[i], n, 0, small.at[i]);
    }
    end_twin(&small), end_twin(&divisor);
  }
  /* the host treats weights that agree within 1e-12 as equal (map.c) */
  same_twin(name, "prolongation", &fine, 1024), same_twin(name, "restriction", &coarse, 1024);
  end_twin(&u), end_twin(&f), end_twin(&r), end_twin(&coarse), end_twin(&fine);
}

/* Transfers between all levels. Symmetric cycles have other ones. */
static inline void all_transfers(const char *name, const gmg_problem *p, int symmetric)
{
  gmg_params q = params_for_cycles();
  q.precision = GMG_PRECISION_SAME;
  if (symmetric) q.symmetric = 1, q.smoother = gmg_smoother_by_name("red_black");
  both b = begin_both(p, &q, name);
  for (int l = 0; l + 1 < b.solver[0]->levels; l++) transfers(name, &b, l);
  end_both(&b);
}

#endif
