/* hypre's conjugate gradients on the gallery of media, preconditioned by PFMG (Ashby, Falgout 1996), SMG (Schaffer 1998) and BoomerAMG
 * (Henson, Yang 2002), with several options each. Random f, zero guess, to 1e-8, as bench_media. Run under mpirun. The box is divided
 * into slabs along the slowest axis. A row is the fastest of a solver's options, set-up included.
 *     mpirun -np P bench_hypre_media [--json FILE] [--dim D] [--n N] [--only TEXT]
 * n: unknowns along each axis (512 in 2D, 96 in 3D). A row is named DIM_KIND_STRENGTH_SOLVER. */
#include "media_matrix.h"
#include "problems.h"
#include "record.h"

#include <HYPRE.h>
#include <HYPRE_IJ_mv.h>
#include <HYPRE_parcsr_ls.h>
#include <HYPRE_struct_ls.h>
#include <getopt.h>
#include <math.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_ROWS = 400, MOST = 300 };
static const double TOLERANCE = 1e-8;
static bench_record rows[MAX_ROWS];
static int count;

typedef struct settings {
  const char *json, *only;
  int dim;
  size_t n;
} settings;

/* This rank's slab of a medium. The right-hand side is f times the volumes of cells. */
typedef struct slab {
  const medium *m;
  size_t first, last, before, cells; /* planes first .. last - 1; cells of the ranks before, and own ones */
  double *b, *x;
} slab;

typedef struct outcome {
  double setup, solve, residual, u_norm;
  int iterations;
} outcome;

/* A solver with one set of options. option: PFMG: relaxation; BoomerAMG: levels of aggressive coarsening. */
typedef struct method {
  const char *solver, *text;
  int (*run)(const slab *s, const struct method *how, outcome *o);
  int option;
} method;

static void place(const slab *s, size_t c, size_t at[3])
{
  const size_t *n = s->m->p.n;
  const size_t whole = s->before + c;
  at[0] = whole % n[0], at[1] = whole / n[0] % n[1], at[2] = whole / (n[0] * n[1]);
}

static double now(void)
{
  MPI_Barrier(MPI_COMM_WORLD);
  return MPI_Wtime();
}

/* --- on hypre's grids: PFMG and SMG --------------------------------------------------------------------------------------------- */

typedef struct grid {
  HYPRE_StructGrid grid;
  HYPRE_StructStencil stencil;
  HYPRE_StructMatrix A;
  HYPRE_StructVector b, x;
  int lower[3], upper[3];
} grid;

/* A symmetric matrix: the diagonal, and couplings to lower neighbours. */
static int make_grid(const slab *s, grid *g)
{
  const int dim = s->m->p.dim, entries = dim + 1;
  int offset[3] = {0, 0, 0}, all[4] = {0, 1, 2, 3};
  double *values = malloc(s->cells * (size_t)entries * sizeof *values);
  if (!values) return 0;
  for (int a = 0; a < dim; a++) g->lower[a] = 0, g->upper[a] = (int)s->m->p.n[a] - 1;
  g->lower[dim - 1] = (int)s->first, g->upper[dim - 1] = (int)s->last - 1;
  HYPRE_StructGridCreate(MPI_COMM_WORLD, dim, &g->grid);
  HYPRE_StructGridSetExtents(g->grid, g->lower, g->upper);
  HYPRE_StructGridAssemble(g->grid);
  HYPRE_StructStencilCreate(dim, entries, &g->stencil);
  for (int e = 0; e < entries; e++) {
    if (e > 0) offset[e - 1] = -1;
    HYPRE_StructStencilSetElement(g->stencil, e, offset);
    if (e > 0) offset[e - 1] = 0;
  }
  HYPRE_StructMatrixCreate(MPI_COMM_WORLD, g->grid, g->stencil, &g->A);
  HYPRE_StructMatrixSetSymmetric(g->A, 1);
  HYPRE_StructMatrixInitialize(g->A);
  for (size_t c = 0; c < s->cells; c++) {
    size_t at[3];
    place(s, c, at);
    const bench_media_row row = bench_media_row_of(s->m, at);
    values[c * (size_t)entries] = row.diagonal;
    for (int a = 0; a < dim; a++) values[c * (size_t)entries + (size_t)a + 1] = -row.coupling[a][0];
  }
  HYPRE_StructMatrixSetBoxValues(g->A, g->lower, g->upper, entries, all, values);
  HYPRE_StructMatrixAssemble(g->A);
  HYPRE_StructVector *vectors[] = {&g->b, &g->x};
  for (int i = 0; i < 2; i++) {
    HYPRE_StructVectorCreate(MPI_COMM_WORLD, g->grid, vectors[i]);
    HYPRE_StructVectorInitialize(*vectors[i]);
    HYPRE_StructVectorSetBoxValues(*vectors[i], g->lower, g->upper, i ? s->x : s->b);
    HYPRE_StructVectorAssemble(*vectors[i]);
  }
  free(values);
  return 1;
}

static void destroy_grid(grid *g)
{
  HYPRE_StructVectorDestroy(g->b);
  HYPRE_StructVectorDestroy(g->x);
  HYPRE_StructMatrixDestroy(g->A);
  HYPRE_StructStencilDestroy(g->stencil);
  HYPRE_StructGridDestroy(g->grid);
}

/* x := the field of a vector of hypre; returns its 2-norm over all ranks. */
static double norm(const slab *s, const grid *g, HYPRE_StructVector v)
{
  double sum;
  HYPRE_StructVectorGetBoxValues(v, (int *)g->lower, (int *)g->upper, s->x);
  const double own = bench_norm2(s->x, s->cells), square = own * own;
  MPI_Allreduce(&square, &sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  return sqrt(sum);
}

static int solve_on_grid(const slab *s, HYPRE_StructSolver inner, HYPRE_PtrToStructSolverFcn apply, HYPRE_PtrToStructSolverFcn prepare,
                         outcome *o)
{
  grid g;
  HYPRE_StructSolver pcg;
  if (!make_grid(s, &g)) return 0;
  HYPRE_StructPCGCreate(MPI_COMM_WORLD, &pcg);
  HYPRE_StructPCGSetTol(pcg, TOLERANCE);
  HYPRE_StructPCGSetTwoNorm(pcg, 1);
  HYPRE_StructPCGSetMaxIter(pcg, MOST);
  HYPRE_StructPCGSetPrecond(pcg, apply, prepare, inner);
  const double start = now();
  HYPRE_StructPCGSetup(pcg, g.A, g.b, g.x);
  const double ready = now();
  HYPRE_StructPCGSolve(pcg, g.A, g.b, g.x);
  o->solve = now() - ready, o->setup = ready - start;
  HYPRE_StructPCGGetNumIterations(pcg, &o->iterations);
  const double f = norm(s, &g, g.b);
  o->u_norm = norm(s, &g, g.x);
  HYPRE_StructMatrixMatvec(-1, g.A, g.x, 1, g.b);
  o->residual = norm(s, &g, g.b) / f;
  HYPRE_StructPCGDestroy(pcg);
  destroy_grid(&g);
  return 1;
}

static int run_pfmg(const slab *s, const method *how, outcome *o)
{
  HYPRE_StructSolver pfmg;
  HYPRE_StructPFMGCreate(MPI_COMM_WORLD, &pfmg);
  HYPRE_StructPFMGSetMaxIter(pfmg, 1);
  HYPRE_StructPFMGSetTol(pfmg, 0);
  HYPRE_StructPFMGSetZeroGuess(pfmg);
  HYPRE_StructPFMGSetRelaxType(pfmg, how->option);
  HYPRE_StructPFMGSetRAPType(pfmg, 0); /* Galerkin */
  HYPRE_StructPFMGSetSkipRelax(pfmg, 0);
  const int ok = solve_on_grid(s, pfmg, HYPRE_StructPFMGSolve, HYPRE_StructPFMGSetup, o);
  HYPRE_StructPFMGDestroy(pfmg);
  return ok;
}

static int run_smg(const slab *s, const method *how, outcome *o)
{
  HYPRE_StructSolver smg;
  HYPRE_StructSMGCreate(MPI_COMM_WORLD, &smg);
  HYPRE_StructSMGSetMaxIter(smg, 1);
  HYPRE_StructSMGSetTol(smg, 0);
  HYPRE_StructSMGSetZeroGuess(smg);
  HYPRE_StructSMGSetNumPreRelax(smg, how->option);
  HYPRE_StructSMGSetNumPostRelax(smg, how->option);
  const int ok = solve_on_grid(s, smg, HYPRE_StructSMGSolve, HYPRE_StructSMGSetup, o);
  HYPRE_StructSMGDestroy(smg);
  return ok;
}

/* --- on matrices: BoomerAMG ----------------------------------------------------------------------------------------------------- */

static HYPRE_IJMatrix make_matrix(const slab *s)
{
  const size_t *n = s->m->p.n, stride[3] = {1, n[0], n[0] * n[1]};
  const HYPRE_BigInt first = (HYPRE_BigInt)s->before, last = (HYPRE_BigInt)(s->before + s->cells) - 1;
  HYPRE_IJMatrix A;
  HYPRE_IJMatrixCreate(MPI_COMM_WORLD, first, last, first, last, &A);
  HYPRE_IJMatrixSetObjectType(A, HYPRE_PARCSR);
  HYPRE_IJMatrixInitialize(A);
  for (size_t c = 0; c < s->cells; c++) {
    size_t at[3];
    place(s, c, at);
    const bench_media_row row = bench_media_row_of(s->m, at);
    HYPRE_BigInt self = first + (HYPRE_BigInt)c, column[7] = {self};
    double value[7] = {row.diagonal};
    int entries = 1;
    for (int a = 0; a < s->m->p.dim; a++)
      for (int side = 0; side < 2; side++)
        if (row.coupling[a][side] > 0) {
          column[entries] = side ? self + (HYPRE_BigInt)stride[a] : self - (HYPRE_BigInt)stride[a];
          value[entries++] = -row.coupling[a][side];
        }
    HYPRE_IJMatrixSetValues(A, 1, &entries, &self, column, value);
  }
  HYPRE_IJMatrixAssemble(A);
  return A;
}

static HYPRE_IJVector make_vector(const slab *s, const double *values, HYPRE_BigInt *index)
{
  HYPRE_IJVector v;
  HYPRE_IJVectorCreate(MPI_COMM_WORLD, index[0], index[s->cells - 1], &v);
  HYPRE_IJVectorSetObjectType(v, HYPRE_PARCSR);
  HYPRE_IJVectorInitialize(v);
  HYPRE_IJVectorSetValues(v, (HYPRE_Int)s->cells, index, values);
  HYPRE_IJVectorAssemble(v);
  return v;
}

/* HMIS coarsening, extended interpolation of at most 4 entries, symmetric Gauss-Seidel with l1 weights. */
static HYPRE_Solver make_amg(const slab *s, int aggressive)
{
  HYPRE_Solver amg;
  HYPRE_BoomerAMGCreate(&amg);
  HYPRE_BoomerAMGSetMaxIter(amg, 1);
  HYPRE_BoomerAMGSetTol(amg, 0);
  HYPRE_BoomerAMGSetCoarsenType(amg, 10);
  HYPRE_BoomerAMGSetInterpType(amg, 6);
  HYPRE_BoomerAMGSetPMaxElmts(amg, 4);
  HYPRE_BoomerAMGSetRelaxType(amg, 8);
  HYPRE_BoomerAMGSetStrongThreshold(amg, s->m->p.dim == 2 ? 0.25 : 0.5);
  HYPRE_BoomerAMGSetAggNumLevels(amg, aggressive);
  return amg;
}

static double inner(HYPRE_ParVector v)
{
  double square;
  HYPRE_ParVectorInnerProd(v, v, &square);
  return square;
}

static int run_amg(const slab *s, const method *how, outcome *o)
{
  HYPRE_BigInt *index = malloc(s->cells * sizeof *index);
  HYPRE_ParCSRMatrix A;
  HYPRE_ParVector b, x;
  HYPRE_Solver pcg;
  if (!index) return 0;
  for (size_t c = 0; c < s->cells; c++) index[c] = (HYPRE_BigInt)(s->before + c);
  HYPRE_IJMatrix matrix = make_matrix(s);
  HYPRE_IJVector vectors[2] = {make_vector(s, s->b, index), make_vector(s, s->x, index)};
  HYPRE_IJMatrixGetObject(matrix, (void **)&A);
  HYPRE_IJVectorGetObject(vectors[0], (void **)&b);
  HYPRE_IJVectorGetObject(vectors[1], (void **)&x);
  HYPRE_Solver amg = make_amg(s, how->option);
  HYPRE_ParCSRPCGCreate(MPI_COMM_WORLD, &pcg);
  HYPRE_PCGSetTol(pcg, TOLERANCE);
  HYPRE_PCGSetTwoNorm(pcg, 1);
  HYPRE_PCGSetMaxIter(pcg, MOST);
  HYPRE_PCGSetPrecond(pcg, (HYPRE_PtrToSolverFcn)HYPRE_BoomerAMGSolve, (HYPRE_PtrToSolverFcn)HYPRE_BoomerAMGSetup, amg);
  const double start = now();
  HYPRE_ParCSRPCGSetup(pcg, A, b, x);
  const double ready = now();
  HYPRE_ParCSRPCGSolve(pcg, A, b, x);
  o->solve = now() - ready, o->setup = ready - start;
  HYPRE_PCGGetNumIterations(pcg, &o->iterations);
  const double f = inner(b);
  o->u_norm = sqrt(inner(x));
  HYPRE_ParCSRMatrixMatvec(-1, A, x, 1, b);
  o->residual = sqrt(inner(b) / f);
  HYPRE_ParCSRPCGDestroy(pcg);
  HYPRE_BoomerAMGDestroy(amg);
  HYPRE_IJMatrixDestroy(matrix);
  HYPRE_IJVectorDestroy(vectors[0]), HYPRE_IJVectorDestroy(vectors[1]);
  free(index);
  return 1;
}

/* --- the rows ------------------------------------------------------------------------------------------------------------------- */

static const method methods[] = {{"pfmg", "weighted Jacobi, V(1,1)", run_pfmg, 1},
                                 {"pfmg", "red-black, V(1,1)", run_pfmg, 2},
                                 {"smg", "V(1,1)", run_smg, 1},
                                 {"amg", "HMIS, ext+i 4, l1 Gauss-Seidel", run_amg, 0},
                                 {"amg", "the same, one level of aggressive coarsening", run_amg, 1}};
enum { METHODS = sizeof methods / sizeof *methods };

/* The fastest options of a solver, of those that converge; otherwise those that come last. */
static int measure(const slab *s, const char *prefix, const char *solver, int rank, int ranks)
{
  outcome best = {.setup = INFINITY};
  const method *chosen = NULL;
  for (int i = 0; i < METHODS; i++) {
    outcome o = {0};
    if (strcmp(methods[i].solver, solver) != 0) continue;
    HYPRE_ClearAllErrors();
    bench_zero(s->x, s->cells);
    if (!methods[i].run(s, &methods[i], &o)) return 1;
    double total[2] = {o.setup + o.solve, !(o.residual <= 1.01 * TOLERANCE)};
    MPI_Bcast(total, 2, MPI_DOUBLE, 0, MPI_COMM_WORLD);
    if (!chosen || (total[1] == 0 && !(best.residual <= 1.01 * TOLERANCE && best.setup + best.solve <= total[0]))) best = o, chosen = &methods[i];
  }
  const int converged = best.residual <= 1.01 * TOLERANCE;
  if (rank != 0) return 0;
  bench_record *r = &rows[count];
  char name[64];
  snprintf(name, sizeof name, "%s_%s", prefix, solver);
  bench_record_start(r, name, s->m->p.n[0]);
  snprintf(r->what, sizeof r->what, "hypre %s: conjugate gradients, %d MPI ranks; the solve, set-up apart", HYPRE_RELEASE_VERSION, ranks);
  snprintf(r->setting, sizeof r->setting, "%s", chosen->text);
  snprintf(r->f, sizeof r->f, BENCH_F_RANDOM);
  snprintf(r->start, sizeof r->start, "zero");
  snprintf(r->norm, sizeof r->norm, "%s, times the volumes of cells", BENCH_NORM);
  r->tolerance = TOLERANCE, r->cycles = best.iterations;
  bench_add(&r->samples, best.solve);
  bench_record_note(r, "setup_seconds", best.setup);
  bench_record_note(r, "residual", best.residual);
  bench_record_note(r, "solution_norm", best.u_norm);
  if (!converged) snprintf(r->status, sizeof r->status, "not converged");
  printf("%-32s %4d iterations, set-up %8.4f s, solve %9.4f s, residual %.1e: %s\n", name, best.iterations, best.setup, best.solve,
         best.residual, chosen->text);
  fflush(stdout);
  count += count + 1 < MAX_ROWS;
  return 0;
}

static int run_medium(const medium *m, const char *prefix, int rank, int ranks)
{
  static const char *const solvers[] = {"pfmg", "smg", "amg"};
  const size_t *n = m->p.n, planes = n[m->p.dim - 1], plane = n[0] * (m->p.dim == 3 ? n[1] : 1);
  slab s = {.m = m, .first = planes * (size_t)rank / (size_t)ranks, .last = planes * (size_t)(rank + 1) / (size_t)ranks};
  s.before = s.first * plane, s.cells = (s.last - s.first) * plane;
  s.b = bench_field(s.cells), s.x = bench_field(s.cells);
  int failed = !s.b || !s.x;
  if (!failed) bench_random(s.b, s.before, s.cells, 1);
  for (size_t c = 0; c < s.cells && !failed; c++) {
    size_t at[3];
    place(&s, c, at);
    s.b[c] *= bench_media_row_of(m, at).volume;
  }
  for (int i = 0; i < 3 && !failed; i++) failed = measure(&s, prefix, solvers[i], rank, ranks);
  free(s.b), free(s.x);
  return failed;
}

static int run_kind(const settings *s, int dim, const medium_kind *k, int rank, int ranks)
{
  const size_t n = s->n ? s->n : dim == 2 ? 512 : 96;
  int failed = k->stretches == 2; /* periodic and singular: not for the rivals' grids */
  if (failed) return 0;
  for (int i = 0; i < 3 && k->strength[i] != 0 && !failed; i++) {
    char prefix[48];
    medium m;
    snprintf(prefix, sizeof prefix, "%dd_%s_%g", dim, k->name, k->strength[i]);
    if (s->only && !strstr(prefix, s->only)) continue;
    failed = !medium_make(k, dim, n, k->strength[i], GMG_CELL, &m);
    if (!failed) gmg_problem_set_box(&m.p, (const double[]){1, 1, 1});
    if (!failed) failed = run_medium(&m, prefix, rank, ranks);
    medium_free(&m);
  }
  return failed;
}

static int read_options(int argc, char **argv, settings *s)
{
  static const struct option options[] = {{"json", 1, NULL, 'j'}, {"dim", 1, NULL, 'd'}, {"n", 1, NULL, 'n'}, {"only", 1, NULL, 'o'}, {0}};
  for (int c; (c = getopt_long(argc, argv, "", options, NULL)) != -1;) {
    if (c == 'j') s->json = optarg;
    else if (c == 'o') s->only = optarg;
    else if (c == 'd') s->dim = atoi(optarg);
    else if (c == 'n') s->n = (size_t)atoi(optarg);
    else return 0;
  }
  return optind == argc && (s->dim == 0 || s->dim == 2 || s->dim == 3) && (s->n == 0 || (s->n >= 8 && s->n <= 8192));
}

int main(int argc, char **argv)
{
  settings s = {0};
  int rank, ranks, failed = 2;
  MPI_Init(&argc, &argv);
  HYPRE_Init();
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  if (read_options(argc, argv, &s)) failed = 0;
  else if (rank == 0) fputs("bench_hypre_media [--json FILE] [--dim 2|3] [--n 8..8192] [--only TEXT]\n", stderr);
  for (int dim = 2; dim <= 3; dim++)
    for (const medium_kind *k = medium_kinds; k->name && (s.dim == 0 || s.dim == dim) && !failed; k++) failed = run_kind(&s, dim, k, rank, ranks);
  if (!failed && rank == 0 && s.json) failed = bench_write(s.json, "bench_hypre_media", ranks, NULL, rows, count);
  HYPRE_Finalize();
  MPI_Finalize();
  return failed;
}
