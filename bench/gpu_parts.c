/* Several CUDA devices on one grid, and one device in the same run: each row has `ratio`, the time on all devices over the time on
   one. Weak rows have the unknowns of the one-device row on each device. The rows without a ratio are those of one device, and
   those that need the memory of all. f and u have layers beyond a device's own unknowns (gmg_problem::halo), as arrays of codes
   for several processes do. Rows of 512^3 have the milliseconds on each level, too, from solves of their own.
   The rows delay_* and exact_* are weak_512 with asynchronous and with exact halos, where messages between the first two devices come
   later (GMG_SLOW_LINK); their ratio is the time over that without a delay.
     bench_gpu_parts [--json FILE] [--only NAME,NAME] [--commit ID] [--runs N] [--most UNKNOWNS] */
#include "gpu.h"

#include <cuda_runtime_api.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_DEVICES = 8, HALO = 9 };
static const double CONTRAST = 1e4;

typedef struct {
  const char *name, *alone; /* alone: the row of one device, NULL: there is none */
  size_t n;                 /* along each axis on one device */
  int weak;                 /* the last axis is as many times longer as there are devices */
  double rtol; /* 0: a full multigrid start alone, one cycle per level */
  int has_beta;
  int least; /* devices, for the memory */
  gmg_halos halos;
} row;

static const row rows[] = {{"weak_512", "one_512", 512, 1, 1e-10, 0, 2},
                           {"strong_512", "one_512", 512, 0, 1e-10, 0, 2},
                           {"strong_256", "one_256", 256, 0, 1e-10, 0, 2},
                           {"strong_1024", "one_1024", 1024, 0, 1e-8, 0, 2},
                           {"weak_fmg_512", "one_fmg_512", 512, 1, 0, 0, 2},
                           {"weak_beta_384", "one_beta_384", 384, 1, 1e-8, 1, 2},
                           {"solve_1600", NULL, 1600, 0, 1e-8, 0, 2},
                           {"solve_2048", NULL, 2048, 0, 1e-8, 0, 4}};

/* The first row of each kind of halos has no delay. */
static const struct {
  const char *name, *microseconds;
  gmg_halos halos;
} delays[] = {{"delay_0us", "0", GMG_HALOS_ASYNC},       {"delay_10us", "10", GMG_HALOS_ASYNC}, {"delay_100us", "100", GMG_HALOS_ASYNC},
              {"delay_1000us", "1000", GMG_HALOS_ASYNC}, {"exact_0us", "0", GMG_HALOS_EXACT},   {"exact_10us", "10", GMG_HALOS_EXACT},
              {"exact_100us", "100", GMG_HALOS_EXACT},   {"exact_1000us", "1000", GMG_HALOS_EXACT}};

typedef struct {
  int count;
  gmg_context *context[MOST_DEVICES];
  gmg_solver *solver[MOST_DEVICES];
  gmg_problem problem[MOST_DEVICES];
  const gmg_problem *problems[MOST_DEVICES];
  void *f[MOST_DEVICES], *u[MOST_DEVICES], *beta[MOST_DEVICES];
  size_t cells[MOST_DEVICES]; /* of f and of u, with their halos */
} team;

static void check(gmg_status status, const char *what, const team *t)
{
  if (status != GMG_OK) bench_gpu_stop(what, t->context[0] ? gmg_context_error(t->context[0]) : gmg_status_string(status));
}

/* A ball of radius 0.3 of the shortest axis in which beta is CONTRAST, in the middle of the grid. */
static void fill_ball(const gmg_problem *p, const size_t first[3], const size_t n[3], double *beta)
{
  for (size_t k = 0, c = 0; k < n[2]; k++)
    for (size_t j = 0; j < n[1]; j++)
      for (size_t i = 0; i < n[0]; i++, c++) {
        const size_t at[3] = {first[0] + i, first[1] + j, first[2] + k};
        double square = 0;
        for (int a = 0; a < 3; a++) {
          const double x = ((double)at[a] + 0.5 - 0.5 * (double)p->n[a]) / (double)p->n[0];
          square += x * x;
        }
        beta[c] = square < 0.09 ? CONTRAST : 1;
      }
}

/* Gives f and u a halo on the axes that are cut. Returns their values. */
static size_t add_halo(const gmg_problem *whole, const size_t n[3], gmg_problem *p)
{
  size_t along[3];
  for (int a = 0; a < 3; a++) p->halo[a] = n[a] < whole->n[a] ? HALO : 0, along[a] = n[a] + 2 * p->halo[a];
  const size_t row = along[0], plane = row * along[1];
  p->f_layout = p->u_layout = (gmg_array_layout){row, plane, p->halo[0] + p->halo[1] * row + p->halo[2] * plane};
  return plane * along[2];
}

/* Returns 0 if the devices have too little memory. */
static int begin(team *t, int count, const row *w, int level_times)
{
  static const int devices[MOST_DEVICES] = {0, 1, 2, 3, 4, 5, 6, 7};
  const size_t along[3] = {w->n, w->n, w->weak ? (size_t)count * w->n : w->n};
  const gmg_problem whole = gmg_problem_default(3, along);
  gmg_params params = gmg_params_default();
  *t = (team){.count = count};
  params.rtol = w->rtol, params.direct = GMG_DIRECT_NEVER, params.report_level_times = level_times, params.halos = w->halos;
  if (w->rtol == 0) params.fmg = 1, params.max_cycles = 1, params.check_every = GMG_NONE;
  check(gmg_context_create_cuda_devices(count, devices, NULL, NULL, t->context), "gmg_context_create_cuda_devices", t);
  for (int i = 0; i < count; i++) {
    size_t first[3], n[3];
    t->problem[i] = whole, t->problems[i] = &t->problem[i];
    for (int a = 0; a < 3; a++) t->problem[i].h[a] = 1 / (double)w->n;
    check(gmg_local_box(t->context[i], &whole, first, n), "gmg_local_box", t);
    cudaSetDevice(devices[i]);
    t->cells[i] = add_halo(&whole, n, &t->problem[i]);
    t->f[i] = bench_gpu_random_field(t->cells[i], (unsigned long)(i + 1)), t->u[i] = bench_gpu_device_field(t->cells[i]);
    if (!w->has_beta) continue;
    const size_t own = n[0] * n[1] * n[2];
    double *beta = malloc(own * sizeof *beta);
    fill_ball(&whole, first, n, beta);
    t->problem[i].beta = t->beta[i] = bench_gpu_uploaded(beta, own);
    free(beta);
  }
  const gmg_status status = gmg_solver_create_parts(count, t->context, t->problems, &params, t->solver);
  if (status != GMG_ERR_MEMORY) check(status, "gmg_solver_create_parts", t);
  return status == GMG_OK;
}

static void wait_for_all(const team *t)
{
  for (int i = 0; i < t->count; i++) {
    cudaSetDevice(i);
    cudaDeviceSynchronize();
  }
  cudaSetDevice(0);
}

static void end(team *t)
{
  for (int i = 0; i < t->count; i++) {
    cudaSetDevice(i);
    gmg_solver_destroy(t->solver[i]);
    gmg_context_destroy(t->context[i]);
    cudaFree(t->f[i]), cudaFree(t->u[i]), cudaFree(t->beta[i]);
  }
  cudaSetDevice(0);
}

/* Times of solves from zero, the first two left out: they are not recorded yet. */
static bench_gpu_samples measure(team *t, int runs, gmg_report *report)
{
  bench_gpu_samples s = {.count = 0};
  for (int run = -2; run < runs; run++) {
    for (int i = 0; i < t->count; i++) {
      cudaSetDevice(i);
      cudaMemset(t->u[i], 0, t->cells[i] * sizeof(double));
    }
    wait_for_all(t);
    const double start = bench_gpu_now();
    check(gmg_solve_parts(t->count, t->solver, (const void *const *)t->f, t->u, report), "gmg_solve_parts", t);
    wait_for_all(t);
    const double seconds = bench_gpu_now() - start;
    if (run >= 0) bench_gpu_add(&s, seconds);
  }
  return s;
}

/* Milliseconds on each level of a solve, as a member of a record. Measuring them takes time itself. */
static void find_level_times(const row *w, int count, char *text, size_t room)
{
  team t;
  gmg_report report;
  if (!begin(&t, count, w, 1)) return;
  (void)measure(&t, 1, &report);
  size_t used = (size_t)snprintf(text, room, ", \"level_ms\": [");
  for (int l = 0; l < report.levels && used < room; l++)
    used += (size_t)snprintf(text + used, room - used, "%s%.3f", l ? ", " : "", report.level[l].seconds * 1e3);
  if (used < room) snprintf(text + used, room - used, "]");
  end(&t);
}

/* Returns the median, or 0 if it did not run. one: that of one device; 0: there is no ratio. */
static double solve(const char *name, const row *w, int count, double one)
{
  team t;
  gmg_report report;
  char extra[512], ratio[64] = "", levels[256] = "";
  if (!begin(&t, count, w, 0)) {
    end(&t);
    bench_gpu_skipped_row(name, "there is too little memory", "");
    return 0;
  }
  const bench_gpu_samples s = measure(&t, bench_gpu_options.runs, &report);
  const double median = bench_gpu_median(&s);
  end(&t);
  if (one > 0) snprintf(ratio, sizeof ratio, ", \"ratio\": %.4f", median / one);
  if (w->n == 512 && w->alone) find_level_times(w, count, levels, sizeof levels);
  snprintf(extra, sizeof extra, ", \"devices\": %d, \"cycles\": %d, \"tolerance\": %g%s%s", count, report.cycles, w->rtol,
           ratio, levels);
  bench_gpu_row(name, "ms", &s, 0, extra);
  return median;
}

static void solve_with_delays(int devices)
{
  double none = 0;
  for (size_t i = 0; i < sizeof delays / sizeof *delays; i++) {
    const int has_delay = strcmp(delays[i].microseconds, "0") != 0;
    const row w = {.n = 512, .weak = 1, .rtol = 1e-10, .least = 2, .halos = delays[i].halos};
    if (!bench_gpu_wanted(delays[i].name)) continue;
    if (devices < w.least) {
      bench_gpu_skipped_row(delays[i].name, "there are too few devices", "");
      continue;
    }
    setenv("GMG_SLOW_LINK", delays[i].microseconds, 1);
    const double median = solve(delays[i].name, &w, devices, has_delay ? none : 0);
    if (!has_delay) none = median;
  }
  unsetenv("GMG_SLOW_LINK");
}

int main(int argc, char **argv)
{
  int devices = 0;
  const int status = bench_begin(argc, argv, "bench_gpu_parts", "several devices on one grid", 10);
  if (status >= 0) return status;
  cudaGetDeviceCount(&devices);
  if (devices > MOST_DEVICES) devices = MOST_DEVICES;
  const char *last = "";
  double one = 0;
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    const row *w = &rows[i];
    const double cells = (double)w->n * (double)w->n * (double)w->n;
    if (!bench_gpu_wanted(w->name)) continue;
    if (devices < w->least || cells > bench_gpu_options.most) {
      bench_gpu_skipped_row(w->name, devices < w->least ? "there are too few devices" : "--most", "");
      continue;
    }
    if (w->alone && strcmp(last, w->alone) != 0) one = solve(w->alone, w, 1, 0);
    last = w->alone ? w->alone : "";
    (void)solve(w->name, w, devices, w->alone ? one : 0);
  }
  solve_with_delays(devices);
  return bench_end();
}
