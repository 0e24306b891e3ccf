/* See fault.h. */
#include "fault.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#ifdef GMG_CUDA
#include <cuda_runtime_api.h>
#endif

struct faulty {
  gmg_smoother smoother; /* first: the parameters of a level lead here */
  gmg_smoother_ops ops[2][2];
  const gmg_smoother *inner;
  fault fault;
  int cycle, done; /* 1: the bit has been flipped */
  size_t changed;
  gmg_type type;   /* the caller's u */
  size_t cells;
  void *u;
  char *before, *after; /* a copy of a level's u on the host */
  unsigned char *lost;
  int lost_level; /* the level to which `lost` belongs; -1: none */
  const gmg_smoother_level *finest;
  void *state; /* the smoother's state of the finest level */
  int device;
};

static faulty *faulty_of(const gmg_smoother_level *l) { return (faulty *)l->params->smoother; }

static size_t size_of(gmg_type type) { return type == GMG_F32 ? sizeof(float) : sizeof(double); }

/* Copies to or from the solver's memory, after all work enqueued there. gmg reports errors of the device. */
static void copy(const faulty *s, void *to, const void *from, size_t bytes)
{
#ifdef GMG_CUDA
  if (s->device) {
    (void)cudaMemcpy(to, from, bytes, cudaMemcpyDefault);
    return;
  }
#endif
  (void)s;
  memcpy(to, from, bytes);
}

/* --- what breaks --- */

/* Marks `count` of `total` at random (Fan, Muller, Rezucha 1962). */
static void choose(unsigned long seed, size_t total, size_t count, unsigned char *mark)
{
  uint64_t state = seed;
  for (size_t i = 0; i < total; i++) {
    mark[i] = study_uniform(&state) * (double)(total - i) < (double)count;
    count -= mark[i];
  }
}

/* Blocks as in async: `block` unknowns or fewer along an axis. Walks backwards, so that the marks of unknowns may overwrite those
   of blocks. */
size_t study_faulty_lost(const fault *f, const size_t n[3], const size_t block[3], unsigned char *mark)
{
  size_t side[3], count[3], lost = 0;
  for (int a = 0; a < 3; a++) {
    side[a] = f->scattered ? 1 : block[a] && block[a] < n[a] ? block[a] : n[a];
    count[a] = (n[a] + side[a] - 1) / side[a];
  }
  const size_t total = count[0] * count[1] * count[2], wanted = (size_t)(f->share * (double)total + 0.5);
  choose(f->seed, total, wanted ? wanted : 1, mark);
  for (size_t c = n[0] * n[1] * n[2]; c-- > 0;) {
    const size_t i = c % n[0], j = c / n[0] % n[1], k = c / (n[0] * n[1]);
    mark[c] = mark[i / side[0] + count[0] * (j / side[1] + count[1] * (k / side[2]))];
    lost += mark[c];
  }
  return lost;
}

/* Lost unknowns keep their value from before the sweep. */
static void put_back(faulty *s, size_t cells, size_t size)
{
  for (size_t i = 0; i < cells; i++) {
    if (!s->lost[i]) continue;
    s->changed += memcmp(s->after + i * size, s->before + i * size, size) != 0;
    memcpy(s->after + i * size, s->before + i * size, size);
  }
}

static void flip(faulty *s, gmg_type type, size_t cells, void *u)
{
  const size_t size = size_of(type);
  char *at = (char *)u + (size_t)(s->fault.place * (double)cells) * size;
  unsigned char bytes[sizeof(double)], now[sizeof(double)];
  const int bit = s->fault.bit % (int)(8 * size);
  if (s->done++) return;
  copy(s, bytes, at, size);
  memcpy(now, bytes, size);
  now[bit / 8] ^= (unsigned char)(1 << bit % 8); /* little endian: the lowest byte is first */
  copy(s, at, now, size);
  copy(s, now, at, size);
  s->changed += memcmp(now, bytes, size) != 0;
}

static int strikes(const faulty *s, int level)
{
  const fault *f = &s->fault;
  return f->kind != FAULT_NONE && f->level == level && s->cycle >= f->first && s->cycle < f->first + f->cycles;
}

/* The residual computed from the problem alone, to check the residual that the solver reports. */
double study_fault_residual(const gmg_problem *p, const double *f, const double *u, const unsigned char *mark, double *marked)
{
  const size_t n[3] = {p->n[0], p->dim > 1 ? p->n[1] : 1, p->dim > 2 ? p->n[2] : 1}, step[3] = {1, n[0], n[0] * n[1]};
  double sum[2] = {0, 0}, weight[3] = {0, 0, 0};
  size_t at[3], c = 0;
  for (int a = 0; a < p->dim; a++) weight[a] = 1 / (p->h[a] * p->h[a]);
  for (at[2] = 0; at[2] < n[2]; at[2]++)
    for (at[1] = 0; at[1] < n[1]; at[1]++)
      for (at[0] = 0; at[0] < n[0]; at[0]++, c++) {
        double r = f[c] - p->shift * u[c];
        for (int a = 0; a < p->dim; a++) {
          const double below = at[a] > 0 ? u[c - step[a]] : 0, above = at[a] + 1 < n[a] ? u[c + step[a]] : 0;
          r -= (2 * u[c] - below - above) * weight[a];
        }
        sum[mark && mark[c]] += r * r;
      }
  if (marked) *marked = sqrt(sum[1]);
  return sqrt(sum[0] + sum[1]);
}

/* --- sweeps --- */

static const gmg_smoother_ops *ops_of(const faulty *s, gmg_type type)
{
  return s->inner->ops[s->device ? GMG_BACKEND_CUDA : GMG_BACKEND_HOST][type];
}

static void inner_sweep(const gmg_smoother_level *l, void *state, const void *f, void *u, int steps, gmg_leg leg, int zero)
{
  const gmg_smoother_ops *ops = ops_of(faulty_of(l), l->A->type);
  if (zero) ops->sweep_from_zero(l, state, f, u, steps, leg);
  else ops->sweep(l, state, f, u, steps, leg);
}

static void sweep_without_blocks(const gmg_smoother_level *l, void *state, const void *f, void *u, int steps, gmg_leg leg, int zero)
{
  faulty *s = faulty_of(l);
  const gmg_operator *A = l->A;
  const size_t size = size_of(A->type);
  if (s->lost_level != l->index) study_faulty_lost(&s->fault, A->n, l->params->async.block, s->lost);
  s->lost_level = l->index;
  if (zero) memset(s->before, 0, A->cells * size);
  else copy(s, s->before, u, A->cells * size);
  inner_sweep(l, state, f, u, steps, leg, zero);
  copy(s, s->after, u, A->cells * size);
  put_back(s, A->cells, size);
  copy(s, u, s->after, A->cells * size);
}

/* A lost correction: on the upward leg u is what it was on the downward leg. */
static void lose_correction(faulty *s, const gmg_operator *A, void *u)
{
  const size_t size = size_of(A->type);
  copy(s, s->after, u, A->cells * size);
  for (size_t i = 0; i < A->cells; i++) s->changed += memcmp(s->after + i * size, s->before + i * size, size) != 0;
  copy(s, u, s->before, A->cells * size);
}

static void disturbed(const gmg_smoother_level *l, void *state, const void *f, void *u, int steps, gmg_leg leg, int zero)
{
  faulty *s = faulty_of(l);
  const int here = strikes(s, l->index), up = leg != GMG_LEG_DOWN;
  const fault_kind kind = here ? s->fault.kind : FAULT_NONE;
  if (kind == FAULT_CORRECTION && up) lose_correction(s, l->A, u);
  if (kind == FAULT_BLOCKS) sweep_without_blocks(l, state, f, u, steps, leg, zero);
  else inner_sweep(l, state, f, u, steps, leg, zero);
  if (kind == FAULT_CORRECTION && !up) copy(s, s->before, u, l->A->cells * size_of(l->A->type));
  if (kind == FAULT_BIT && up == s->fault.up) flip(s, l->A->type, l->A->cells, u);
}

static void sweep(const gmg_smoother_level *l, void *state, const void *f, void *u, int steps, gmg_leg leg)
{
  disturbed(l, state, f, u, steps, leg, 0);
}

static void sweep_from_zero(const gmg_smoother_level *l, void *state, const void *f, void *u, int steps, gmg_leg leg)
{
  disturbed(l, state, f, u, steps, leg, 1);
}

/* --- the smoother --- */

static gmg_status update(const gmg_smoother_level *l, void *state, int device)
{
  faulty *s = faulty_of(l);
  s->device = device;
  if (l->index == 0) s->finest = l, s->state = state;
  const gmg_smoother_ops *ops = ops_of(s, l->A->type);
  return ops->update ? ops->update(l, state) : GMG_OK;
}

static gmg_status update_host(const gmg_smoother_level *l, void *state) { return update(l, state, 0); }

static gmg_status update_cuda(const gmg_smoother_level *l, void *state) { return update(l, state, 1); }

static unsigned traits(const gmg_params *p, int threads)
{
  return study_traits_of(((const faulty *)p->smoother)->inner, p, threads);
}

/* A smoother with these functions only, so that every sweep passes through them. */
static const gmg_smoother_ops *wrapped(gmg_smoother_ops *to, const gmg_smoother_ops *inner,
                                       gmg_status (*update_here)(const gmg_smoother_level *, void *))
{
  if (!inner) return NULL;
  *to = (gmg_smoother_ops){.setup = inner->setup, .update = update_here, .sweep = sweep, .destroy = inner->destroy,
                           .sweep_from_zero = inner->sweep_from_zero ? sweep_from_zero : NULL};
  return to;
}

faulty *study_faulty_create(const gmg_smoother *inner, size_t cells)
{
  faulty *s = calloc(1, sizeof *s);
  if (!s) return NULL;
  s->before = malloc(cells * sizeof(double)), s->after = malloc(cells * sizeof(double)), s->lost = malloc(cells);
  if (!s->before || !s->after || !s->lost) {
    study_faulty_destroy(s);
    return NULL;
  }
  s->inner = inner;
  s->smoother = *inner;
  s->smoother.traits = traits;
  for (int type = GMG_F64; type <= GMG_F32; type++) {
    const gmg_smoother_ops *host = inner->ops[GMG_BACKEND_HOST][type], *cuda = inner->ops[GMG_BACKEND_CUDA][type];
    s->smoother.ops[GMG_BACKEND_HOST][type] = wrapped(&s->ops[GMG_BACKEND_HOST][type], host, update_host);
    s->smoother.ops[GMG_BACKEND_CUDA][type] = wrapped(&s->ops[GMG_BACKEND_CUDA][type], cuda, update_cuda);
  }
  return s;
}

void study_faulty_destroy(faulty *s)
{
  if (!s) return;
  free(s->before), free(s->after), free(s->lost);
  free(s);
}

const gmg_smoother *study_faulty_smoother(const faulty *s) { return &s->smoother; }

void study_faulty_set(faulty *s, const fault *f, gmg_type type, size_t cells, void *u)
{
  s->fault = *f;
  s->cycle = s->done = 0, s->changed = 0, s->lost_level = -1;
  s->type = type, s->cells = cells, s->u = u;
}

size_t study_faulty_changed(const faulty *s) { return s->changed; }

/* A solver cannot notice a flip after its last test. So the bit is flipped while the solve goes on, unless the fault is meant to
   be late. */
int study_faulty_monitor(void *data, int cycle, double residual, double target)
{
  faulty *s = data;
  s->cycle = cycle;
  if (s->fault.kind == FAULT_BIT && strikes(s, -1) && (residual <= target) == s->fault.late) flip(s, s->type, s->cells, s->u);
  return 0;
}

void study_faulty_relax(faulty *s, const void *f, void *u)
{
  disturbed(s->finest, s->state, f, u, 1, GMG_LEG_DOWN, 0);
  s->cycle++;
}
