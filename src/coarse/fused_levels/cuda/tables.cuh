/* The tables of levels.cu, computed once per operator. Included by kernels.cuh. */
#ifndef GMG_COARSE_FUSED_LEVELS_CUDA_TABLES_H
#define GMG_COARSE_FUSED_LEVELS_CUDA_TABLES_H

#include "pairs.cuh"
#include "stencil/transfer/prolong.h"

/* Copies a map. Unless its columns wrap, the start of every row is shifted so that all its columns exist. */
static __device__ void prepare_map(const gmg_map &m, int wraps, real *tables, int first, int weight)
{
  for (int r = (int)threadIdx.x; r < m.rows; r += (int)blockDim.x) {
    const int from = m.first[r], most = m.cols - m.width, at = wraps ? from : from < 0 ? 0 : from > most ? most : from;
    ((int *)tables)[first + r] = at;
    for (int t = 0; t < MAX_TAPS; t++) {
      const int old = at + t - from;
      tables[weight + r * MAX_TAPS + t] =
          t < m.width && old >= 0 && old < m.width ? gmg_at(m.weight, (size_t)r * m.width + old) : (real)0;
    }
  }
}

/* Copies pairs of rows of a map with at most two columns in a row. */
static __device__ void prepare_pairs(const gmg_map &m, int wraps, real_quad *to)
{
  for (int p = (int)threadIdx.x; p < (m.rows + 1) / 2; p += (int)blockDim.x) {
    const int from = wraps ? m.first[2 * p] : max(m.first[2 * p], 0);
    for (int h = 0; h < 2; h++) {
      const int r = 2 * p + h;
      real w[3] = {0, 0, 0};
      for (int t = 0; t < 3 && r < m.rows; t++) {
        const int old = from + t - m.first[r];
        if (old >= 0 && old < m.width) w[t] = gmg_at(m.weight, (size_t)r * m.width + old);
      }
      to[2 * p + h] = real_quad{w[0], w[1], w[2], (real)from};
    }
  }
}

static __device__ real diagonal(const gmg_operator &A, int swapped, int i, int j, int k)
{
  return gmg_row_at<GMG_CONSTANT>(A, i, swapped ? k : j, swapped ? j : k).diag;
}

/* Step to the neighbour below or above along axis 1 or 2. Blocks that share a level have copies of the planes beyond their own. */
static __device__ int step_along(const small_level &L, int a, int side, int above)
{
  const int step = (above ? 1 : -1) * (a == 1 ? L.line : L.plane), ends = L.ends[a];
  const int wraps = ends & GMG_WRAPS && !(a == 2 && L.blocks > 1);
  if (side != (above ? 2 : 0)) return step;
  return ends & (above ? GMG_MIRRORS_ABOVE : GMG_MIRRORS_BELOW) ? -step : wraps ? -(L.n[a] - 1) * step : step;
}

/* small_level::weights */
typedef struct {
  real of[2 * GMG_HALF_SWEEPS];
} leg_weights;

/* Writes the pair words, the weights, the diagonals and the neighbours of lines of a level and, unless it is the coarsest, its
   maps. */
static __global__ void prepare_kernel(gmg_operator A, small_level L, gmg_maps restrict_, gmg_maps prolong, leg_weights weights,
                                      int swapped, int has_rows, int transfers, real *tables, unsigned *words, unsigned stride)
{
  __shared__ own_planes own;
  words += blockIdx.x * stride;
  if (threadIdx.x == 0) {
    find_own_planes(L, &own);
    ((own_planes *)words)[L.number] = own;
  }
  words += L.words;
  __syncthreads();
  for (int q = (int)threadIdx.x; q < pairs_of(L, own.planes); q += (int)blockDim.x) words[q] = word_of(L, own, q, (int)blockIdx.x);
  if (blockIdx.x > 0) return;
  if (!has_rows && threadIdx.x < DIAGONAL_CLASSES) {
    const int side[3] = {(int)threadIdx.x % 3, (int)threadIdx.x / 3 % 3, (int)threadIdx.x / 9};
    int at[3];
    for (int a = 0; a < 3; a++) at[a] = side[a] == 2 ? L.n[a] - 1 : side[a] < L.n[a] ? side[a] : 0;
    const real diag = diagonal(A, swapped, at[0], at[1], at[2]);
    tables[L.diag + threadIdx.x] = diag, tables[L.inverse + threadIdx.x] = 1 / diag;
  }
  if (threadIdx.x < 2 * GMG_HALF_SWEEPS) tables[L.weights + threadIdx.x] = weights.of[threadIdx.x];
  if (threadIdx.x < DIAGONAL_CLASSES / 3) {
    const int line = (int)threadIdx.x % 3, plane = (int)threadIdx.x / 3;
    ((line_neighbours *)tables)[L.around + threadIdx.x] = make_int4(step_along(L, 1, line, 0), step_along(L, 1, line, 1),
                                                                    step_along(L, 2, plane, 0), step_along(L, 2, plane, 1));
  }
  for (int a = 0; a < 3 && transfers; a++) {
    prepare_map(restrict_.m[a], L.ends[a] & GMG_WRAPS, tables, L.restrict_.first[a], L.restrict_.weight[a]);
    prepare_map(prolong.m[a], L.ends[a] & GMG_WRAPS, tables, L.prolong.first[a], L.prolong.weight[a]);
  }
  if (transfers) prepare_pairs(prolong.m[0], L.ends[0] & GMG_WRAPS, (real_quad *)tables + L.prolong.pairs);
}

/* The row of A of the unknown at (i, j, k), along the kernel's axes. */
template <int kind>
static __device__ gmg_row row_at(const gmg_operator &A, int swapped, int i, int j, int k)
{
  gmg_row row = gmg_row_at<kind>(A, i, swapped ? k : j, swapped ? j : k);
  if (!swapped) return row;
  const real lo = row.lo[1], hi = row.hi[1];
  row.lo[1] = row.lo[2], row.hi[1] = row.hi[2], row.lo[2] = lo, row.hi[2] = hi;
  return row;
}

/* Weights of prolongation to the unknown at `at`, along the kernel's axes (prolong_by_rows()). t: maps in the operator's order */
static __device__ real_quad find_moves(const gmg_operator &A, const gmg_maps &t, int swapped, const int at[3])
{
  const size_t where[3] = {(size_t)at[0], (size_t)at[swapped ? 2 : 1], (size_t)at[swapped ? 1 : 2]};
  real own = 1, next[3] = {0, 0, 0};
  for (int a = 0; a < A.dim; a++) {
    const gmg_move m = gmg_move_of(&t.m[a], where[a]);
    const gmg_layout across = gmg_face_layout_of(&A, a);
    const size_t low = gmg_offset(across, where[0], where[1], where[2]);
    const real limit = gmg_move_limit(m, gmg_at(A.face[a], low), gmg_at(A.face[a], low + gmg_pitch(across, a)));
    own += limit * m.own, next[a] = limit * m.next;
  }
  return {own, next[0], next[swapped ? 2 : 1], next[swapped ? 1 : 2]};
}

/* Writes the rows and moves of a level. maps: of prolongation to it, in the operator's order; read only if it has moves. rows,
   moves: quads of a block */
template <int kind>
static __global__ void rows_kernel(gmg_operator A, small_level L, gmg_maps maps, int swapped, real omega, real_quad *quads,
                                   unsigned rows, int blocks, unsigned moves)
{
  __shared__ own_planes own;
  real_quad *const to = quads + blockIdx.x * rows + L.rows, *const move = quads + blocks * rows + blockIdx.x * moves + L.moves;
  if (threadIdx.x == 0) find_own_planes(L, &own);
  __syncthreads();
  for (int q = (int)threadIdx.x; q < pairs_of(L, own.planes); q += (int)blockDim.x) {
    const pair_place p = place_of(L, q);
    for (int second = 0; second < 2; second++) {
      const int at[3] = {2 * p.p + second, p.j, own.begin + p.k};
      const auto put = [&](int m, real_quad x) { to[m * (int)L.inner + q] = x; };
      real_quad sides = {0, 0, 0, 0}, along = {0, 0, 0, 0};
      if (at[0] < L.n[0]) {
        gmg_row row = row_at<kind>(A, swapped, at[0], at[1], at[2]);
        const real weight = gmg_row_weight(3, kind, row, 1 / row.diag, omega);
        for (int a = 0; a < 3; a++) { /* beyond a wall there is nothing, whatever the coupling to it */
          if (at[a] == 0 && !(L.ends[a] & GMG_WRAPS)) row.lo[a] = 0;
          if (at[a] == L.n[a] - 1 && !(L.ends[a] & GMG_WRAPS)) row.hi[a] = 0;
        }
        sides = {second ? row.lo[0] : row.hi[0], second ? row.hi[0] : row.lo[0], row.lo[1], row.hi[1]};
        along = {row.lo[2], row.hi[2], row.diag, weight / row.diag};
        if (L.moves >= 0) move[second * (int)L.inner + q] = find_moves(A, maps, swapped, at);
      }
      put(second * SECOND + SIDES, sides), put(second * SECOND + ALONG, along);
    }
  }
}

/* The entry of A in the row of the unknown at x and the column of the one at y. */
template <int kind, int has_rows>
static __device__ double entry_at(const gmg_operator &A, const small_level &L, int swapped, const int x[3], const int y[3])
{
  const gmg_row row = has_rows ? row_at<kind>(A, swapped, x[0], x[1], x[2]) : gmg_row{};
  const double diag = has_rows ? (double)row.diag : (double)diagonal(A, swapped, x[0], x[1], x[2]);
  double value = 0;
  for (int a = 0; a < 3; a++)
    for (int side = -1; side <= 1; side += 2) {
      int to[3] = {x[0], x[1], x[2]};
      if (!gmg_index_continues(x[a] + side, L.n[a], L.ends[a])) continue;
      to[a] = gmg_fold_index(x[a] + side, L.n[a], L.ends[a]);
      const real coupling = !has_rows ? L.coupling[a] : x[a] + side != to[a] && !(L.ends[a] & GMG_WRAPS) ? (real)0
                                                      : side < 0                                         ? row.lo[a]
                                                                                                         : row.hi[a];
      if (to[0] == y[0] && to[1] == y[1] && to[2] == y[2]) value -= coupling;
    }
  return x[0] == y[0] && x[1] == y[1] && x[2] == y[2] ? value + diag : value;
}

/* The inverse of the coarsest grid's operator A. If A is singular, it is (A + a P)^-1 - P / a, where P takes the mean, weighted by
   control volumes. This also removes the mean from the right-hand side and from the solution. to[0] = 0 if rounding would leave too
   few digits. place: position in the tables (fused_state::inverse). */
template <int kind, int has_rows>
static __global__ void invert_kernel(gmg_operator A, small_level L, int swapped, int singular, double volume, real *tables,
                                     int place)
{
  inverse_number<has_rows> *const to = (inverse_number<has_rows> *)tables + place;
  __shared__ double M[MAX_CELLS_INVERSE][MAX_CELLS_INVERSE + 1], norm[2][MAX_CELLS_INVERSE];
  __shared__ int at[MAX_CELLS_INVERSE][3];
  const int n = 2 * (int)L.inner, t = (int)threadIdx.x;
  const double large = has_rows ? (double)row_at<kind>(A, swapped, 0, 0, 0).diag : (double)diagonal(A, swapped, 0, 0, 0);
  if (t < n) {
    const int colour = t >= (int)L.inner;
    const pair_place p = place_of(L, t - colour * (int)L.inner);
    const int i = 2 * p.p + ((p.j + p.k + colour) & 1);
    at[t][0] = i < L.n[0] ? i : -1, at[t][1] = p.j, at[t][2] = p.k;
  }
  __syncthreads();
  for (int x = t; x < n * n; x += (int)blockDim.x) {
    const int a = x / n, b = x - a * n, outside = at[a][0] < 0 || at[b][0] < 0;
    M[a][b] = outside ? a == b : entry_at<kind, has_rows>(A, L, swapped, at[a], at[b]);
  }
  __syncthreads();
  if (t < n) {
    norm[0][t] = 0;
    for (int b = 0; b < n; b++) norm[0][t] += fabs(M[t][b]);
  }
  __syncthreads();
  const auto share = [&](int c) { /* of the mean */
    const int *const x = at[c];
    return has_rows ? gmg_volume_at(A, x[0], x[swapped ? 2 : 1], x[swapped ? 1 : 2]) / volume : relative_volume(L, x) / L.volume;
  };
  for (int x = t; singular && x < n * n; x += (int)blockDim.x)
    if (at[x / n][0] >= 0 && at[x % n][0] >= 0) M[x / n][x % n] += large * share(x % n);
  __syncthreads();
  const int good = gauss_jordan<MAX_CELLS_INVERSE>((unsigned)n, MAX_CELLS_INVERSE + 1, &M[0][0]);
  __syncthreads();
  for (int x = t; singular && x < n * n; x += (int)blockDim.x)
    if (at[x / n][0] >= 0 && at[x % n][0] >= 0) M[x / n][x % n] -= share(x % n) / large;
  __syncthreads();
  if (t < n) {
    norm[1][t] = 0;
    for (int b = 0; b < n; b++)
      if (at[t][0] >= 0 && at[b][0] >= 0) norm[1][t] += fabs(M[t][b]);
  }
  for (int x = t; x < MAX_CELLS_INVERSE * INVERSE_PITCH; x += (int)blockDim.x) {
    const int a = x / INVERSE_PITCH, b = x - a * INVERSE_PITCH;
    to[1 + x] = a < n && b < n && at[a][0] >= 0 && at[b][0] >= 0 ? (inverse_number<has_rows>)M[a][b] : 0;
  }
  __syncthreads();
  if (t > 0) return;
  double most[2] = {0, 0};
  for (int a = 0; a < n; a++) most[0] = fmax(most[0], norm[0][a]), most[1] = fmax(most[1], norm[1][a]);
  to[0] = good && most[0] * most[1] * (sizeof *to == 8 ? 1e-16 : 6e-8) < 1e-3; /* false for NaN */
}

#endif
