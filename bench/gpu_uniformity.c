/* Times of cycles on a CUDA device for many sizes, walls, centrings, types and media: the rows of bench/uniformity.txt.
     bench_gpu_uniformity ROWS [--json FILE] [--only NAME,NAME] [--commit ID] [--runs N] [--most UNKNOWNS]
   A row tells the time of a solve and its work: cycles times the unknowns of all levels, each as often as a cycle visits it.
   bench/uniformity.py divides one by the other, and compares with cubes of 2^k unknowns along an axis. */
#include "gpu.h"

#include <cuda_runtime_api.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { WORDS = 7, MAX_LINE = 512 };
enum { DIM, SIZE, CENTRING, WALLS, TYPE, MEDIUM, START }; /* the words of a line */

/* What a word may be. */
static const char *const known[WORDS][5] = {[DIM] = {"2d", "3d"},
                                            [CENTRING] = {"cell", "vertex"},
                                            [WALLS] = {"dirichlet", "neumann", "periodic", "mixed"},
                                            [TYPE] = {"double", "float"},
                                            [MEDIUM] = {"constant", "ball"},
                                            [START] = {"solve", "fmg"}};
enum { MIXED_WALLS = 3 };
static const gmg_bc walls_of[3] = {GMG_DIRICHLET, GMG_NEUMANN, GMG_PERIODIC};
static const gmg_bc mixed[3][2] = {{GMG_ROBIN, GMG_DIRICHLET}, {GMG_NEUMANN, GMG_NEUMANN}, {GMG_NEUMANN, GMG_ROBIN}};

static int number_of(int word, const char *text)
{
  for (int i = 0; known[word][i]; i++)
    if (strcmp(known[word][i], text) == 0) return i;
  bench_gpu_stop(text, "not a word of bench/uniformity.txt");
}

/* Reads n or n x n x n. Returns the number of unknowns. */
static size_t size_of(const char *text, int dim, size_t n[3])
{
  const int given = sscanf(text, "%zux%zux%zu", &n[0], &n[1], &n[2]);
  if (given == 1) n[1] = n[2] = n[0];
  else if (given != dim) bench_gpu_stop(text, "not a size");
  if (dim == 2) n[2] = 1;
  return n[0] * n[1] * n[2];
}

/* Unknowns of all levels, each as often as a cycle or a full multigrid start visits it. */
static double work_of(const gmg_plan_info *info, int is_start)
{
  double sum = 0;
  for (int l = 0; l < info->levels; l++) {
    double visits = 0;
    for (int top = is_start ? 0 : l; top <= l; top++) { /* cycles from level l - top down */
      const int below = is_start ? top : l;
      visits += info->cycle == GMG_CYCLE_W ? (double)(1L << below) : info->cycle == GMG_CYCLE_F ? below + 1 : 1;
    }
    sum += visits * (double)info->level[l].cells;
  }
  return sum;
}

/* f in the row's type. */
static void *in_float(const double *f, size_t cells)
{
  void *there = NULL;
  double *host = malloc(cells * sizeof *host);
  if (!host || cudaMalloc(&there, cells * sizeof(float)) != cudaSuccess) bench_gpu_stop("memory", "not enough");
  cudaMemcpy(host, f, cells * sizeof *host, cudaMemcpyDeviceToHost);
  for (size_t i = 0; i < cells; i++) ((float *)host)[i] = (float)host[i];
  cudaMemcpy(there, host, cells * sizeof(float), cudaMemcpyHostToDevice);
  free(host);
  return there;
}

static void row(const char *name, const char *const word[WORDS], const double *random, double *u)
{
  const int dim = number_of(DIM, word[DIM]) + 2, walls = number_of(WALLS, word[WALLS]), ball = number_of(MEDIUM, word[MEDIUM]);
  const int is_float = number_of(TYPE, word[TYPE]), fmg = number_of(START, word[START]);
  size_t n[3];
  char extra[160];
  gmg_report report;
  bench_gpu_run r = bench_gpu_begin_run(dim, 1);
  r.cells = size_of(word[SIZE], dim, n);
  r.problem = gmg_problem_default(dim, n);
  r.problem.centering = number_of(CENTRING, word[CENTRING]) ? GMG_VERTEX : GMG_CELL;
  r.problem.type = is_float ? GMG_F32 : GMG_F64;
  for (int a = 0; a < dim; a++)
    for (int side = 0; side < 2; side++) r.problem.bc[a][side] = walls == MIXED_WALLS ? mixed[a][side] : walls_of[walls];
  double *host = ball ? bench_gpu_ball(n[0]) : NULL, *beta = ball ? bench_gpu_uploaded(host, r.cells) : NULL;
  r.problem.beta = beta;
  if (fmg) r.params.fmg = 1, r.params.max_cycles = 1, r.params.check_every = GMG_NONE;
  void *f = is_float ? in_float(random, r.cells) : (void *)random;
  bench_gpu_build(&r);
  const bench_gpu_samples s = bench_gpu_solve_time(&r, f, u, &report);
  gmg_plan_info *info = bench_gpu_plan(&r);
  snprintf(extra, sizeof extra, ", \"unknowns\": %zu, \"cycles\": %d, \"work\": %.6g, \"status\": \"%s\"", r.cells, report.cycles,
           report.cycles * work_of(info, fmg), gmg_status_string(report.status));
  bench_gpu_row(name, "ms", &s, 0, extra);
  if (is_float) cudaFree(f);
  cudaFree(beta), free(host), free(info);
  bench_gpu_end_run(&r);
}

/* Called for every row of a file. */
typedef void with_row(const char *name, const char *const word[WORDS], void *data);

/* Every product of words w, w + 1, ... of a line, each word being a list. */
static void products(char *const list[WORDS], const char *word[WORDS], int w, with_row *call, void *data)
{
  char name[MAX_LINE] = "";
  if (w == WORDS) {
    for (int i = 0; i < WORDS; i++) snprintf(name + strlen(name), sizeof name - strlen(name), "%s%s", i ? "_" : "", word[i]);
    call(name, word, data);
    return;
  }
  char copy[MAX_LINE], *rest;
  snprintf(copy, sizeof copy, "%s", list[w]);
  for (word[w] = strtok_r(copy, ",", &rest); word[w]; word[w] = strtok_r(NULL, ",", &rest)) products(list, word, w + 1, call, data);
}

static void each_row(const char *path, with_row *call, void *data)
{
  char line[MAX_LINE], *rest, *list[WORDS];
  const char *word[WORDS];
  FILE *file = fopen(path, "r");
  if (!file) bench_gpu_stop(path, "cannot be read");
  while (fgets(line, sizeof line, file)) {
    if (line[0] == '#' || line[0] == '\n') continue;
    char *at = strtok_r(line, " \n", &rest);
    for (int i = 0; i < WORDS; i++, at = strtok_r(NULL, " \n", &rest))
      if (!(list[i] = at)) bench_gpu_stop(path, "a line of less than seven words");
    products(list, word, 0, call, data);
  }
  fclose(file);
}

static int is_wanted(const char *name, const char *const word[WORDS], size_t *cells)
{
  size_t n[3];
  *cells = size_of(word[SIZE], number_of(DIM, word[DIM]) + 2, n);
  return bench_gpu_wanted(name) && (double)*cells <= bench_gpu_options.most;
}

static void find_most(const char *name, const char *const word[WORDS], void *data)
{
  size_t cells, *most = data;
  if (is_wanted(name, word, &cells) && cells > *most) *most = cells;
}

typedef struct {
  double *f, *u;
} fields;

static void measure(const char *name, const char *const word[WORDS], void *data)
{
  const fields *x = data;
  size_t cells;
  if (is_wanted(name, word, &cells)) row(name, word, x->f, x->u);
}

int main(int argc, char **argv)
{
  const char *rows = argc > 1 && argv[1][0] != '-' ? argv[1] : NULL;
  const int code = bench_begin(argc - !!rows, argv + !!rows, "bench_gpu_uniformity", "Cycles of many problems on a CUDA device.", 5);
  size_t most = 1;
  if (code >= 0) return code;
  if (!rows) bench_gpu_stop("the first argument", "expected the path of bench/uniformity.txt");
  each_row(rows, find_most, &most);
  fields x = {bench_gpu_random_field(most, 1), bench_gpu_device_field(most)};
  each_row(rows, measure, &x);
  cudaFree(x.f), cudaFree(x.u);
  return bench_end();
}
