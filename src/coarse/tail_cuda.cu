/* The small levels of a cycle by one thread block, in shared memory: one launch instead of five a level and of what lies between
   them. A level is one block of unknowns, so smoothing is red-black relaxation of the whole level, which is what the asynchronous
   smoother becomes there. For constant coefficients on even meshes without periodic axes. The kernels are in tail_cuda.cuh; here
   stand what fits, the tables and the launches. */
extern "C" {
#include "tail.h"
}

#include "tail_cuda.cuh"

#include <stdlib.h>

/* The next `bytes` of the tables. */
static void *take(char *tables, size_t *used, size_t bytes)
{
  void *p = tables + *used;
  *used += (bytes + 15) / 16 * 16;
  return p;
}

static void take_map(char *tables, size_t *used, const gmg_map map[3], taps *t)
{
  for (int a = 0; a < 3; a++) {
    t->at[a] = (unsigned short *)take(tables, used, (size_t)map[a].rows * TAPS * sizeof(unsigned short));
    t->weight[a] = (real *)take(tables, used, (size_t)map[a].rows * TAPS * sizeof(real));
    t->taps[a] = map[a].width;
  }
}

/* Levels, with places in shared memory and in the tables. */
static tail_state layout(const gmg_tail_problem *p, char *tables, small_level *level)
{
  tail_state s = {p->levels, p->pre, p->post, p->reversed, p->singular, p->rtol};
  unsigned widest = 0;
  for (int l = 0; l < p->levels; l++) {
    const gmg_tail_level *from = &p->level[l];
    const gmg_operator *A = &from->A;
    small_level L = {};
    unsigned all = 1;
    for (int a = 0; a < 3; a++) {
      L.n[a] = (int)A->n[a], L.pad[a] = L.n[a] > 1 ? L.n[a] + 2 : 1;
      L.stride[a] = L.n[a] > 1 ? (int)all : 0;
      L.coupling[a] = (real)A->coupling[a];
      all *= (unsigned)L.pad[a];
    }
    L.cells = (unsigned)A->cells, L.colour = (L.n[0] + 1) / 2 * (unsigned)(L.n[1] * L.n[2]);
    L.shift = A->shift, L.omega = from->omega, L.whole = from->volume;
    L.u = s.r, L.f = s.r + all, s.r += all + 2 * L.colour;
    widest = all > widest ? all : widest;
    L.entry = (unsigned *)take(tables, &s.bytes, 2 * L.colour * sizeof(unsigned));
    L.diag = (real *)take(tables, &s.bytes, 2 * L.colour * sizeof(real));
    L.relax = (real *)take(tables, &s.bytes, 2 * L.colour * sizeof(real));
    L.volume = (double *)take(tables, &s.bytes, 2 * L.colour * sizeof(double));
    if (l + 1 < p->levels) take_map(tables, &s.bytes, from->restrict_, &L.restrict_), take_map(tables, &s.bytes, from->prolong, &L.prolong);
    L.global_f = (const real *)from->f, L.global_u = (real *)from->u;
    level[l] = L;
  }
  s.all = s.r + widest;
  return s;
}

static int fits(const gmg_exec *e, const gmg_tail_problem *p)
{
  small_level level[GMG_TAIL_LEVELS];
  (void)e;
  for (int l = 0; l < p->levels; l++) {
    const gmg_tail_level *L = &p->level[l];
    if (L->A.cells > MOST || gmg_kind_of(&L->A) != GMG_CONSTANT || L->A.n[2] > 255) return 0;
    for (int a = 0; a < 3; a++) {
      if (L->A.wraps[a] || (L->A.n[a] > 1 && L->A.uniform[a] != 2)) return 0;
      if (l + 1 < p->levels && (L->restrict_[a].width > TAPS || L->prolong[a].width > TAPS)) return 0;
    }
  }
  const tail_state s = layout(p, NULL, level);
  return level[p->levels - 1].colour <= FEW && s.all * sizeof(real) <= ROOM;
}

static void prepare_maps(const gmg_exec *e, const gmg_map map[3], const int layer[3], const taps *t)
{
  for (int a = 0; a < 3; a++) {
    prepare_map_kernel<<<1, GMG_THREADS, 0, gmg_device_of(e)->stream>>>(map[a], layer[a], (unsigned short *)t->at[a], (real *)t->weight[a]);
    gmg_cuda_launched(e, "small levels");
  }
}

static void update(const gmg_exec *e, const gmg_tail_problem *p, void *state)
{
  tail_state *s = (tail_state *)state;
  small_level level[GMG_TAIL_LEVELS], *const device = s->level;
  void *const tables = s->tables;
  if (e->dry) return;
  *s = layout(p, (char *)tables, level);
  s->level = device, s->tables = tables;
  e->memory->upload(e->context, device, level, (size_t)p->levels * sizeof *level); /* not pinned: read when the call returns */
  for (int l = 0; l < p->levels; l++) {
    prepare_kernel<<<1, GMG_THREADS, 0, gmg_device_of(e)->stream>>>(p->level[l].A, level[l]);
    gmg_cuda_launched(e, "small levels");
    if (l + 1 == p->levels) continue;
    int fine[3], coarse[3];
    for (int a = 0; a < 3; a++) fine[a] = level[l].n[a] > 1, coarse[a] = level[l + 1].n[a] > 1;
    prepare_maps(e, p->level[l].restrict_, fine, &level[l].restrict_);
    prepare_maps(e, p->level[l].prolong, coarse, &level[l].prolong);
  }
}

static gmg_status setup(gmg_exec *e, const gmg_tail_problem *p, void **state)
{
  small_level level[GMG_TAIL_LEVELS];
  tail_state *s = (tail_state *)calloc(1, sizeof *s);
  *state = s;
  if (!s) return gmg_fail(e->context, GMG_ERR_MEMORY, "state of the small levels could not be allocated");
  *s = layout(p, NULL, level);
  GMG_TRY(gmg_exec_alloc(e, "small levels", (size_t)p->levels * sizeof *s->level, (void **)&s->level));
  GMG_TRY(gmg_exec_alloc(e, "tables of the small levels", s->bytes, &s->tables));
  if (e->dry) return GMG_OK;
  gmg_cuda_note(gmg_device_of(e), cudaFuncSetAttribute((const void *)tail_kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, ROOM),
                "small levels");
  update(e, p, s);
  return GMG_OK;
}

static void destroy(gmg_exec *e, void *state)
{
  tail_state *s = (tail_state *)state;
  if (!s) return;
  gmg_exec_release(e, s->level, (size_t)s->levels * sizeof *s->level);
  gmg_exec_release(e, s->tables, s->bytes);
  free(s);
}

static void cycle(const gmg_exec *e, void *state, int l, gmg_cycle_kind kind, int from_zero)
{
  const tail_state *s = (const tail_state *)state;
  tail_kernel<<<1, THREADS, s->all * sizeof(real), gmg_device_of(e)->stream>>>(*s, l, (int)kind, from_zero);
  gmg_cuda_launched(e, "small levels");
}

extern "C" const gmg_tail_ops R(gmg_tail_cuda) = {.fits = fits, .setup = setup, .update = update, .cycle = cycle, .destroy = destroy};
