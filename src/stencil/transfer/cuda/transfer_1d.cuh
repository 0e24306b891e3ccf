/* Transfers in 1D if the rows of the map repeat (map.h). Repeating rows read no tables, and every value is read once. Included by
   cuda/transfer.cu alone. Its general kernels cover all other cases. Rows that do not repeat use the tables; the first thread
   blocks process these. */
#ifndef GMG_STENCIL_TRANSFER_CUDA_TRANSFER_1D_H
#define GMG_STENCIL_TRANSFER_CUDA_TRANSFER_1D_H

enum { LINE_RUNS = 4 }; /* rows of a thread; enough loads are in flight */
static const unsigned line_block = (unsigned)GMG_THREADS * (unsigned)LINE_RUNS; /* rows of a thread block */

/* Rows begin .. end - 1 repeat. The first `others` thread blocks process the other rows, using the tables. */
typedef struct {
  int begin, end, rows;
  unsigned others, blocks;
} repeated_rows;

static repeated_rows repeated_rows_of(int begin, int end, int rows)
{
  const int rest = rows - (end - begin);
  repeated_rows x = {begin, end, rows, (unsigned)(rest + GMG_THREADS - 1) / GMG_THREADS, 0};
  x.blocks = x.others + ((unsigned)(end - begin) + line_block - 1) / line_block;
  return x;
}

static gmg_launch_shape line_grid(const repeated_rows &x) { return {dim3(x.blocks), dim3(GMG_THREADS), 0}; }

/* The row of a thread in the first thread blocks; -1: none. */
static __device__ __forceinline__ int other_row(const repeated_rows &x)
{
  const int t = (int)(blockIdx.x * GMG_THREADS + threadIdx.x), row = t < x.begin ? t : x.end + (t - x.begin);
  return row < x.rows ? row : -1;
}

static int has_one_unknown(const gmg_map *m) { return m->rows == 1 && m->cols == 1; }

/* Whether more than half of the rows repeat. */
static int repeats_in_line(const gmg_map map[3], int period, int step)
{
  return has_one_unknown(&map[1]) && has_one_unknown(&map[2]) && map[0].period == period && map[0].step == step &&
         2 * (long)(map[0].end - map[0].begin) > map[0].rows;
}

/* --- prolongation ---------------------------------------------------------------------------------------------------- */

/* Row begin + 2 g + q reads column at[q] + g and, if next is 1, the following one. */
typedef struct {
  int at[2], next;
  real weight[2][2];
} line_prolong;

static __global__ void __launch_bounds__(GMG_THREADS)
    prolong_line_kernel(gmg_maps t, repeated_rows x, line_prolong m, const scalar *c, scalar *y, int add)
{
  if (blockIdx.x < x.others) {
    const int row = other_row(x);
    if (row < 0) return;
    const scalar v = tensor_at<0, 0, 0>(t.m, (size_t)row, 0, 0, [&](size_t a, size_t, size_t) { return c[a]; });
    y[row] = add ? y[row] + v : v;
    return;
  }
  const int q = (int)threadIdx.x & 1; /* thread blocks process even numbers of rows */
  const long first = (long)(blockIdx.x - x.others) * line_block + threadIdx.x, n = x.end - x.begin;
  const real w0 = q ? m.weight[1][0] : m.weight[0][0], w1 = q ? m.weight[1][1] : m.weight[0][1];
  const scalar *const from = c + (q ? m.at[1] : m.at[0]);
  scalar *const to = y + x.begin;
  scalar low[LINE_RUNS], high[LINE_RUNS], old[LINE_RUNS];
#pragma unroll
  for (int i = 0; i < LINE_RUNS; i++) {
    const long at = first + i * GMG_THREADS, r = at < n ? at : q, g = r >> 1; /* at least two rows repeat */
    low[i] = __ldg(from + g), high[i] = __ldg(from + g + m.next), old[i] = add ? to[r] : (scalar)0;
  }
#pragma unroll
  for (int i = 0; i < LINE_RUNS; i++) {
    const long r = first + i * GMG_THREADS;
    if (r < n) to[r] = old[i] + (w0 * low[i] + w1 * high[i]);
  }
}

/* y = map x or, with `add`, y += map x. Returns 0 if the rows do not repeat. */
static int prolong_line(const gmg_exec *e, const gmg_map map[3], const void *c, void *y, int add)
{
  const gmg_map *m = &map[0];
  if (!repeats_in_line(map, 2, 1)) return 0;
  const repeated_rows x = repeated_rows_of(m->begin, m->end, m->rows);
  line_prolong p = {{m->at[0], m->at[1]}, m->width > 1, {}};
  for (int q = 0; q < 2; q++)
    for (int w = 0; w < m->width; w++) p.weight[q][w] = (real)m->repeat[q][w];
  gmg_launch(e, "transfer", prolong_line_kernel, line_grid(x), gmg_maps_of(map), x, p, c, y, add);
  return 1;
}

/* --- restriction of the residual --------------------------------------------------------------------------------------- */

/* Two neighbours, aligned in the field or not. */
template <int aligned> static __device__ __forceinline__ real_pair two_at(const scalar *x)
{
  return aligned ? *(const real_pair *)x : real_pair{x[0], x[1]};
}

/* Row c reads the residuals at 2 c + at .. 2 c + at + 3. The middle two are its own. */
typedef struct {
  int at;
  real weight[4];
} line_restrict;

/* A lane has rows c, c + 32, ... of its warp, and the two own unknowns of each. The values beside them come from the neighbouring
   lanes. The first and the last lane also load the values beside the warp's. No repeating row reads a neighbour of a wall. */
template <int aligned>
static __global__ void __launch_bounds__(GMG_THREADS)
    restrict_line_kernel(gmg_operator A, gmg_maps t, repeated_rows x, line_restrict m, const scalar *f, const scalar *u,
                         scalar *coarse)
{
  if (blockIdx.x < x.others) {
    const int row = other_row(x);
    if (row < 0) return;
    coarse[row] = tensor_at<0, 0, 0>(
        t.m, (size_t)row, 0, 0, [&](size_t i, size_t, size_t) { return gmg_residual_at<GMG_CONSTANT>(A, i, 0, 0, f, u); });
    return;
  }
  const int lane = (int)threadIdx.x % 32, warp = (int)threadIdx.x / 32;
  const long first = x.begin + ((long)(blockIdx.x - x.others) * (GMG_THREADS / 32) + warp) * (32 * LINE_RUNS);
  if (first >= x.end) return;
  const scalar *const uc = u + m.at + 1, *const fc = f + m.at + 1;
  real_pair v[LINE_RUNS], r[LINE_RUNS], beside = {0, 0};
  scalar f_beside = 0;
#pragma unroll
  for (int i = 0; i < LINE_RUNS; i++) { /* row `end` exists, but may not repeat */
    const long c = 2 * min(first + 32 * i + lane, (long)x.end);
    v[i] = two_at<aligned>(uc + c), r[i] = two_at<aligned>(fc + c);
  }
  if (lane == 0 || lane == 31) {
    const long c = 2 * (lane ? min(first + 32 * LINE_RUNS, (long)x.end) : first - 1);
    beside = two_at<aligned>(uc + c), f_beside = fc[c + (lane == 0)];
  }
  const real lo = gmg_at(A.lo[0], 1), hi = gmg_at(A.hi[0], 1);
  const real diag = (real)A.shift + gmg_at(A.diag[0], 1) + gmg_at(A.diag[1], 0) + gmg_at(A.diag[2], 0);
  const auto residual = [&](scalar rhs, scalar below, scalar here, scalar above) {
    return rhs - (diag * here - (lo * below + hi * above));
  };
  /* A lane gets the values beside its own from the lanes before and after it. The first and the last lane get them from the
     previous and the next run of 32 rows. */
  const int before = (lane + 31) % 32, after = (lane + 1) % 32;

  scalar passed = beside.y;
#pragma unroll
  for (int i = 0; i < LINE_RUNS; i++) {
    const scalar rotated = __shfl_sync(~0u, v[i].y, before);
    r[i].x = residual(r[i].x, lane ? rotated : passed, v[i].x, v[i].y);
    passed = rotated;
  }
  passed = beside.x;
#pragma unroll
  for (int i = LINE_RUNS - 1; i >= 0; i--) {
    const scalar rotated = __shfl_sync(~0u, v[i].x, after);
    r[i].y = residual(r[i].y, v[i].x, v[i].y, lane < 31 ? rotated : passed);
    passed = rotated;
  }
  /* the residuals beside the warp's: the second of the previous row, the first of the next */
  const scalar r_beside = lane ? residual(f_beside, v[LINE_RUNS - 1].y, beside.x, beside.y)
                             : residual(f_beside, beside.x, beside.y, v[0].x);

  scalar sum[LINE_RUNS];
  passed = r_beside;
#pragma unroll
  for (int i = 0; i < LINE_RUNS; i++) {
    const scalar rotated = __shfl_sync(~0u, r[i].y, before);
    sum[i] = m.weight[0] * (lane ? rotated : passed) + m.weight[1] * r[i].x + m.weight[2] * r[i].y;
    passed = rotated;
  }
  passed = r_beside;
#pragma unroll
  for (int i = LINE_RUNS - 1; i >= 0; i--) {
    const scalar rotated = __shfl_sync(~0u, r[i].x, after);
    const long c = first + 32 * i + lane;
    if (c < x.end) coarse[c] = sum[i] + m.weight[3] * (lane < 31 ? rotated : passed);
    passed = rotated;
  }
}

static int is_aligned(const void *p, int at) { return ((size_t)p + (size_t)at * sizeof(real)) % (2 * sizeof(real)) == 0; }

/* coarse = map (f - A u). Returns 0 if the rows do not repeat. */
static int restrict_line(const gmg_exec *e, const gmg_operator *A, const gmg_map map[3], const void *f, const void *u, void *coarse)
{
  const gmg_map *m = &map[0];
  const long n = (long)A->n[0];
  if (A->dim != 1 || gmg_coefficients_of(A) != GMG_CONSTANT || !A->uniform[0] || !repeats_in_line(map, 1, 2)) return 0;
  line_restrict w = {m->at[0] - 2 * m->begin, {}};
  for (int i = 0; i < m->width; i++) w.weight[i] = (real)m->repeat[0][i];
  /* four residuals per row, all of inner unknowns: 2 c + at > 0, 2 c + at + 3 < n - 1 */
  const long min_begin = (2 - w.at) / 2, max_end = (n - 4 - w.at + 1) / 2; /* w.at is -GMG_MAP_PAD or more, n > 2 */
  const int begin = m->begin > min_begin ? m->begin : (int)min_begin, end = m->end < max_end ? m->end : (int)max_end;
  if (begin >= end) return 0;
  const repeated_rows x = repeated_rows_of(begin, end, m->rows);
  const auto kernel = is_aligned(f, w.at + 1) && is_aligned(u, w.at + 1) ? restrict_line_kernel<1> : restrict_line_kernel<0>;
  gmg_launch(e, "restriction", kernel, line_grid(x), *A, gmg_maps_of(map), x, w, f, u, coarse);
  return 1;
}

#endif
