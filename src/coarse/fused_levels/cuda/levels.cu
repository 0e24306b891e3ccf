/* Fused levels of 7-point operators. One launch runs a cycle on all small levels in shared memory; launching each operation takes
   five launches per level. It runs on a cluster of thread blocks if the device has clusters, and on one block otherwise. The
   smoother is red-black relaxation of the whole level; across the seam of an odd periodic axis two unknowns of one colour are
   relaxed at the same time. A smoother says how many such sweeps replace its step.

   Constant coefficients on uniform meshes take a kernel of their own. In the other, every unknown has a row.

   This file decides which levels fit, lays out memory, and launches the kernel in kernels.cuh. Called through gmg_bottom_ops. */
#include "coarse/cuda/kernels.h"
#include "inversion.cuh"
#include "kernels.cuh"
#include "stencil/operator/cuda/uniform_columns.cuh"

extern "C" {
#include "coarse/fused_levels/testing.h"
}

/* Largest level that every block processes as a whole, and largest level that a cluster of 16 blocks shares. Times of a V cycle in
   float on an H100, including all coarser levels, cells with Dirichlet walls (18f44b1): from 16^3 14 us, from 32^3 24 us. With
   separate launches, 16^3 and 32^3 take 21 us each on an H200, without their coarser levels. */
enum { MAX_CELLS_ONE_BLOCK = 2048, MAX_CELLS_CLUSTER = 32768 };

/* Up to this condition the inverse of an exact level with rows has enough digits. It is computed in double. */
static const double MAX_CONDITION_EXACT = 1e11;

/* Reserves `count` entries of `size` bytes in the tables. Returns their position in units of `size`. */
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
    t->weight[a] = take(s, (size_t)m->rows * MAX_TAPS, sizeof(real));
    t->taps[a] = m->width;
  }
}

/* Whether residuals are averages of pairs along all axes, with equal weights, and no pair is split between blocks. gathers: it may
   be split, because planes are gathered. */
static int restricts_averages(const small_level *L, const gmg_map map[3], int gathers)
{
  for (int a = 0; a < 3; a++) {
    const gmg_map *m = &map[a];
    if (m->width != 2 || m->pairs != GMG_PAIRS_AVERAGE) return 0;
    if (m->period != 1 || m->begin > 0 || m->end < m->rows || m->repeat[0][0] != m->repeat[0][1]) return 0;
  }
  return gathers || L->blocks == 1 || L->depth % 2 == 0;
}

/* What is beyond the ends of an axis (GMG_WRAPS and so on). gmg_operator::mirrors is found from inner couplings, of which an axis
   with two unknowns has none. */
static int ends_of(const gmg_bottom_level *from, int a)
{
  const gmg_axis_spec *s = &from->axis[a];
  int ends = gmg_ends_of(from->A, a);
  for (int side = 0; side < 2 && from->A->n[a] == 2 && s->centering == GMG_VERTEX; side++)
    if (s->bc[side] == GMG_NEUMANN || s->bc[side] == GMG_ROBIN) ends |= side ? GMG_MIRRORS_ABOVE : GMG_MIRRORS_BELOW;
  return ends;
}

/* Whether all couplings along an axis are equal, if walls may mirror. */
static int has_equal_couplings(const gmg_bottom_level *from, int a)
{
  const gmg_operator *A = from->A;
  return A->n[a] == 1 || A->uniform[a] == 2 || A->mirrors[a][0] || A->mirrors[a][1] ||
         (A->n[a] == 2 && gmg_axis_is_uniform(&from->axis[a]));
}

/* pairs: pairs of planes belong to one block */
static void shape(small_level *L, const gmg_bottom_level *from, const int axis[3], int blocks, int pairs)
{
  const gmg_operator *A = from->A;
  L->volume = 1;
  for (int a = 0; a < 3; a++) {
    L->n[a] = (int)A->n[axis[a]], L->coupling[a] = (real)A->coupling[axis[a]], L->ends[a] = ends_of(from, axis[a]);
    L->volume *= L->n[a] - 0.5 * (!!(L->ends[a] & GMG_MIRRORS_BELOW) + !!(L->ends[a] & GMG_MIRRORS_ABOVE));
  }
  L->half = (L->n[0] + 1) / 2;
  L->line = L->n[1] > 1 ? L->half : 0;
  L->plane = L->half * (L->n[1] > 1 ? L->n[1] + 2 : 1);
  L->blocks = A->cells > MAX_CELLS_ONE_BLOCK ? blocks : 1;
  L->depth = (L->n[2] + L->blocks - 1) / L->blocks;
  if (L->blocks > 1 && pairs) L->depth += L->depth % 2;
  L->busy = (L->n[2] + L->depth - 1) / L->depth;
  L->colour = (unsigned)(L->plane * (L->depth + 2)), L->inner = (unsigned)(L->half * L->n[1] * L->depth);
  L->per_half = 1.f / (float)L->half, L->per_lines = 1.f / (float)L->n[1];
}

/* Sets gathers_planes: whether a block needs coarse planes of other blocks. Returns the space for their copies, at least `room`. */
static unsigned find_gathering(small_level *L, const small_level *C, const gmg_map *map, unsigned room)
{
  L->gathers_planes = C->blocks > 1 && !(map->pairs == GMG_PAIRS_LINEAR && L->halved && L->depth == 2 * C->depth);
  const unsigned copies = L->gathers_planes ? 2 * (unsigned)(C->plane * (L->halved ? L->depth / 2 + 3 : L->depth + 1)) : 0;
  return copies > room ? copies : room;
}

/* Whether coefficients are constant and meshes uniform on all levels. */
static int is_constant(const gmg_bottom_problem *p)
{
  int constant = 1;
  for (int l = 0; l < p->levels; l++)
    for (int a = 0; a < 3; a++)
      constant = constant && gmg_coefficients_of(p->level[l].A) == GMG_CONSTANT && has_equal_couplings(&p->level[l], a);
  return constant;
}

/* The first level that every block has as a whole, if blocks share the level before it, or -1. */
static int first_whole(const gmg_bottom_problem *p, int blocks)
{
  int l = 0;
  while (l < p->levels && p->level[l].A->cells > MAX_CELLS_ONE_BLOCK) l++;
  return blocks > 1 && l > 0 && l < p->levels ? l : -1;
}

/* The exact level, or -1. Blocks share all finer levels. */
static int exact_level(const gmg_bottom_problem *p, int whole)
{
  if (whole < 0 || whole == p->levels - 1 || p->level[whole].A->cells > MAX_CELLS_EXACT) return -1;
  for (int a = 0; a < 3; a++)
    if (p->level[whole].A->n[a] > MAX_AXIS_EXACT) return -1;
  return whole;
}

/* Lays out what the first whole level needs: planes of the level before; on an exact level the rows of its inverse, f and u. They
   are behind `room`, because a block may receive planes while it uses that. Returns the space for all. */
static unsigned lay_out_whole(fused_state *s, int whole, unsigned room)
{
  if (whole < 0) return room;
  const int is_exact = whole == s->exact;
  const small_level *C = &s->level[whole], *L = C - 1;
  const unsigned size = (unsigned)(C->n[0] * C->n[1]), n = size * (unsigned)C->n[2], blocks = (unsigned)s->blocks;
  s->gathered = s->r + (room + 3) / 4 * 4;
  s->exact_f = s->gathered + (size * (unsigned)(is_exact ? L->n[2] : 2 * L->n[2]) + 3) / 4 * 4;
  if (is_exact) s->rows = (n + blocks - 1) / blocks, s->pitch = (n + 3) / 4 * 4;
  return s->exact_f + 2 * s->pitch - s->r;
}

/* Lays out the levels for the given number of blocks, in shared memory and in the tables. exact: whether there may be an exact
   level. Returns blocks = 0 if they do not fit. */
static fused_state layout(const gmg_bottom_problem *p, int blocks, int exact)
{
  fused_state s = {};
  const int last = p->levels - 1;
  s.levels = p->levels, s.reversed = p->reversed, s.singular = p->singular, s.rtol = p->rtol, s.has_rows = !is_constant(p);
  s.swapped = p->level[0].A->n[2] == 1, s.blocks = blocks;
  const int whole = first_whole(p, blocks);
  s.exact = exact && p->is_free && (!s.has_rows || p->condition <= MAX_CONDITION_EXACT) ? exact_level(p, whole) : -1;
  const int axis[3] = {0, s.swapped ? 2 : 1, s.swapped ? 1 : 2};
  unsigned room = MAX_CELLS_INVERSE;
  s.pairs = sizeof planes_of_level / sizeof(unsigned);
  for (int l = 0; l < p->levels; l++) {
    const gmg_bottom_level *from = &p->level[l];
    small_level *L = &s.level[l];
    shape(L, from, axis, blocks, l + 1 != whole), L->number = l, L->pre = from->pre, L->post = from->post;
    if (L->ends[0] | L->ends[1] | L->ends[2]) s.beyond_walls = s.beyond_walls > IMAGES ? s.beyond_walls : IMAGES;
    if (l < last && (has_seam(*L, 0) | has_seam(*L, 1) | has_seam(*L, 2))) s.beyond_walls = SEAMS;
    s.at[l] = gmg_layout_32_of(gmg_layout_of(from->A));
    if (s.swapped) s.at[l].rows = 1; /* rows are treated as planes */
    L->weights = take(&s, 2 * GMG_HALF_SWEEPS, sizeof(real));
    L->inverse = take(&s, DIAGONAL_CLASSES, sizeof(real)), L->diag = take(&s, DIAGONAL_CLASSES, sizeof(real));
    L->around = take(&s, DIAGONAL_CLASSES / 3, sizeof(line_neighbours));
    if (l < last) {
      take_map(&s, from->restrict_, axis, &L->restrict_), take_map(&s, from->prolong, axis, &L->prolong);
      L->prolong.pairs = take(&s, (size_t)(2 * L->half), sizeof(real_quad));
      L->halved = p->level[l + 1].A->n[axis[2]] < from->A->n[axis[2]];
      L->averaged = restricts_averages(L, from->restrict_, l + 1 == whole);
    }
    const int has_moves = s.has_rows && l < last && from->operator_dependent;
    if (l == s.exact) s.kept_quads = s.quads;
    L->rows = (int)s.quads, s.quads += s.has_rows ? QUADS * L->inner : 0;
    L->moves = has_moves ? (int)s.moves : -1, s.moves += has_moves ? 2 * L->inner : 0;
    L->u = s.fields, s.fields += 2 * L->colour;
    if (L->inner > THREADS || L->colour > 0xffff) return fused_state{};
    L->words = s.pairs, s.pairs += L->inner;
    const unsigned residual = 2 * (l < last ? L->inner : L->colour);
    room = residual > room ? residual : room;
  }
  for (int l = 0; l < last; l++) {
    small_level *L = &s.level[l], *C = L + 1;
    room = find_gathering(L, C, &p->level[l].prolong[axis[2]], room);
    const unsigned planes = L->averaged || l + 1 == whole ? 0 : (unsigned)(C->n[0] * C->n[1] * L->depth);
    room = 2 * L->inner + planes > room ? 2 * L->inner + planes : room;
    const int fresh = begins_fresh(s.beyond_walls, C);
    L->restricts_alone = fresh && L->averaged && C->blocks > 1 && L->depth == 2 * C->depth && !L->gathers_planes;
  }
  const size_t number = s.has_rows ? sizeof(inverse_number<1>) : sizeof(inverse_number<0>);
  s.kept = (s.bytes + 15) / 16 * 16;
  s.inverse = 2 * s.level[last].inner <= MAX_CELLS_INVERSE ? take(&s, 1 + MAX_CELLS_INVERSE * INVERSE_PITCH, number) : -1;
  s.bytes = (s.bytes + 15) / 16 * 16, s.pairs = (s.pairs + 3) / 4 * 4;
  s.fields = (s.fields + 3) / 4 * 4, s.r = s.fields;
  for (int l = 0; l < p->levels; l++) s.level[l].f = s.r, s.r += 2 * s.level[l].inner;
  s.r = (s.r + 3) / 4 * 4;
  s.all = s.r + lay_out_whole(&s, whole, room);
  return s;
}

/* Bytes of shared memory. */
static size_t memory_of(const fused_state *s, int exact)
{
  return tables_bytes(s, exact) + words_bytes(s) + rows_bytes(s, exact) + (exact ? inverse_bytes(s) : 0) + s->all * sizeof(scalar);
}

typedef decltype(&fused_kernel<0, 0, 0>) kernel;

/* exact: the cycle ends on the exact level */
static kernel kernel_of(const fused_state *s, int exact)
{
  static constexpr kernel kernels[2][3] = {{fused_kernel<NOTHING, 0, 0>, fused_kernel<IMAGES, 0, 0>, fused_kernel<SEAMS, 0, 0>},
                                           {fused_kernel<NOTHING, 0, 1>, fused_kernel<IMAGES, 0, 1>, fused_kernel<SEAMS, 0, 1>}};
  static constexpr kernel with_rows[2][2] = {{fused_kernel<NOTHING, 1, 0>, fused_kernel<IMAGES, 1, 0>},
                                             {fused_kernel<NOTHING, 1, 1>, fused_kernel<IMAGES, 1, 1>}};
  return s->has_rows ? with_rows[exact][s->beyond_walls] : kernels[exact][s->beyond_walls];
}

/* The configuration of a launch of one cluster. */
static cudaLaunchConfig_t config_of(const gmg_exec *e, const fused_state *s, int exact, int blocks, cudaLaunchAttribute *cluster)
{
  cudaLaunchConfig_t c = {};
  cluster->id = cudaLaunchAttributeClusterDimension;
  cluster->val.clusterDim.x = (unsigned)blocks, cluster->val.clusterDim.y = cluster->val.clusterDim.z = 1;
  c.gridDim = dim3((unsigned)blocks), c.blockDim = dim3(THREADS), c.dynamicSmemBytes = memory_of(s, exact),
  c.stream = gmg_device_of(e)->stream;
  c.attrs = cluster, c.numAttrs = blocks > 1;
  return c;
}

/* Whether the device can run the kernel with this layout. */
static int fits_device(const gmg_exec *e, const fused_state *s, int exact)
{
  cudaLaunchAttribute cluster;
  cudaFuncAttributes of;
  const gmg_device *d = gmg_device_of(e);
  int clusters = 0;
  const auto kernel = kernel_of(s, exact);
  if (cudaFuncGetAttributes(&of, kernel) != cudaSuccess) return 0;
  const int room = d->max_shared - (int)of.sharedSizeBytes;
  if (room < 0 || memory_of(s, exact) > (size_t)room) return 0;
  gmg_allow_shared(e, (const void *)kernel, (size_t)room); /* the same number for all solvers */
  if (s->blocks == 1) return 1;
  if (d->major < 9 || of.binaryVersion < 90 || of.ptxVersion < 90) return 0; /* PTX for an older device has no clusters */
  if (cudaFuncSetAttribute(kernel, cudaFuncAttributeNonPortableClusterSizeAllowed, 1) != cudaSuccess) {
    (void)cudaGetLastError();
    return 0;
  }
  const cudaLaunchConfig_t c = config_of(e, s, exact, s->blocks, &cluster);
  const cudaError_t error = cudaOccupancyMaxActiveClusters(&clusters, kernel, &c);
  (void)cudaGetLastError(); /* clears the error of a cluster size that the device does not support */
  return error == cudaSuccess && clusters > 0;
}

/* The layout for the largest number of blocks that the device can run. blocks = 0: there is none. */
static fused_state plan(const gmg_exec *e, const gmg_bottom_problem *p)
{
  static const int blocks[] = {16, 8, 1};
  size_t most = 0;
  for (int l = 0; l < p->levels; l++) most = p->level[l].A->cells > most ? p->level[l].A->cells : most;
  for (int i = most > MAX_CELLS_ONE_BLOCK ? 0 : 2; i < 3; i++) {
    if (blocks[i] == 1 && most > MAX_CELLS_ONE_BLOCK) break;
    for (int exact = blocks[i] > 1; exact >= 0; exact--) {
      const fused_state s = layout(p, blocks[i], exact);
      if (s.blocks && fits_device(e, &s, 0) && (s.exact < 0 || fits_device(e, &s, 1))) return s;
    }
  }
  return fused_state{};
}

static int fits(const gmg_exec *e, const gmg_bottom_problem *p)
{
  const int has_rows = !is_constant(p);
  if (p->coarse_kind != GMG_COARSE_CG) return 0;
  for (int l = 0; l < p->levels; l++) {
    const gmg_bottom_level *L = &p->level[l];
    if (L->A->cells > MAX_CELLS_CLUSTER) return 0;
    for (int a = 0; a < 3; a++) {
      if (L->A->wraps[a] && L->A->n[a] == 1 && l + 1 < p->levels) return 0; /* its neighbour is itself */
      if (has_rows && gmg_odd_seam(L->A, a)) return 0;
      if (l + 1 == p->levels) continue;
      if (L->restrict_[a].width > MAX_TAPS || L->prolong[a].width > 2) return 0;
      if (L->restrict_[a].width > L->restrict_[a].cols || L->prolong[a].width > L->prolong[a].cols) return 0;
    }
  }
  const fused_state s = p->level[p->levels - 1].A->cells <= MAX_CELLS_WARP ? plan(e, p) : fused_state{};
  return s.blocks > 0 && (!has_rows || s.inverse >= 0);
}

static gmg_status update(gmg_exec *e, const gmg_bottom_problem *p, void *state)
{
  fused_state *s = (fused_state *)state;
  char *const tables = s->tables;
  if (e->dry) return GMG_OK;
  *s = layout(p, s->blocks, s->exact >= 0);
  s->tables = tables;
  const int axis[3] = {0, s->swapped ? 2 : 1, s->swapped ? 1 : 2}, last = s->levels - 1;
  const gmg_launch_shape grid = {dim3((unsigned)s->blocks), dim3(GMG_THREADS), 0}, one_block = {dim3(1), dim3(GMG_THREADS), 0};
  for (int l = 0; l <= last; l++) {
    const gmg_bottom_level *L = &p->level[l];
    gmg_maps restrict_ = {}, prolong = {}; /* axes in the kernel's order */
    for (int a = 0; a < 3; a++) restrict_.m[a] = L->restrict_[axis[a]], prolong.m[a] = L->prolong[axis[a]];
    leg_weights weights;
    for (int w = 0; w < 2 * GMG_HALF_SWEEPS; w++) weights.of[w] = (real)L->weight[w / GMG_HALF_SWEEPS][w % GMG_HALF_SWEEPS];
    gmg_launch(e, "small levels", prepare_kernel, grid, *L->A, s->level[l], restrict_, prolong, weights, s->swapped, s->has_rows,
               l < last, (real *)tables, (unsigned *)(tables + s->bytes), s->pairs);
    if (s->has_rows)
      gmg_launch(e, "small levels", GMG_BY_KIND(L->A, rows_kernel), grid, *L->A, s->level[l], gmg_maps_of(L->prolong), s->swapped,
                 (real)L->weight[0][0], (real_quad *)(tables + s->bytes + (size_t)s->blocks * words_bytes(s)), s->quads, s->blocks,
                 s->moves);
  }
  const gmg_operator *C = p->level[last].A;
  const auto invert = s->has_rows ? GMG_BY_KIND(C, invert_kernel, 1) : invert_kernel<GMG_CONSTANT, 0>;
  if (s->inverse >= 0)
    gmg_launch(e, "small levels", invert, one_block, *C, s->level[last], s->swapped, s->singular, p->level[last].volume,
               (real *)tables, s->inverse);
  if (s->exact >= 0 && s->has_rows) invert_by_rows(e, p, s);
  return s->exact >= 0 && !s->has_rows ? invert_by_modes(e, p, s, axis) : GMG_OK;
}

static gmg_status setup(gmg_exec *e, const gmg_bottom_problem *p, void **state)
{
  static_assert(sizeof(fused_state) <= 4000, "kernel parameters are limited");
  const fused_state planned = plan(e, p);
  return create_state(e, planned, before_inversion(&planned) + inversion_bytes(&planned), state);
}

static void solve(const gmg_exec *e, const gmg_bottom_problem *p, void *state, int l, void *f, void *u, gmg_cycle_kind kind,
                  gmg_start start)
{
  (void)p;
  const fused_state *s = (const fused_state *)state;
  cudaLaunchAttribute attributes[2];
  cudaLaunchConfig_t c = config_of(e, s, s->exact > l, s->level[l].blocks, attributes);
  /* The kernel reads the tables before it waits for its predecessor. They are older than the predecessor, which belongs to a finer
     level. */
  c.numAttrs += gmg_early_attribute(gmg_device_of(e), attributes + c.numAttrs);
  const int zero = start == GMG_FROM_ZERO || l + 1 == s->levels; /* the coarsest grid is solved from zero */
  const kernel run = kernel_of(s, s->exact > l);
  const cudaError_t error = cudaLaunchKernelEx(&c, run, *s, l, (const scalar *)f, (scalar *)u, (int)kind, zero);
  gmg_cuda_note(gmg_device_of(e), error, "small levels");
}

extern "C" int R(gmg_fused_levels_exact)(const void *state) { return ((const fused_state *)state)->exact; }

extern "C" const gmg_bottom_ops R(gmg_fused_levels_cuda) = {
    .name = "fused levels", .fits = fits,
    .setup = setup, .update = update, .solve = solve};
