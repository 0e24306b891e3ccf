/* See job.h. */
#include "job.h"

#include "gmg_cuda.h"

#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* --- a process's box ----------------------------------------------------------------------------------------------------------- */

size_t cells_of(const size_t n[3]) { return n[0] * n[1] * n[2]; }

void copy_box(const box *b, int extra, double *whole, double *mine, int out)
{
  size_t n[3], all[3];
  for (int a = 0; a < 3; a++) n[a] = b->n[a] + (a == extra), all[a] = b->whole[a] + (a == extra);
  for (size_t k = 0; k < n[2]; k++)
    for (size_t j = 0; j < n[1]; j++)
      for (size_t i = 0; i < n[0]; i++) {
        double *at = &whole[((b->first[2] + k) * all[1] + b->first[1] + j) * all[0] + b->first[0] + i];
        double *own = &mine[(k * n[1] + j) * n[0] + i];
        if (out) *own = *at;
        else *at = *own;
      }
}

/* Values of a box, with room for faces along all axes. */
static size_t room_of(const box *b) { return (b->n[0] + 1) * (b->n[1] + 1) * (b->n[2] + 1); }

double *take(const box *b, int extra, const double *whole)
{
  double *mine = calloc(room_of(b), sizeof *mine);
  if (whole) copy_box(b, extra, (double *)whole, mine, 1);
  return mine;
}

box box_of(gmg_context *c, const gmg_problem *p)
{
  box b = {{0}, {0}, {0}};
  (void)gmg_local_box(c, p, b.first, b.n);
  for (int a = 0; a < 3; a++) b.whole[a] = a < p->dim ? p->n[a] : 1;
  return b;
}

double *use(double *mine, size_t n)
{
  if (!on_device || !mine) return mine;
  double *there = device_alloc(n * sizeof *there);
  device_copy(there, mine, n * sizeof *there);
  return there;
}

void copy_back(double *mine, const double *used, size_t n)
{
  if (on_device) device_copy(mine, used, n * sizeof *mine);
  else if (mine != used) memcpy(mine, used, n * sizeof *mine);
}

static void copy_to(double *used, const double *mine, size_t n) { device_copy(used, mine, n * sizeof *mine); }

void drop(double *mine, double *used, size_t n)
{
  if (!on_device || !mine) return;
  copy_back(mine, used, n);
  device_release(used);
}

/* --- in several processes -------------------------------------------------------------------------------------------------------- */

static __thread void *stream;

/* Several processes may have to share a device, with a stream each. */
gmg_status create_context_of(const gmg_transport *t, const int cut[3], gmg_context **c)
{
  if (!on_device) return gmg_context_create_ranks(t, cut, 1, c);
  const int device = t->rank % device_count();
  device_use(device);
  stream = device_stream();
  return gmg_context_create_cuda_ranks(t, cut, device, stream, c);
}

/* A kernel that is loaded when it is first launched waits for all others on its device, which may wait for it. So does one in a
   queue that two streams share: by default there are 8. */
void share_devices(void)
{
  setenv("GMG_SHARE_DEVICES", "1", 0);
  setenv("CUDA_DEVICE_MAX_CONNECTIONS", "32", 0);
  setenv("CUDA_MODULE_LOADING", "EAGER", 0);
}

void end_context_of(gmg_context *c)
{
  gmg_context_destroy(c);
  if (on_device) device_stream_end(stream);
}

/* The walls have g = wall on the upper face of axis 0. */
static gmg_status set_wall(const job *j, const box *b, gmg_solver *s)
{
  const size_t n = b->n[1] * b->n[2];
  double *g = calloc(n, sizeof *g);
  for (size_t k = 0; k < b->n[2]; k++)
    for (size_t i = 0; i < b->n[1]; i++) g[k * b->n[1] + i] = j->wall[(b->first[2] + k) * b->whole[1] + b->first[1] + i];
  double *there = use(g, n);
  const gmg_status status = gmg_set_boundary_values(s, 0, 1, b->first[0] + b->n[0] == b->whole[0] ? there : NULL);
  drop(g, there, n);
  free(g);
  return status;
}

/* Values of the array of a box with a halo. */
static size_t with_halo(const box *b, const size_t halo[3])
{
  return (b->n[0] + 2 * halo[0]) * (b->n[1] + 2 * halo[1]) * (b->n[2] + 2 * halo[2]);
}

/* Puts packed values into an array with a halo, or takes them out. */
static void copy_inside(const box *b, const size_t halo[3], double *array, double *packed, int out)
{
  const box inside = {{halo[0], halo[1], halo[2]},
                      {b->n[0], b->n[1], b->n[2]},
                      {b->n[0] + 2 * halo[0], b->n[1] + 2 * halo[1], b->n[2] + 2 * halo[2]}};
  copy_box(&inside, -1, array, packed, out);
}

/* The array of a box with a halo of NaN. whole = NULL: zeros. */
static double *take_with_halo(const box *b, const size_t halo[3], const double *whole)
{
  double *packed = take(b, -1, whole), *array = malloc(with_halo(b, halo) * sizeof *array);
  for (size_t i = 0; i < with_halo(b, halo); i++) array[i] = NAN;
  copy_inside(b, halo, array, packed, 0);
  free(packed);
  return array;
}

/* Copies the result of a process into the whole one. */
static void give_result(const job *j, const box *b, const double *array, double *whole)
{
  double *packed = take(b, -1, NULL);
  copy_inside(b, j->halo, (double *)array, packed, 1);
  copy_box(b, -1, whole, packed, 0);
  free(packed);
}

static gmg_array_layout layout_with_halo(const box *b, const size_t halo[3])
{
  const size_t row = b->n[0] + 2 * halo[0], plane = row * (b->n[1] + 2 * halo[1]);
  return (gmg_array_layout){row, plane, halo[0] + halo[1] * row + halo[2] * plane};
}

enum { F, U, Z, BETA, SIGMA, FACE, ARRAYS = FACE + 3 };

void solve_part(const gmg_transport *t, void *data)
{
  job *j = data;
  const int r = t->rank;
  gmg_context *c = NULL;
  gmg_solver *s = NULL;
  j->status[r] = create_context_of(t, j->cut[0] ? j->cut : NULL, &c);
  for (int a = 0; a < 3 && !j->status[r]; a++)
    if (j->cuts[a]) j->status[r] = gmg_context_set_cuts(c, a, j->cuts[a]);
  if (j->status[r]) return;
  const box b = box_of(c, &j->problem);
  const double *whole[ARRAYS] = {j->f, j->guess, NULL, j->beta, j->sigma, j->beta_face[0], j->beta_face[1], j->beta_face[2]};
  double *mine[ARRAYS], *there[ARRAYS];
  size_t count[ARRAYS];
  gmg_problem p = j->problem;
  for (int i = 0; i < ARRAYS; i++) {
    count[i] = i < BETA ? with_halo(&b, j->halo) : room_of(&b);
    mine[i] = i < BETA ? take_with_halo(&b, j->halo, whole[i]) : take(&b, i < FACE ? -1 : i - FACE, whole[i]);
    there[i] = use(mine[i], count[i]);
  }
  memcpy(p.halo, j->halo, sizeof p.halo);
  if (j->halo[0] || j->halo[1] || j->halo[2]) p.f_layout = p.u_layout = layout_with_halo(&b, j->halo);
  p.beta = j->beta ? there[BETA] : NULL, p.sigma = j->sigma ? there[SIGMA] : NULL;
  for (int a = 0; a < 3; a++) p.beta_face[a] = j->beta_face[a] ? there[FACE + a] : NULL;
  gmg_status status = gmg_solver_create(c, &p, &j->params, &s);
  if (!status && j->wall) status = set_wall(j, &b, s);
  if (!status) status = gmg_solve(s, there[F], there[U], &j->report[r]);
  if (!status && on_device) { /* again, as recorded */
    copy_to(there[U], mine[U], count[U]);
    status = gmg_solve(s, there[F], there[U], &j->report[r]);
  }
  for (int i = 0; s && i < j->report[r].history_length; i++) j->history[r][i] = j->report[r].history[i];
  copy_back(mine[U], there[U], count[U]);
  if (j->u) give_result(j, &b, mine[U], j->u);
  for (int residual = 0; residual < 2; residual++) {
    double *to = residual ? j->r : j->z;
    if (!s || !to) continue;
    const gmg_status later = residual ? gmg_residual(s, there[F], there[U], there[Z]) : gmg_precondition(s, there[F], there[Z]);
    if (!status) status = later;
    copy_back(mine[Z], there[Z], count[Z]);
    give_result(j, &b, mine[Z], to);
  }
  snprintf(j->text[r], JOB_TEXT, "%s", gmg_context_error(c));
  j->status[r] = status;
  if (s && j->then) {
    j->status[r] = j->then(j, r, c, s, &p, there[F], there[U]);
    snprintf(j->text[r], JOB_TEXT, "%s", gmg_context_error(c));
  }
  gmg_solver_destroy(s);
  for (int i = 0; i < ARRAYS; i++) drop(mine[i], there[i], count[i]), free(mine[i]);
  end_context_of(c);
}

/* --- in one process ------------------------------------------------------------------------------------------------------------- */

alone solve_alone(const job *j)
{
  const size_t n = unknowns(&j->problem);
  alone x = {.u = field(n, 0), .z = field(n, 0), .r = field(n, 0)};
  gmg_problem p = j->problem;
  p.beta = j->beta, p.sigma = j->sigma;
  for (int a = 0; a < 3; a++) p.beta_face[a] = j->beta_face[a];
  if (j->guess) memcpy(x.u, j->guess, n * sizeof *x.u);
  x.s = begin_solver(&p, &j->params, 1);
  if (j->wall) assert_int_equal(set_values_in(&x.s, 0, 1, j->wall), GMG_OK);
  x.status = solve_in(&x.s, j->f, x.u, &x.report);
  precondition_in(&x.s, j->f, x.z);
  residual_in(&x.s, j->f, x.u, x.r);
  return x;
}

void end_alone(alone *x)
{
  end_solver(&x->s);
  free(x->u), free(x->z), free(x->r);
}

/* --- both ------------------------------------------------------------------------------------------------------------------------ */

void expect_error(const job *j, int ranks, gmg_status status, const char *words)
{
  for (int r = 0; r < ranks; r++) {
    if (j->status[r] != status) fail_msg("rank %d: status %d instead of %d, %s", r, j->status[r], status, j->text[r]);
    if (!strstr(j->text[r], words)) fail_msg("rank %d: \"%s\" is not in \"%s\"", r, words, j->text[r]);
    assert_string_equal(j->text[r], j->text[0]);
  }
}

double distance(const double *x, const double *y, size_t n)
{
  double sum = 0;
  for (size_t i = 0; i < n; i++) sum += (x[i] - y[i]) * (x[i] - y[i]);
  return sqrt(sum);
}

double *positive(size_t n, uint64_t seed)
{
  double *x = field(n, seed);
  for (size_t i = 0; i < n; i++) x[i] = fabs(x[i]) < 0.02 ? 30 : 1 + x[i];
  return x;
}
