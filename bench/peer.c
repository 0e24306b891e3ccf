/* See peer.h. Each rank holds a slab of the box. */
#include "peer.h"

#include "problems.h"

#include <math.h>
#include <mpi.h>
#include <stdlib.h>

/* Lower couplings, upper couplings, diagonal. A symmetric matrix stores the lower couplings and the diagonal. */
static int offsets[7][3] = {{-1, 0, 0}, {0, -1, 0}, {0, 0, -1}, {1, 0, 0}, {0, 1, 0}, {0, 0, 1}, {0, 0, 0}};

static int entries(const variant *v) { return v->storage == SYMMETRIC ? 4 : 7; }
static int entry(const variant *v, int e) { return e < 3 || v->storage != SYMMETRIC ? e : 6; } /* index into offsets */

static double beta_of(const peer *p, const int at[3])
{
  return p->contrast > 0 ? bench_ball(p->n, (size_t)at[0], (size_t)at[1], (size_t)at[2], p->contrast) : 1;
}

/* The coupling of cell `at` across face e. *wall: what a wall at this face adds to the diagonal. */
static double coupling(const peer *p, const int at[3], int e, double *wall)
{
  const double own = beta_of(p, at), scale = (double)p->n * (double)p->n;
  int next[3];
  *wall = 0;
  for (int a = 0; a < 3; a++) {
    next[a] = at[a] + offsets[e][a];
    if (next[a] < 0 || next[a] >= (int)p->n) {
      *wall = 2 * own * scale;
      return 0;
    }
  }
  const double other = beta_of(p, next);
  return 2 * own * other / (own + other) * scale;
}

static void fill_row(const peer *p, const variant *v, const int at[3], double *row)
{
  double c[7], diagonal = 0;
  for (int e = 0; e < 6; e++) {
    double wall;
    c[e] = coupling(p, at, e, &wall);
    diagonal += c[e] + wall;
    c[e] = -c[e];
  }
  c[6] = diagonal;
  if (v->storage == CONSTANT_COUPLINGS) row[0] = diagonal;
  else
    for (int e = 0; e < entries(v); e++) row[e] = c[entry(v, e)];
}

static int fill_matrix(peer *p, const variant *v)
{
  const int constant = v->storage == CONSTANT_COUPLINGS, count = constant ? 1 : entries(v);
  const double scale = -(double)p->n * (double)p->n;
  int couplings[6] = {0, 1, 2, 3, 4, 5}, all[7] = {0, 1, 2, 3, 4, 5, 6}, diagonal = 6;
  double constants[6] = {scale, scale, scale, scale, scale, scale};
  double *values = malloc(p->cells * (size_t)count * sizeof *values), *row = values;
  if (!values) return 1;
  for (int k = p->lower[2]; k <= p->upper[2]; k++)
    for (int j = p->lower[1]; j <= p->upper[1]; j++)
      for (int i = p->lower[0]; i <= p->upper[0]; i++, row += count) fill_row(p, v, (int[]){i, j, k}, row);
  if (constant) HYPRE_StructMatrixSetConstantEntries(p->A, 6, couplings);
  HYPRE_StructMatrixInitialize(p->A);
  if (constant) HYPRE_StructMatrixSetConstantValues(p->A, 6, couplings, constants);
  HYPRE_StructMatrixSetBoxValues(p->A, p->lower, p->upper, count, constant ? &diagonal : all, values);
  HYPRE_StructMatrixAssemble(p->A);
  free(values);
  return 0;
}

static int make_matrix(peer *p, const variant *v)
{
  HYPRE_StructGridCreate(MPI_COMM_WORLD, 3, &p->grid);
  HYPRE_StructGridSetExtents(p->grid, p->lower, p->upper);
  HYPRE_StructGridAssemble(p->grid);
  HYPRE_StructStencilCreate(3, entries(v), &p->stencil);
  for (int e = 0; e < entries(v); e++) HYPRE_StructStencilSetElement(p->stencil, e, offsets[entry(v, e)]);
  HYPRE_StructMatrixCreate(MPI_COMM_WORLD, p->grid, p->stencil, &p->A);
  HYPRE_StructMatrixSetSymmetric(p->A, v->storage == SYMMETRIC);
  HYPRE_StructVector *vectors[] = {&p->b, &p->x};
  for (int i = 0; i < 2; i++) {
    HYPRE_StructVectorCreate(MPI_COMM_WORLD, p->grid, vectors[i]);
    HYPRE_StructVectorInitialize(*vectors[i]);
    HYPRE_StructVectorSetBoxValues(*vectors[i], p->lower, p->upper, i ? p->u : p->f);
    HYPRE_StructVectorAssemble(*vectors[i]);
  }
  return fill_matrix(p, v);
}

static void make_solver(peer *p, const variant *v)
{
  HYPRE_StructPFMGCreate(MPI_COMM_WORLD, &p->pfmg);
  HYPRE_StructPFMGSetMaxIter(p->pfmg, 1);
  HYPRE_StructPFMGSetTol(p->pfmg, 0);
  HYPRE_StructPFMGSetZeroGuess(p->pfmg);
  HYPRE_StructPFMGSetRelaxType(p->pfmg, v->relax);
  HYPRE_StructPFMGSetRAPType(p->pfmg, v->rap);
  HYPRE_StructPFMGSetSkipRelax(p->pfmg, v->skip);
  HYPRE_StructPFMGSetNumPreRelax(p->pfmg, 1);
  HYPRE_StructPFMGSetNumPostRelax(p->pfmg, 1);
  HYPRE_StructPCGCreate(MPI_COMM_WORLD, &p->pcg);
  HYPRE_StructPCGSetTol(p->pcg, 1e-8);
  HYPRE_StructPCGSetTwoNorm(p->pcg, 1);
  HYPRE_StructPCGSetMaxIter(p->pcg, 200);
  HYPRE_StructPCGSetPrecond(p->pcg, HYPRE_StructPFMGSolve, HYPRE_StructPFMGSetup, p->pfmg);
}

static void destroy(peer *p)
{
  HYPRE_StructPCGDestroy(p->pcg);
  HYPRE_StructPFMGDestroy(p->pfmg);
  HYPRE_StructVectorDestroy(p->b);
  HYPRE_StructVectorDestroy(p->x);
  HYPRE_StructMatrixDestroy(p->A);
  HYPRE_StructStencilDestroy(p->stencil);
  HYPRE_StructGridDestroy(p->grid);
}

static double sum_over_ranks(double x)
{
  double sum;
  MPI_Allreduce(&x, &sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  return sum;
}

static double norm_of(peer *p, HYPRE_StructVector v)
{
  HYPRE_StructVectorGetBoxValues(v, p->lower, p->upper, p->u);
  const double own = bench_norm2(p->u, p->cells);
  return sqrt(sum_over_ranks(own * own));
}

/* ||b - A x|| / ||b||, recomputed instead of taken from the recursion. Overwrites b. */
static double true_residual(peer *p)
{
  const double f_norm = norm_of(p, p->b);
  HYPRE_StructMatrixMatvec(-1, p->A, p->x, 1, p->b);
  return norm_of(p, p->b) / f_norm;
}

int bench_peer_run(peer *p, const variant *v, int runs, outcome *o)
{
  *o = (outcome){.iterations = -1};
  HYPRE_ClearAllErrors();
  if (make_matrix(p, v)) return 1;
  make_solver(p, v);
  MPI_Barrier(MPI_COMM_WORLD);
  double start = MPI_Wtime();
  HYPRE_StructPCGSetup(p->pcg, p->A, p->b, p->x);
  MPI_Barrier(MPI_COMM_WORLD);
  bench_add(&o->setup, MPI_Wtime() - start);
  int bad = HYPRE_GetError() != 0;
  for (int i = 0; i < runs + 1 && !bad; i++) {
    HYPRE_StructVectorSetConstantValues(p->x, 0);
    MPI_Barrier(MPI_COMM_WORLD);
    start = MPI_Wtime();
    HYPRE_StructPCGSolve(p->pcg, p->A, p->b, p->x);
    MPI_Barrier(MPI_COMM_WORLD);
    if (i > 0) bench_add(&o->solve, MPI_Wtime() - start);
    bad = HYPRE_GetError() != 0;
  }
  HYPRE_StructPCGGetNumIterations(p->pcg, &o->iterations);
  o->f_norm = norm_of(p, p->b);
  o->u_norm = norm_of(p, p->x);
  o->residual = true_residual(p);
  destroy(p);
  bench_zero(p->u, p->cells);
  return bad || !(o->residual <= 1.01e-8);
}
