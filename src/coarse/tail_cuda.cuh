/* The kernels of tail_cuda.cu, which alone includes them: the small levels of a cycle by one thread block, in shared memory.

   What would take divisions or several loads is prepared once, in tables on the device. Unknowns are counted colour by colour; a
   field that neighbours read (u, the residual) has a layer of zeros around it along every axis that has neighbours. */
#ifndef GMG_TAIL_CUDA_H
#define GMG_TAIL_CUDA_H

#include "../stencil/row_cuda.cuh"

/* MOST: unknowns of a level. At 64^3 in float all from 16^3 on take 52 us in here, from 8^3 on 24; 16^3 in launches of its own 20.
   FEW: one warp does conjugate gradients. */
enum { MOST = 2048, THREADS = 256, ROOM = 160 * 1024, FEW = 64, TAPS = 4 };

/* Rows of a map: TAPS places (counted with the layer of zeros) and weights each. */
typedef struct {
  const unsigned short *at[3];
  const real *weight[3];
  int taps[3];
} taps;

typedef struct {
  int n[3], pad[3], stride[3]; /* with the layer; stride 0 along a lone axis */
  unsigned cells, colour;      /* unknowns; entries of a colour, of which some may be nobody's */
  real coupling[3];
  double shift, omega;
  unsigned u, f;               /* places in shared memory, in reals: with the layer; by entries */
  const unsigned *entry;       /* [2 colour] i, j, k in 12, 12 and 8 bits, or NOBODY */
  const real *diag, *relax;    /* [2 colour] diagonal; weight over it */
  const double *volume;        /* [2 colour] */
  double whole;                /* volume of all */
  taps restrict_, prolong;     /* to and from the next coarser level */
  const real *global_f;
  real *global_u;
} small_level;

static const unsigned NOBODY = ~0u;

typedef struct {
  int levels, pre, post, reversed, singular;
  double rtol;
  unsigned r, all; /* room for a residual, or for directions on the coarsest grid; the end */
  small_level *level; /* device */
  void *tables;       /* device */
  size_t bytes;
} tail_state;

#define EACH(c, n) for (unsigned c = threadIdx.x; c < (n); c += THREADS)

typedef struct {
  int i, j, k;
} cell_place;

static __device__ __forceinline__ cell_place place_of(unsigned entry)
{
  return {(int)(entry & 4095), (int)(entry >> 12 & 4095), (int)(entry >> 24)};
}

static __device__ __forceinline__ int padded(const small_level &L, cell_place p)
{
  return p.i + (L.stride[0] ? 1 : 0) + (p.j + (L.stride[1] ? 1 : 0)) * L.pad[0] + (p.k + (L.stride[2] ? 1 : 0)) * L.pad[0] * L.pad[1];
}

static __device__ __forceinline__ real beside(const small_level &L, const real *u, int c)
{
  const int *s = L.stride;
  return L.coupling[0] * (u[c - s[0]] + u[c + s[0]]) + L.coupling[1] * (u[c - s[1]] + u[c + s[1]]) +
         L.coupling[2] * (u[c - s[2]] + u[c + s[2]]);
}

/* Levels are handed over by value: a reference into shared memory is read again after every write there. */
static __device__ void relax(const small_level L, int sweeps, int reversed, real *memory)
{
  real *const u = memory + L.u;
  const real *const f = memory + L.f;
  const real keep = (real)(1 - L.omega);
  for (int s = 0; s < 2 * sweeps; s++) {
    const unsigned first = (s + reversed) % 2 ? L.colour : 0;
    EACH(h, L.colour) {
      const unsigned entry = __ldg(L.entry + first + h);
      const real by = __ldg(L.relax + first + h);
      if (entry == NOBODY) continue;
      const int c = padded(L, place_of(entry));
      u[c] = keep * u[c] + by * (f[first + h] + beside(L, u, c));
    }
    __syncthreads();
  }
}

static __device__ __forceinline__ real transferred(const taps &t, cell_place p, const int pad[3], const real *x)
{
  const int row[3] = {p.i * TAPS, p.j * TAPS, p.k * TAPS};
  real sum = 0;
  for (int q = 0; q < t.taps[2]; q++) {
    const int slice = __ldg(t.at[2] + row[2] + q) * pad[1];
    const real wz = __ldg(t.weight[2] + row[2] + q);
    for (int r = 0; r < t.taps[1]; r++) {
      const real *const line = x + (slice + __ldg(t.at[1] + row[1] + r)) * pad[0];
      const real w = wz * __ldg(t.weight[1] + row[1] + r);
#pragma unroll 2
      for (int m = 0; m < t.taps[0]; m++) sum += w * __ldg(t.weight[0] + row[0] + m) * line[__ldg(t.at[0] + row[0] + m)];
    }
  }
  return sum;
}

static __device__ __forceinline__ double warp_sum(double x)
{
#pragma unroll
  for (int d = 16; d > 0; d /= 2) x += __shfl_xor_sync(~0u, x, d);
  return x;
}

static __device__ double block_sum(double x)
{
  __shared__ double part[THREADS / 32];
  x = warp_sum(x);
  __syncthreads();
  if (threadIdx.x % 32 == 0) part[threadIdx.x / 32] = x;
  __syncthreads();
  x = threadIdx.x % 32 < THREADS / 32 ? part[threadIdx.x % 32] : 0;
  return warp_sum(x);
}

static __device__ void restrict_residual(const small_level L, const small_level C, int singular, real *memory, real *r)
{
  const real *const u = memory + L.u, *const f = memory + L.f;
  EACH(h, 2 * L.colour) {
    const unsigned entry = __ldg(L.entry + h);
    const real diag = __ldg(L.diag + h);
    if (entry == NOBODY) continue;
    const int c = padded(L, place_of(entry));
    r[c] = f[h] - (diag * u[c] - beside(L, u, c));
  }
  __syncthreads();
  double sum = 0;
  EACH(h, 2 * C.colour) {
    const unsigned entry = __ldg(C.entry + h);
    if (entry == NOBODY) continue;
    const cell_place p = place_of(entry);
    const real v = transferred(L.restrict_, p, L.pad, r);
    memory[C.f + h] = v, memory[C.u + padded(C, p)] = 0; /* from zero */
    sum += C.volume[h] * (double)v;
  }
  __syncthreads();
  if (!singular) return;
  const real mean = (real)(block_sum(sum) / C.whole);
  EACH(h, 2 * C.colour) memory[C.f + h] -= mean;
  __syncthreads();
}

static __device__ void prolong(const small_level L, const small_level C, real *memory)
{
  EACH(h, 2 * L.colour) {
    const unsigned entry = __ldg(L.entry + h);
    if (entry == NOBODY) continue;
    const cell_place p = place_of(entry);
    memory[L.u + padded(L, p)] += transferred(L.prolong, p, C.pad, memory + C.u);
  }
  __syncthreads();
}

/* Conjugate gradients (cg.c) on the coarsest grid, by one warp. r, by entries, becomes the residual; p has the layer. */
static __device__ void solve(const small_level L, int singular, double rtol, real *r, real *u, real *p)
{
  enum { EACH_LANE = 4 };
  const unsigned lane = threadIdx.x, n = 2 * L.colour;
  real mine_r[EACH_LANE], mine_u[EACH_LANE], mine_p[EACH_LANE], mine_q[EACH_LANE], diag[EACH_LANE];
  double volume[EACH_LANE];
  int at[EACH_LANE];
#define OWN(s) _Pragma("unroll") for (int s = 0; s < EACH_LANE; s++) if (at[s] >= 0)
#pragma unroll
  for (int s = 0; s < EACH_LANE; s++) {
    const unsigned h = lane + 32 * (unsigned)s, entry = h < n ? L.entry[h] : NOBODY;
    at[s] = entry == NOBODY ? -1 : padded(L, place_of(entry));
    mine_r[s] = mine_u[s] = mine_p[s] = mine_q[s] = 0, diag[s] = 1, volume[s] = 0;
    if (at[s] >= 0) mine_r[s] = r[h], diag[s] = L.diag[h], volume[s] = L.volume[h];
  }
  const auto sum_of = [&](const real *x, const real *y) {
    double sum = 0;
#pragma unroll
    for (int s = 0; s < EACH_LANE; s++) sum += volume[s] * (double)x[s] * (y ? (double)y[s] : 1);
    return warp_sum(sum);
  };
  const auto remove_mean = [&](real *x) {
    const real mean = (real)(sum_of(x, NULL) / L.whole);
    OWN(s) x[s] -= mean;
  };
  real z[EACH_LANE];
  if (singular) remove_mean(mine_r);
#pragma unroll
  for (int s = 0; s < EACH_LANE; s++) z[s] = mine_p[s] = mine_r[s] / diag[s];
  double rz = sum_of(mine_r, z);
  const double stop = rz * rtol * rtol;
  for (unsigned turn = 0; turn < 10 * n + 100 && rz > stop; turn++) {
    OWN(s) p[at[s]] = mine_p[s];
    __syncwarp();
    OWN(s) mine_q[s] = diag[s] * mine_p[s] - beside(L, p, at[s]);
    __syncwarp();
    const double pq = sum_of(mine_p, mine_q), alpha = rz / pq, before = rz;
    if (!(pq > 0) || !isfinite(alpha)) break; /* rounding has used up the directions */
    OWN(s) mine_u[s] += (real)alpha * mine_p[s], mine_r[s] -= (real)alpha * mine_q[s];
    if (singular) remove_mean(mine_r);
#pragma unroll
    for (int s = 0; s < EACH_LANE; s++) z[s] = mine_r[s] / diag[s];
    rz = sum_of(mine_r, z);
    const real b = (real)(rz / before);
    OWN(s) mine_p[s] = z[s] + b * mine_p[s];
  }
  if (singular) remove_mean(mine_u);
  OWN(s) u[at[s]] = mine_u[s];
#undef OWN
}

/* cycle() of cycle.c without recursion. What every level is in the middle of: its kind of cycle, and whether the next coarser one
   is on its second visit. */
static __global__ void __launch_bounds__(THREADS) tail_kernel(tail_state s, int start, int cycle, int from_zero)
{
  extern __shared__ double shared[];
  __shared__ small_level level[GMG_TAIL_LEVELS];
  real *const memory = (real *)shared, *const r = memory + s.r;
  const int last = s.levels - 1;
  int kind_of[GMG_TAIL_LEVELS], again[GMG_TAIL_LEVELS], l = start, now = cycle;
  EACH(c, s.levels * sizeof(small_level) / sizeof(unsigned)) ((unsigned *)level)[c] = ((const unsigned *)s.level)[c];
  EACH(c, s.all) memory[c] = 0;
  __syncthreads();
  const small_level first = level[start];
  EACH(h, 2 * first.colour) {
    const unsigned entry = __ldg(first.entry + h);
    if (entry == NOBODY) continue;
    const cell_place p = place_of(entry);
    const int c = (p.k * first.n[1] + p.j) * first.n[0] + p.i;
    memory[first.f + h] = first.global_f[c];
    if (!from_zero) memory[first.u + padded(first, p)] = first.global_u[c];
  }
  __syncthreads();
  for (;;) {
    for (; l < last; l++) {
      relax(level[l], s.pre, 0, memory);
      restrict_residual(level[l], level[l + 1], s.singular, memory, r);
      kind_of[l] = now, again[l] = 0;
    }
    EACH(c, s.all - s.r) r[c] = 0; /* the layer around directions */
    __syncthreads();
    if (threadIdx.x < 32) solve(level[last], s.singular, s.rtol, memory + level[last].f, memory + level[last].u, r);
    __syncthreads();
    int down = 0;
    while (l > start && !down) {
      const int p = l - 1;
      if (kind_of[p] != GMG_CYCLE_V && !again[p] && l < last) {
        again[p] = 1, now = kind_of[p] == GMG_CYCLE_W ? GMG_CYCLE_W : GMG_CYCLE_V, down = 1;
        break;
      }
      prolong(level[p], level[l], memory);
      relax(level[p], s.post, s.reversed, memory);
      l = p;
    }
    if (!down) break;
  }
  EACH(h, 2 * first.colour) {
    const unsigned entry = __ldg(first.entry + h);
    if (entry == NOBODY) continue;
    const cell_place p = place_of(entry);
    first.global_u[(p.k * first.n[1] + p.j) * first.n[0] + p.i] = memory[first.u + padded(first, p)];
  }
}

/* Tables of a level. */
static __global__ void prepare_kernel(gmg_operator A, small_level L)
{
  const unsigned n0 = (unsigned)A.n[0], n1 = (unsigned)A.n[1], half = (n0 + 1) / 2;
  for (unsigned h = threadIdx.x; h < 2 * L.colour; h += blockDim.x) {
    const unsigned colour = h / L.colour, line = (h - colour * L.colour) / half, k = line / n1, j = line - k * n1;
    const unsigned i = 2 * (h - colour * L.colour - line * half) + ((j + k + colour) & 1);
    const int there = i < n0;
    const real diag = there ? gmg_row_at<GMG_CONSTANT>(A, i, j, k).diag : 1;
    ((unsigned *)L.entry)[h] = there ? i | j << 12 | k << 24 : NOBODY;
    ((real *)L.diag)[h] = diag, ((real *)L.relax)[h] = (real)L.omega / diag;
    ((double *)L.volume)[h] = there ? gmg_volume_at(A, i, j, k) : 0;
  }
}

static __global__ void prepare_map_kernel(gmg_map m, int layer, unsigned short *at, real *weight)
{
  for (int r = (int)threadIdx.x; r < m.rows; r += (int)blockDim.x)
    for (int t = 0; t < TAPS; t++) {
      const int there = t < m.width;
      at[r * TAPS + t] = (unsigned short)(there ? m.wrap[m.first[r] + t] + layer : layer);
      weight[r * TAPS + t] = there ? gmg_at(m.weight, (size_t)r * m.width + t) : (real)0;
    }
}

#endif
