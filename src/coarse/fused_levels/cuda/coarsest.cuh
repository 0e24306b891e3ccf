/* The coarsest of the small levels (cuda/kernels.cuh): by its inverse, or by conjugate gradients. */
#ifndef GMG_COARSE_FUSED_LEVELS_CUDA_COARSEST_H
#define GMG_COARSE_FUSED_LEVELS_CUDA_COARSEST_H

#include "legs.cuh"

#include "coarse/cuda/cg.cuh"

typedef struct {
  int i, j, k, colour, place, inner;
} cell_place;

static __device__ __forceinline__ cell_place cell_of(const small_level &L, int c)
{
  const int line = c / L.n[0], i = c - line * L.n[0], k = line / L.n[1], j = line - k * L.n[1], colour = (i + j + k) & 1;
  const pair_place at = {i >> 1, j, k};
  return {i, j, k, colour, colour * (int)L.colour + entry_of(L, at), colour * (int)L.inner + (k * L.n[1] + j) * L.half + at.p};
}

/* What the neighbours of an unknown contribute; other: of the other colour */
static __device__ __forceinline__ real beside(const small_level &L, const cell_place &c, const real *x)
{
  const int step = c.i & 1 ? 1 : -1, there = c.i & 1 ? c.i + 1 < L.n[0] : c.i > 0;
  const real *const o = x + (c.colour ? c.place - (int)L.colour : c.place + (int)L.colour);
  return L.coupling[0] * (o[0] + (there ? o[step] : (real)0)) + L.coupling[1] * (o[-L.line] + o[L.line]) +
         L.coupling[2] * (o[-L.plane] + o[L.plane]);
}

/* By the inverse, some threads a row: rows as unknowns lie in f, where what is nobody's is 0. */
static __device__ __forceinline__ void solve_dense(const small_level &L, const real *inverse, const real *f, real *u)
{
  enum { LANES = THREADS / DENSE };
  const int n = 2 * (int)L.inner, row = (int)threadIdx.x / LANES, colour = row >= (int)L.inner;
  const real sum = row_times<LANES, real>(
      DENSE, [&](unsigned c, real &sum) { sum += (int)c < n ? inverse[row * PITCH + (int)c] * f[c] : (real)0; });
  if (row < n && threadIdx.x % LANES == 0) u[colour * L.colour + entry_of(L, place_of(L, row - colour * (int)L.inner))] = sum;
}

/* Some unknowns a lane of one warp, in registers. p has the layer of zeros around it. */
struct warp_fields {
  enum { EACH_LANE = FEW / 32 };
  const small_level L;
  real *p;
  int n;
  real mine_r[EACH_LANE], mine_u[EACH_LANE], mine_p[EACH_LANE], mine_q[EACH_LANE], diag[EACH_LANE], z[EACH_LANE];
  cell_place at[EACH_LANE];

#define OWN(s) _Pragma("unroll") for (int s = 0; s < EACH_LANE; s++) if ((int)threadIdx.x + 32 * s < n)

  __device__ __forceinline__ double sum_of(const real *x, const real *y) const
  {
    double sum = 0;
    OWN(s) sum += (double)x[s] * (y ? (double)y[s] : 1);
    return lanes_sum<32>(sum);
  }

  __device__ __forceinline__ void remove_mean(real *x) const
  {
    const real mean = (real)(sum_of(x, NULL) / n);
    OWN(s) x[s] -= mean;
  }

  __device__ __forceinline__ void remove_mean_of_r() { remove_mean(mine_r); }
  __device__ __forceinline__ void remove_mean_of_u() { remove_mean(mine_u); }

  __device__ __forceinline__ void load(const real *tables, const real *f)
  {
#pragma unroll
    for (int s = 0; s < EACH_LANE; s++) {
      at[s] = cell_of(L, (int)threadIdx.x + 32 * s);
      mine_r[s] = mine_u[s] = mine_p[s] = mine_q[s] = 0, diag[s] = 1;
    }
    OWN(s)
    mine_r[s] = f[at[s].inner],
    diag[s] = tables[L.diag + (side_of(at[s].k, L.n[2]) * 3 + side_of(at[s].j, L.n[1])) * 3 + side_of(at[s].i, L.n[0])];
  }

  __device__ __forceinline__ double start()
  {
#pragma unroll
    for (int s = 0; s < EACH_LANE; s++) z[s] = mine_p[s] = mine_r[s] / diag[s];
    return sum_of(mine_r, z);
  }

  __device__ __forceinline__ double apply()
  {
    OWN(s) p[at[s].place] = mine_p[s];
    __syncwarp();
    OWN(s) mine_q[s] = diag[s] * mine_p[s] - beside(L, at[s], p);
    __syncwarp();
    return sum_of(mine_p, mine_q);
  }

  __device__ __forceinline__ void step(real alpha) { OWN(s) mine_u[s] += alpha * mine_p[s], mine_r[s] -= alpha * mine_q[s]; }

  __device__ __forceinline__ double precondition()
  {
#pragma unroll
    for (int s = 0; s < EACH_LANE; s++) z[s] = mine_r[s] / diag[s];
    return sum_of(mine_r, z);
  }

  __device__ __forceinline__ void direct(real beta) { OWN(s) mine_p[s] = z[s] + beta * mine_p[s]; }

  __device__ __forceinline__ void store(real *u) const { OWN(s) u[at[s].place] = mine_u[s]; }
#undef OWN
};

static __device__ __noinline__ void solve(const small_level L, const real *tables, int singular, double rtol, const real *f,
                                          real *u, real *p)
{
  warp_fields x = {L, p, L.n[0] * L.n[1] * L.n[2]};
  x.load(tables, f);
  conjugate_gradients(x, (size_t)x.n, singular, rtol);
  x.store(u);
}

static __device__ __forceinline__ void solve_coarsest(const fused_state &s, const small_level &L, const real *tables, real *memory)
{
  real *const r = memory + s.r, *const f = memory + L.f, *const u = memory + L.u;
  if (s.inverse >= 0 && tables[s.inverse] != 0) {
    solve_dense(L, tables + s.inverse + 1, f, u);
  } else {
    for (unsigned c = threadIdx.x; c < 2 * L.colour; c += THREADS) r[c] = 0; /* the layer around directions */
    __syncthreads();
    if (threadIdx.x < 32) solve(L, tables, s.singular, s.rtol, f, u, r);
  }
  __syncthreads();
}

#endif
