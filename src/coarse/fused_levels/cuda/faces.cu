/* Fused levels for coefficients on faces (constant ones: constant.cu). One launch of one thread block runs a cycle on all small
   levels. Fields are in shared memory. Rows, transfers and the coarsest grid's inverse are tables, computed when the coefficients
   change. The smoother is red-black relaxation of the whole level. The asynchronous smoother does the same here, because such a
   level is one block of unknowns.

   The kernel requires walls on all axes, nested levels, and prolongation that depends on the coefficients
   (stencil/transfer/host/prolong.c). Called through gmg_bottom_ops. */
#include "coarse/cuda/dense.cuh"
#include "coarse/cuda/kernels.h"
#include "core/cuda/pdl.cuh"
#include "driver.cuh"
#include "stencil/operator/cuda/row.cuh"
#include "stencil/transfer/prolong.h"

/* - MAX_CELLS: unknowns of a level.
   - MAX_RESTRICT_WIDTH: fine unknowns that contribute to a coarse right-hand side.
   - SWEEPS_WITHOUT_INVERSE: sweeps on a coarsest grid whose inverse is unusable. */
enum {
  THREADS = 1024,
  MAX_CELLS = 4096,
  MAX_RESTRICT_WIDTH = 8,
  MAX_SHARED_BYTES = 160 * 1024,
  SWEEPS_WITHOUT_INVERSE = 64
};

/* A row of a level for relaxation: relax = weight / diagonal, keep = 1 - weight. Rows are sorted by colour. */
struct alignas(16) fused_row {
  real lo[3], hi[3], relax, keep;
};

/* The data of a row for residual and prolongation: u += prolong_weight[0] coarse[from[0]] + ... */
struct alignas(16) transfer_row {
  real diag, prolong_weight[4];
  unsigned short from[4]; /* the parent, and its neighbours along the axes */
};

/* The right-hand side of a coarse unknown as a weighted sum of residuals. */
struct alignas(16) restrict_row {
  real weight[MAX_RESTRICT_WIDTH];
  unsigned short from[MAX_RESTRICT_WIDTH];
};

typedef struct {
  int pitch[3];                /* between unknowns, both in shared memory and in the caller's fields */
  int pre, post;               /* sweeps before and after the correction */
  unsigned cells, u, f;        /* u, f: positions in shared memory, in reals */
  fused_row *row;              /* device memory, like all pointers here */
  transfer_row *transfer;
  unsigned short *at;          /* the unknown of each row */
  restrict_row *coarse_rhs;    /* [unknowns of the next coarser level] */
} fused_level;

typedef struct {
  int levels, reversed;
  unsigned r, all;             /* positions in shared memory, in reals: of the residual; of the end */
  double *inverse;             /* device memory: inverse of the coarsest grid, then a flag: not 0 if it is usable */
  size_t inverse_bytes, bytes; /* bytes: size of the tables */
  char *tables;                /* device memory */
  fused_level level[GMG_BOTTOM_LEVELS];
} face_state;

/* --- kernels ---------------------------------------------------------------------------------------------------------- */

#define EACH(c, n) for (unsigned c = threadIdx.x; c < (n); c += THREADS)

static __device__ __forceinline__ unsigned first_of(const fused_level &L, int colour) { return colour ? (L.cells + 1) / 2 : 0; }

static __device__ __forceinline__ scalar neighbour_sum(const fused_level &L, const fused_row &a, const scalar *u, int c)
{
  scalar sum = 0;
#pragma unroll
  for (int d = 0; d < 3; d++) {
    /* an unknown beyond a wall may be written by another thread, so it must not be read */
    const int lo = a.lo[d] != 0 ? c - L.pitch[d] : c, hi = a.hi[d] != 0 ? c + L.pitch[d] : c;
    sum += a.lo[d] * u[lo] + a.hi[d] * u[hi];
  }
  return sum;
}

static __device__ void relax(const fused_level &L, int sweeps, int reversed, scalar *memory)
{
  scalar *const u = memory + L.u;
  const scalar *const f = memory + L.f;
  for (int s = 0; s < 2 * sweeps; s++) {
    const int colour = (s + reversed) % 2;
    const unsigned first = first_of(L, colour), count = colour ? L.cells / 2 : (L.cells + 1) / 2;
    EACH(h, count) {
      const fused_row a = L.row[first + h];
      const int c = L.at[first + h];
      u[c] = a.keep * u[c] + a.relax * (f[c] + neighbour_sum(L, a, u, c));
    }
    __syncthreads();
  }
}

/* Computes f of the next coarser level, and sets its u to zero. */
static __device__ void restrict_residual(const fused_level &L, const fused_level &C, scalar *memory, scalar *r)
{
  const scalar *const u = memory + L.u, *const f = memory + L.f;
  EACH(h, L.cells) {
    const fused_row a = L.row[h];
    const int c = L.at[h];
    r[c] = f[c] - (L.transfer[h].diag * u[c] - neighbour_sum(L, a, u, c));
  }
  __syncthreads();
  EACH(c, C.cells) {
    const restrict_row a = L.coarse_rhs[c];
    scalar v = 0;
#pragma unroll
    for (int m = 0; m < MAX_RESTRICT_WIDTH; m++) v += a.weight[m] * r[a.from[m]];
    memory[C.f + c] = v, memory[C.u + c] = 0;
  }
  __syncthreads();
}

static __device__ void prolong(const fused_level &L, const fused_level &C, scalar *memory)
{
  scalar *const u = memory + L.u;
  const scalar *const coarse = memory + C.u;
  EACH(h, L.cells) {
    const transfer_row a = L.transfer[h];
    const int c = L.at[h];
    scalar v = u[c];
#pragma unroll
    for (int m = 0; m < 4; m++) v += a.prolong_weight[m] * coarse[a.from[m]];
    u[c] = v;
  }
  __syncthreads();
}

/* Multiplies by the inverse. If it is unusable, relaxes instead, which cannot make things worse. */
static __device__ void solve_coarsest(const face_state &s, const fused_level &L, scalar *memory)
{
  if (*usable_flag(s.inverse, L.cells) == 0) {
    relax(L, SWEEPS_WITHOUT_INVERSE, 0, memory);
    return;
  }
  multiply<THREADS / MAX_CELLS_INVERSE>(L.cells, s.inverse, memory + L.f, memory + L.u);
  __syncthreads();
}

static __global__ void __launch_bounds__(THREADS)
    fused_faces_kernel(const __grid_constant__ face_state s, int start, const scalar *f, scalar *u, int cycle, int from_zero)
{
  extern __shared__ double shared[];
  scalar *const memory = (scalar *)shared, *const r = memory + s.r;
  const fused_level &top = s.level[start];
  const int last = s.levels - 1;
  EACH(c, s.all) memory[c] = 0;
  __syncthreads();
  gmg_wait_for_predecessor();
  EACH(c, top.cells) {
    memory[top.f + c] = f[c];
    if (!from_zero) memory[top.u + c] = u[c];
  }
  __syncthreads();
  run_cycle(
      start, last, cycle,
      [&](int l) {
        relax(s.level[l], s.level[l].pre, 0, memory);
        restrict_residual(s.level[l], s.level[l + 1], memory, r);
      },
      [&] { solve_coarsest(s, s.level[last], memory); },
      [&](int l) {
        prolong(s.level[l], s.level[l + 1], memory);
        relax(s.level[l], s.level[l].post, s.reversed, memory);
      });
  EACH(c, top.cells) u[c] = memory[top.u + c];
}

/* Prolongation to an unknown (stencil/transfer/prolong.h) as weights of four coarse values. */
static __device__ void find_prolongation(const gmg_operator &A, const gmg_maps &t, const size_t at[3], transfer_row *row)
{
  const gmg_layout coarse = gmg_layout_of_columns(t.m);
  gmg_move m[3];
  size_t parent = 0;
  for (int a = 0; a < 3; a++) m[a] = gmg_move_of(&t.m[a], at[a]), parent += m[a].parent * gmg_pitch(coarse, a);
  row->prolong_weight[0] = 1, row->from[0] = (unsigned short)parent;
  for (int a = 0; a < 3; a++) {
    row->prolong_weight[a + 1] = 0, row->from[a + 1] = (unsigned short)parent;
    if (a >= A.dim) continue;
    const gmg_layout across = gmg_face_layout_of(&A, a);
    const size_t low = gmg_offset(across, at[0], at[1], at[2]);
    const real limit = gmg_move_limit(m[a], gmg_at(A.face[a], low), gmg_at(A.face[a], low + gmg_pitch(across, a)));
    row->prolong_weight[0] += limit * m[a].own, row->prolong_weight[a + 1] = limit * m[a].next;
    row->from[a + 1] = (unsigned short)(parent + (m[a].other - m[a].parent) * gmg_pitch(coarse, a));
  }
}

/* Fills the rows of a level. t: maps of prolongation to it; not read on the coarsest level. */
template <int kind> static __global__ void row_table_kernel(gmg_operator A, gmg_maps t, int coarsest, real omega, fused_level to)
{
  const size_t n0 = A.n[0], n1 = A.n[1];
  gmg_for_all(A.cells, [&](size_t c) {
    const size_t at[3] = {c % n0, c / n0 % n1, c / (n0 * n1)};
    const gmg_row a = gmg_row_at<kind>(A, at[0], at[1], at[2]);
    const real weight = gmg_row_weight(3, kind, a, 1 / a.diag, omega);
    fused_row row = {};
    transfer_row transfer = {};
    for (int d = 0; d < 3; d++) {
      row.lo[d] = at[d] > 0 ? a.lo[d] : (real)0, row.hi[d] = at[d] + 1 < A.n[d] ? a.hi[d] : (real)0;
    }
    row.relax = weight / a.diag, row.keep = 1 - weight, transfer.diag = a.diag;
    if (!coarsest) find_prolongation(A, t, at, &transfer);
    /* the two unknowns 2 m and 2 m + 1 have different colours */
    const size_t h = ((at[0] + at[1] + at[2]) & 1 ? (A.cells + 1) / 2 : 0) + c / 2;
    to.row[h] = row, to.transfer[h] = transfer, to.at[h] = (unsigned short)c;
  });
}

/* Fills the rows that give the right-hand sides of the coarser level C. t: maps of restriction to it. */
static __global__ void restriction_table_kernel(gmg_operator C, gmg_maps t, restrict_row *to)
{
  const size_t n0 = C.n[0], n1 = C.n[1];
  gmg_for_all(C.cells, [&](size_t c) {
    const size_t at[3] = {c % n0, c / n0 % n1, c / (n0 * n1)};
    restrict_row row = {};
    int count = 0;
    const auto column = [&](int a, int m) { return (size_t)t.m[a].wrap[t.m[a].first[at[a]] + m]; };
    const auto weight = [&](int a, int m) { return gmg_at(t.m[a].weight, at[a] * t.m[a].width + m); };
    for (int q = 0; q < t.m[2].width; q++)
      for (int p = 0; p < t.m[1].width; p++)
        for (int m = 0; m < t.m[0].width; m++, count++) {
          row.weight[count] = weight(0, m) * (weight(1, p) * weight(2, q));
          row.from[count] = (unsigned short)gmg_offset(gmg_layout_of_columns(t.m), column(0, m), column(1, p), column(2, q));
        }
    to[c] = row;
  });
}

/* --- fit and launches ------------------------------------------------------------------------------------------------- */

/* Reserves bytes in the tables. */
static void *take(face_state *s, size_t bytes)
{
  void *const p = s->tables + s->bytes;
  s->bytes += (bytes + 15) / 16 * 16;
  return p;
}

static face_state layout(const gmg_bottom_problem *p, char *tables)
{
  face_state s = {};
  const int last = p->levels - 1;
  s.levels = p->levels, s.reversed = p->reversed, s.tables = tables;
  for (int l = 0; l <= last; l++) {
    const gmg_operator *A = p->level[l].A;
    fused_level *L = &s.level[l];
    for (int a = 0; a < 3; a++) L->pitch[a] = (int)gmg_pitch(gmg_layout_of(A), a);
    L->cells = (unsigned)A->cells, L->pre = p->level[l].pre, L->post = p->level[l].post;
    L->u = s.r, L->f = L->u + L->cells, s.r = L->f + L->cells;
    L->row = (fused_row *)take(&s, A->cells * sizeof(fused_row));
    L->transfer = (transfer_row *)take(&s, A->cells * sizeof(transfer_row));
    L->at = (unsigned short *)take(&s, A->cells * sizeof(unsigned short));
    if (l < last) L->coarse_rhs = (restrict_row *)take(&s, p->level[l + 1].A->cells * sizeof(restrict_row));
  }
  s.inverse_bytes = R(gmg_coarse_kernels_cuda).inverse_bytes(p->level[last].A);
  s.inverse = (double *)take(&s, s.inverse_bytes);
  s.all = s.r + s.level[0].cells;
  return s;
}

/* Bytes of shared memory that a launch may use, the same for all solvers. */
static size_t shared_bytes_of(const gmg_exec *e)
{
  const int own = 1024; /* not less than the kernel's static shared memory */
  const int most = gmg_device_of(e)->max_shared;
  return most < MAX_SHARED_BYTES + own ? (size_t)(most - own) : MAX_SHARED_BYTES;
}

static int fits(const gmg_exec *e, const gmg_bottom_problem *p)
{
  if (p->coarse_kind != GMG_COARSE_CG) return 0;
  for (int l = 0; l < p->levels; l++) {
    const gmg_bottom_level *L = &p->level[l];
    if (L->A->cells > MAX_CELLS || !L->A->face[0] || L->A->cells > p->level[0].A->cells) return 0;
    for (int a = 0; a < 3; a++)
      if (L->A->wraps[a]) return 0;
    if (l + 1 == p->levels) continue;
    if (!L->operator_dependent) return 0;
    if (L->restrict_[0].width * L->restrict_[1].width * L->restrict_[2].width > MAX_RESTRICT_WIDTH) return 0;
    for (int a = 0; a < 3; a++)
      if (L->prolong[a].width > 2) return 0;
  }
  if (p->level[p->levels - 1].A->cells > MAX_CELLS_INVERSE) return 0;
  return layout(p, NULL).all * sizeof(scalar) <= shared_bytes_of(e);
}

static gmg_status update(gmg_exec *e, const gmg_bottom_problem *p, void *state)
{
  face_state *s = (face_state *)state;
  const int last = p->levels - 1;
  if (e->dry) return GMG_OK;
  *s = layout(p, s->tables);
  for (int l = 0; l <= last; l++) {
    const gmg_bottom_level *L = &p->level[l];
    const auto rows = L->A->sigma ? row_table_kernel<GMG_FACES | GMG_SIGMA> : row_table_kernel<GMG_FACES>;
    gmg_launch(e, "small levels", rows, gmg_flat_shape(L->A->cells), *L->A, gmg_maps_of(L->prolong), l == last, L->omega,
               s->level[l]);
    if (l == last) break;
    const gmg_operator *C = p->level[l + 1].A;
    gmg_launch(e, "small levels", restriction_table_kernel, gmg_flat_shape(C->cells), *C, gmg_maps_of(L->restrict_),
               s->level[l].coarse_rhs);
  }
  const gmg_bottom_problem coarsest = {.levels = 1, .level = {p->level[last]}, .singular = p->singular};
  R(gmg_coarse_kernels_cuda).invert(e, &coarsest, s->inverse);
  return GMG_OK;
}

static gmg_status setup(gmg_exec *e, const gmg_bottom_problem *p, void **state)
{
  const face_state planned = layout(p, NULL);
  GMG_TRY(create_state(e, planned, planned.bytes, state));
  if (!e->dry) gmg_allow_shared(e, (const void *)fused_faces_kernel, shared_bytes_of(e));
  return GMG_OK;
}

static void solve(const gmg_exec *e, const gmg_bottom_problem *p, void *state, int l, void *f, void *u, gmg_cycle_kind kind,
                  gmg_start start)
{
  (void)p;
  const face_state *s = (const face_state *)state;
  const gmg_launch_shape block = {dim3(1), dim3(THREADS), s->all * sizeof(scalar)};
  gmg_launch_early(e, "small levels", fused_faces_kernel, block, *s, l, f, u, (int)kind, start == GMG_FROM_ZERO);
}

extern "C" const gmg_bottom_ops R(gmg_fused_faces_cuda) = {
    .name = "fused levels, coefficients on faces", .fits = fits,
    .setup = setup, .update = update, .solve = solve};
