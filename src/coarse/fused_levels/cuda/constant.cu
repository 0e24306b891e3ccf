/* The small levels of a cycle in one launch, in shared memory, instead of five launches a level and of what lies between them: by a
   cluster of thread blocks where the device has them, or by one. A level is one block of unknowns, so smoothing is red-black
   relaxation of the whole level, which is what the asynchronous smoother becomes there. For constant coefficients on even meshes
   without periodic axes. The kernels are in cuda/kernels.cuh; here stand what fits, the places in memory and the launches. */
#include "coarse/cuda/kernels.h"
#include "kernels.cuh"

#include <stdlib.h>

/* Unknowns of a level: ALONE: every block does all of it; MOST: a cluster of 16 does. One cycle on an H200, in float, in us, all
   that follows included: from 8^3 on 9, 16^3 18 (21 in launches of its own, to which the rest comes), 32^3 29 (21 + 18); had 8^3
   been spread, too, 12, 20 and 31. */
enum { ALONE = 2048, MOST = 32768 };

/* The next `count` of the tables, in sizes of `size`. */
static int take(fused_state *s, size_t count, size_t size)
{
  const size_t place = (s->bytes + size - 1) / size;
  s->bytes = (place + count) * size;
  return (int)place;
}

static void take_map(fused_state *s, const gmg_map map[3], const int axis[3], taps *t)
{
  for (int a = 0; a < 3; a++) {
    const gmg_map *m = &map[axis[a]];
    t->first[a] = take(s, (size_t)m->rows, sizeof(int));
    t->weight[a] = take(s, (size_t)m->rows * TAPS, sizeof(real));
    t->taps[a] = m->width;
  }
}

static int goes_by_averages(const small_level *L, const gmg_map map[3])
{
  for (int a = 0; a < 3; a++)
    if (map[a].width != 2 || map[a].pairs != GMG_PAIRS_AVERAGE) return 0;
  return L->parts == 1 || L->high % 2 == 0;
}

static int comes_by_pairs(const small_level *L, const gmg_operator *C, const gmg_map map[3], const int axis[3])
{
  for (int a = 0; a < 3; a++)
    if (map[axis[a]].width != 2 || map[axis[a]].pairs != GMG_PAIRS_LINEAR || 2 * C->n[axis[a]] != (size_t)L->n[a]) return 0;
  return 1;
}

static void shape(small_level *L, const gmg_bottom_level *from, const int axis[3], int parts)
{
  const gmg_operator *A = from->A;
  for (int a = 0; a < 3; a++) L->n[a] = (int)A->n[axis[a]], L->coupling[a] = (real)A->coupling[axis[a]];
  L->keep = (real)(1 - from->omega);
  L->half = (L->n[0] + 1) / 2;
  L->line = L->n[1] > 1 ? L->half : 0;
  L->plane = L->half * (L->n[1] > 1 ? L->n[1] + 2 : 1);
  L->parts = A->cells > ALONE ? parts : 1;
  L->high = (L->n[2] + L->parts - 1) / L->parts;
  if (L->parts > 1) L->high += L->high % 2; /* pairs of planes stay together */
  L->colour = (unsigned)(L->plane * (L->high + 2)), L->inner = (unsigned)(L->half * L->n[1] * L->high);
  L->per_half = 1.f / (float)L->half, L->per_lines = 1.f / (float)L->n[1];
}

/* Whether planes of the next coarser level have to be brought, and the room for them or for what needs more. */
static unsigned gather(small_level *L, const small_level *C, const gmg_map *map, unsigned room)
{
  L->gathers = C->parts > 1 && !(map->pairs == GMG_PAIRS_LINEAR && L->halved && L->high == 2 * C->high);
  const unsigned brought = L->gathers ? 2 * (unsigned)(C->plane * (L->halved ? L->high / 2 + 3 : L->high + 1)) : 0;
  return brought > room ? brought : room;
}

/* Levels by so many blocks, with places in shared memory and in the tables. */
static fused_state layout(const gmg_bottom_problem *p, int parts)
{
  fused_state s = {};
  const int last = p->levels - 1;
  s.levels = p->levels, s.pre = p->pre, s.post = p->post, s.reversed = p->reversed, s.singular = p->singular, s.rtol = p->rtol;
  s.swapped = p->level[0].A->n[2] == 1, s.parts = parts;
  const int axis[3] = {0, s.swapped ? 2 : 1, s.swapped ? 1 : 2};
  unsigned room = DENSE;
  for (int l = 0; l < p->levels; l++) {
    const gmg_bottom_level *from = &p->level[l];
    small_level *L = &s.level[l];
    shape(L, from, axis, parts), L->number = l;
    L->relax = take(&s, CLASSES, sizeof(real)), L->diag = take(&s, CLASSES, sizeof(real));
    if (l < last) {
      take_map(&s, from->restrict_, axis, &L->restrict_), take_map(&s, from->prolong, axis, &L->prolong);
      L->halved = p->level[l + 1].A->n[axis[2]] < from->A->n[axis[2]];
      L->averaged = goes_by_averages(L, from->restrict_);
      L->linear = comes_by_pairs(L, p->level[l + 1].A, from->prolong, axis);
    }
    L->u = s.fields, s.fields += 2 * L->colour;
    if (L->inner > THREADS || L->colour > 0xffff) return fused_state{};
    L->words = s.pairs, s.pairs += L->inner;
    const unsigned residual = 2 * (l < last ? L->inner : L->colour);
    room = residual > room ? residual : room;
  }
  for (int l = 0; l < last; l++) room = gather(&s.level[l], &s.level[l + 1], &p->level[l].prolong[axis[2]], room);
  s.inverse = 2 * s.level[last].inner <= DENSE ? take(&s, 1 + DENSE * PITCH, sizeof(real)) : -1;
  s.bytes = (s.bytes + 15) / 16 * 16, s.pairs = (s.pairs + 3) / 4 * 4;
  s.fields = (s.fields + 3) / 4 * 4, s.r = s.fields;
  for (int l = 0; l < p->levels; l++) s.level[l].f = s.r, s.r += 2 * s.level[l].inner;
  s.all = s.r + room;
  return s;
}

static size_t memory_of(const fused_state *s) { return s->bytes + s->pairs * sizeof(unsigned) + s->all * sizeof(real); }
static size_t table_bytes(const fused_state *s) { return s->bytes + (size_t)s->parts * s->pairs * sizeof(unsigned); }

/* A launch by `parts` blocks, one cluster. */
static cudaLaunchConfig_t config_of(const gmg_exec *e, const fused_state *s, int parts, cudaLaunchAttribute *cluster)
{
  cudaLaunchConfig_t c = {};
  cluster->id = cudaLaunchAttributeClusterDimension;
  cluster->val.clusterDim.x = (unsigned)parts, cluster->val.clusterDim.y = cluster->val.clusterDim.z = 1;
  c.gridDim = dim3((unsigned)parts), c.blockDim = dim3(THREADS), c.dynamicSmemBytes = memory_of(s),
  c.stream = gmg_device_of(e)->stream;
  c.attrs = cluster, c.numAttrs = parts > 1;
  return c;
}

/* Whether the device takes it. */
static int is_taken(const gmg_exec *e, const fused_state *s)
{
  cudaLaunchAttribute cluster;
  cudaFuncAttributes of;
  const int number = gmg_device_of(e)->number;
  int most = 0, clusters = 0, major = 0;
  if (cudaDeviceGetAttribute(&most, cudaDevAttrMaxSharedMemoryPerBlockOptin, number) != cudaSuccess ||
      cudaFuncGetAttributes(&of, (const void *)fused_kernel) != cudaSuccess || memory_of(s) + of.sharedSizeBytes > (size_t)most)
    return 0;
  /* one for all solvers */
  cudaFuncSetAttribute((const void *)fused_kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, most - (int)of.sharedSizeBytes);
  if (s->parts == 1) return 1;
  cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, number);
  if (major < 9 || of.binaryVersion < 90 || of.ptxVersion < 90) return 0; /* PTX for less, too, becomes code for what there is */
  cudaFuncSetAttribute((const void *)fused_kernel, cudaFuncAttributeNonPortableClusterSizeAllowed, 1);
  const cudaLaunchConfig_t c = config_of(e, s, s->parts, &cluster);
  const cudaError_t error = cudaOccupancyMaxActiveClusters(&clusters, (const void *)fused_kernel, &c);
  (void)cudaGetLastError(); /* where clusters are so large */
  return error == cudaSuccess && clusters > 0;
}

/* The levels by as many blocks as there can be; parts = 0: not at all. */
static fused_state plan(const gmg_exec *e, const gmg_bottom_problem *p)
{
  static const int parts[] = {16, 8, 1};
  size_t most = 0;
  for (int l = 0; l < p->levels; l++) most = p->level[l].A->cells > most ? p->level[l].A->cells : most;
  for (int i = most > ALONE ? 0 : 2; i < 3; i++) {
    if (parts[i] == 1 && most > ALONE) break;
    const fused_state s = layout(p, parts[i]);
    if (s.parts && is_taken(e, &s)) return s;
  }
  return fused_state{};
}

static int fits(const gmg_exec *e, const gmg_bottom_problem *p)
{
  if (p->coarsest != GMG_COARSE_CG) return 0;
  for (int l = 0; l < p->levels; l++) {
    const gmg_bottom_level *L = &p->level[l];
    if (L->A->cells > MOST || gmg_kind_of(L->A) != GMG_CONSTANT) return 0;
    for (int a = 0; a < 3; a++) {
      if (L->A->wraps[a] || (L->A->n[a] > 1 && L->A->uniform[a] != 2)) return 0;
      if (l + 1 == p->levels) continue;
      if (L->restrict_[a].width > TAPS || L->prolong[a].width > 2) return 0;
      if (L->restrict_[a].width > L->restrict_[a].cols || L->prolong[a].width > L->prolong[a].cols) return 0;
    }
  }
  return p->level[p->levels - 1].A->cells <= FEW && plan(e, p).parts > 0;
}

static gmg_status update(gmg_exec *e, const gmg_bottom_problem *p, void *state)
{
  fused_state *s = (fused_state *)state;
  void *const tables = s->tables;
  if (e->dry) return GMG_OK;
  const cudaStream_t stream = gmg_device_of(e)->stream;
  *s = layout(p, s->parts);
  s->tables = tables;
  const int axis[3] = {0, s->swapped ? 2 : 1, s->swapped ? 1 : 2}, last = s->levels - 1;
  for (int l = 0; l <= last; l++) {
    maps m = {};
    for (int a = 0; a < 3; a++) m.restrict_[a] = p->level[l].restrict_[axis[a]], m.prolong[a] = p->level[l].prolong[axis[a]];
    prepare_kernel<<<(unsigned)s->parts, GMG_THREADS, 0, stream>>>(*p->level[l].A, s->level[l], m, s->swapped, p->level[l].omega,
                                                                   l < last, (real *)tables,
                                                                   (unsigned *)((char *)tables + s->bytes), s->pairs);
    gmg_cuda_launched(e, "small levels");
  }
  if (s->inverse < 0) return GMG_OK;
  invert_kernel<<<1, GMG_THREADS, 0, stream>>>(*p->level[last].A, s->level[last], s->swapped, s->singular,
                                               (real *)tables + s->inverse);
  gmg_cuda_launched(e, "small levels");
  return GMG_OK;
}

static gmg_status setup(gmg_exec *e, const gmg_bottom_problem *p, void **state)
{
  static_assert(sizeof(fused_state) <= 4000, "they are parameters of a kernel");
  fused_state *s = (fused_state *)calloc(1, sizeof *s);
  *state = s;
  if (!s) return gmg_fail(e->context, GMG_ERR_MEMORY, "state of the small levels could not be allocated");
  *s = plan(e, p);
  GMG_TRY(gmg_exec_alloc(e, "tables of the small levels", table_bytes(s), &s->tables));
  if (e->dry) return GMG_OK;
  e->vector->fill(e, table_bytes(s) / sizeof(real), 0, s->tables); /* read by 16 bytes, gaps and all */
  return GMG_OK;
}

static void destroy(gmg_exec *e, const gmg_bottom_problem *p, void *state)
{
  (void)p;
  fused_state *s = (fused_state *)state;
  if (!s) return;
  gmg_exec_release(e, s->tables, table_bytes(s));
  free(s);
}

static void solve(const gmg_exec *e, const gmg_bottom_problem *p, void *state, int l, void *f, void *u, gmg_cycle_kind kind,
                  gmg_start start)
{
  (void)p;
  const fused_state *s = (const fused_state *)state;
  cudaLaunchAttribute attributes[2];
  cudaLaunchConfig_t c = config_of(e, s, s->level[l].parts, attributes);
  /* it fetches the tables before it waits: they are older than the kernel ahead, as f of these levels comes from a finer one first */
  c.numAttrs += gmg_early_attribute(gmg_device_of(e), attributes + c.numAttrs);
  int cycle_kind = (int)kind, zero = start == GMG_FROM_ZERO || l + 1 == s->levels; /* the coarsest is solved whatever stands there */
  void *arguments[] = {(void *)s, &l, &f, &u, &cycle_kind, &zero};
  gmg_cuda_note(gmg_device_of(e), cudaLaunchKernelExC(&c, (const void *)fused_kernel, arguments), "small levels");
}

extern "C" const gmg_bottom_ops R(gmg_fused_constant_cuda) = {.name = "fused levels, constant coefficients",
                                                              .max_cells = 0,
                                                              .preferred_cells = 0,
                                                              .fits = fits,
                                                              .setup = setup,
                                                              .update = update,
                                                              .solve = solve,
                                                              .destroy = destroy};
