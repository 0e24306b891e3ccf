/* hypre's conjugate gradients preconditioned by PFMG (Ashby, Falgout 1996) on the problem that bench_cpu solves:
 * -div(beta grad u) = f, cell-centred, walls half a cell away, harmonic means on faces. */
#ifndef GMG_BENCH_PEER_H
#define GMG_BENCH_PEER_H

#include "record.h"

#include <HYPRE_struct_ls.h>

/* How the matrix is stored, and PFMG's options. */
typedef struct variant {
  int storage, relax, rap, skip;
} variant;

enum { FULL, SYMMETRIC, CONSTANT_COUPLINGS };

typedef struct peer {
  size_t n, cells; /* the whole box, and this rank's cells */
  int ranks, rank, lower[3], upper[3];
  double contrast; /* 0: beta = 1 */
  double *f, *u;   /* of this rank */
  HYPRE_StructGrid grid;
  HYPRE_StructStencil stencil;
  HYPRE_StructMatrix A;
  HYPRE_StructVector b, x;
  HYPRE_StructSolver pcg, pfmg;
} peer;

typedef struct outcome {
  bench_samples setup, solve;
  int iterations;
  double residual, u_norm, f_norm;
} outcome;

/* Matrix, setup and solves of one variant; the first of runs + 1 solves is not counted. Times are those of the slowest rank.
 * Returns 0, or 1 if hypre reported an error or the true residual is above the tolerance. */
int bench_peer_run(peer *p, const variant *v, int runs, outcome *o);

#endif
