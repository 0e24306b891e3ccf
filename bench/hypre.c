/* hypre's conjugate gradients preconditioned by PFMG, for comparison with gmg, as records like bench_cpu's. The best options of
 * PFMG are found first, then timed. Run under mpirun. The box is divided into slabs along the slowest axis. */
#include "peer.h"
#include "problems.h"

#include <getopt.h>
#include <math.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *const storage_text[] = {"7 coefficients a row", "symmetric, 4 coefficients a row",
                                           "constant couplings, diagonal stored"};
static const char *const relax_text[] = {"Jacobi", "weighted Jacobi", "red-black symmetric", "red-black"};

typedef struct settings {
  const char *json;
  int n, runs, beta, all, has_variant;
  variant variant;
} settings;

static const char help_text[] =
    "mpirun -np P bench_hypre: hypre's PFMG-preconditioned CG on bench_cpu's problem, to 1e-8.\n"
    "  --json FILE         write the records there\n"
    "  --n N               unknowns along each axis (128)\n"
    "  --runs N            measurements (5); one more before them is not counted\n"
    "  --beta              cell-wise beta: the ball\n"
    "  --variant S,X,R,K   storage 0-2 (full, symmetric, constant couplings), relaxation 0-3, rap 0-1, skip relax 0-1;\n"
    "                      without it the fastest of a short list is found first\n"
    "  --all               the short list is everything\n";

static int read_options(int argc, char **argv, settings *s)
{
  static const struct option options[] = {
      {"json", required_argument, NULL, 'j'}, {"runs", required_argument, NULL, 'r'}, {"n", required_argument, NULL, 'n'},
      {"variant", required_argument, NULL, 'v'}, {"beta", no_argument, NULL, 'b'}, {"all", no_argument, NULL, 'a'}, {0}};
  variant *v = &s->variant;
  for (int c; (c = getopt_long(argc, argv, "", options, NULL)) != -1;) {
    if (c == 'j') s->json = optarg;
    else if (c == 'r') s->runs = atoi(optarg);
    else if (c == 'n') s->n = atoi(optarg);
    else if (c == 'b') s->beta = 1;
    else if (c == 'a') s->all = 1;
    else if (c == 'v') s->has_variant = sscanf(optarg, "%d,%d,%d,%d", &v->storage, &v->relax, &v->rap, &v->skip) == 4;
    else return 0;
    if (c == 'v' && !s->has_variant) return 0;
  }
  return optind == argc && s->runs >= 1 && s->runs <= BENCH_SAMPLES && s->n >= 8 && s->n <= 1024;
}

static int slab(peer *p)
{
  const int first = (int)((long)p->n * p->rank / p->ranks), last = (int)((long)p->n * (p->rank + 1) / p->ranks) - 1;
  p->lower[0] = p->lower[1] = 0, p->lower[2] = first;
  p->upper[0] = p->upper[1] = (int)p->n - 1, p->upper[2] = last;
  p->cells = p->n * p->n * (size_t)(last - first + 1);
  p->f = bench_field(p->cells), p->u = bench_field(p->cells);
  if (!p->f || !p->u) return 1;
  bench_random(p->f, (size_t)first * p->n * p->n, p->cells, 1);
  return 0;
}

static void name_variant(const variant *v, char *text, size_t size)
{
  snprintf(text, size, "%s; relaxation %s, rap_type %d, skip_relax %d, V(1,1); --variant %d,%d,%d,%d",
           storage_text[v->storage], relax_text[v->relax], v->rap, v->skip, v->storage, v->relax, v->rap, v->skip);
}

/* The variants that were fastest at 64^3 on two cores. `--all` tries all. */
static int is_short_listed(const variant *v, int beta)
{
  static const variant list[2][4] = {{{2, 3, 0, 1}, {2, 3, 1, 1}, {2, 2, 1, 1}, {1, 3, 1, 1}},
                                     {{0, 1, 0, 1}, {1, 1, 0, 1}, {1, 1, 0, 0}, {1, 3, 1, 0}}};
  for (int i = 0; i < 4; i++)
    if (!memcmp(v, &list[beta][i], sizeof *v)) return 1;
  return 0;
}

/* The time of one variant: the minimum of three solves, because other work may disturb one of them. INFINITY if it failed. All
 * ranks get the time of rank 0. */
static double try_variant(peer *p, const variant *v)
{
  char text[BENCH_TEXT];
  outcome o;
  const int bad = bench_peer_run(p, v, 3, &o);
  double seconds = bad ? INFINITY : bench_min(&o.solve);
  MPI_Bcast(&seconds, 1, MPI_DOUBLE, 0, MPI_COMM_WORLD);
  name_variant(v, text, sizeof text);
  if (p->rank == 0)
    printf("  %8.3f s, setup %.3f s, %3d iterations, residual %.2e%s: %s\n", bench_min(&o.solve), bench_min(&o.setup),
           o.iterations, o.residual, bad ? " (out)" : "", text);
  fflush(stdout);
  return seconds;
}

/* The fastest variant of the short list, or of all. */
static variant search(peer *p, int all)
{
  variant best = {0};
  double least = INFINITY;
  for (int storage = 0; storage < 3; storage++)
    for (int relax = 1; relax < 4; relax++)
      for (int rap = 0; rap < 2; rap++)
        for (int skip = 0; skip < 2; skip++) {
          const variant v = {storage, relax, rap, skip};
          if (storage == CONSTANT_COUPLINGS && p->contrast > 0) continue;
          if (!all && !is_short_listed(&v, p->contrast > 0)) continue;
          const double seconds = try_variant(p, &v);
          if (seconds < least) least = seconds, best = v;
        }
  return best;
}

static void describe(const settings *s, const peer *p, const variant *v, const outcome *o, bench_record *r, const char *name)
{
  bench_record_start(r, name, p->n);
  snprintf(r->what, sizeof r->what, "hypre %s: PFMG-preconditioned CG, %d MPI ranks%s%s", HYPRE_RELEASE_VERSION, p->ranks,
           s->beta ? "; " : "", s->beta ? BENCH_BALL : "");
  name_variant(v, r->setting, sizeof r->setting);
  snprintf(r->f, sizeof r->f, "%s", BENCH_F_RANDOM);
  snprintf(r->start, sizeof r->start, "zero");
  snprintf(r->norm, sizeof r->norm, "%s", BENCH_NORM);
  snprintf(r->floor_of, sizeof r->floor_of, "this f: eps/2 ||A|| ||u|| / ||f||");
  r->tolerance = 1e-8;
  r->floor = bench_floor(p->n, s->beta ? p->contrast : 1, o->u_norm, o->f_norm);
}

static int measure(const settings *s, peer *p)
{
  bench_record r[2];
  outcome o;
  const variant v = s->has_variant ? s->variant : search(p, s->all);
  const int bad = bench_peer_run(p, &v, s->runs, &o);
  describe(s, p, &v, &o, &r[0], s->beta ? "hypre_beta" : "hypre");
  describe(s, p, &v, &o, &r[1], s->beta ? "hypre_setup_beta" : "hypre_setup");
  r[0].samples = o.solve, r[1].samples = o.setup;
  r[0].cycles = o.iterations;
  bench_record_note(&r[0], "residual", o.residual);
  bench_record_note(&r[0], "solution_norm", o.u_norm);
  if (bad) snprintf(r[0].status, sizeof r[0].status, "not converged, or an error of hypre");
  if (p->rank) return bad;
  for (int i = 0; i < 2; i++) bench_record_print(&r[i], NAN);
  return bad | (s->json && bench_write(s->json, "bench_hypre", p->ranks, NULL, r, 2));
}

int main(int argc, char **argv)
{
  settings s = {.n = 128, .runs = 5};
  peer p = {0};
  MPI_Init(&argc, &argv);
  HYPRE_Init();
  MPI_Comm_size(MPI_COMM_WORLD, &p.ranks);
  MPI_Comm_rank(MPI_COMM_WORLD, &p.rank);
  const int sensible = read_options(argc, argv, &s);
  p.n = (size_t)s.n, p.contrast = s.beta ? 1e4 : 0;
  int bad = 2;
  if (!sensible && p.rank == 0) fputs(help_text, stderr);
  if (sensible) bad = slab(&p) || measure(&s, &p);
  free(p.f), free(p.u);
  HYPRE_Finalize();
  MPI_Finalize();
  return bad;
}
