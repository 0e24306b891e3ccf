/* The coarsest of the fused levels, solved by its inverse or by conjugate gradients. Included by kernels.cuh. */
#ifndef GMG_COARSE_FUSED_LEVELS_CUDA_COARSEST_H
#define GMG_COARSE_FUSED_LEVELS_CUDA_COARSEST_H

#include "legs.cuh"

#include "coarse/cuda/cg.cuh"

enum { SWEEPS_WITHOUT_INVERSE = 64 };

/* Sum over the neighbours of an unknown: coupling times value. */
static __device__ __forceinline__ scalar neighbour_sum(const small_level &L, const cell_place &c, const scalar *x)
{
  scalar sum = 0;
#pragma unroll
  for (int a = 0; a < 3; a++)
    for (int side = -1; side <= 1; side += 2) {
      int to[3] = {c.at[0], c.at[1], c.at[2]};
      if (!gmg_index_continues(to[a] + side, L.n[a], L.ends[a])) continue;
      to[a] = gmg_fold_index(to[a] + side, L.n[a], L.ends[a]);
      sum += L.coupling[a] * x[cell_at(L, to[0], to[1], to[2]).place];
    }
  return sum;
}

/* u = inverse f, with LANES threads per row. Rows are in the order of f. Its entries without an unknown are 0. */
template <class Number>
static __device__ __forceinline__ void solve_by_inverse(const small_level &L, const Number *inverse, const scalar *f, scalar *u)
{
  enum { LANES = THREADS / MAX_CELLS_INVERSE };
  const int n = 2 * (int)L.inner, row = (int)threadIdx.x / LANES, colour = row >= (int)L.inner;
  const auto sum = row_times<LANES, decltype(*inverse * *f)>(MAX_CELLS_INVERSE, [&](unsigned c, auto &part) {
    if ((int)c < n) part += inverse[row * INVERSE_PITCH + (int)c] * f[c];
  });
  if (row < n && threadIdx.x % LANES == 0)
    u[colour * L.colour + entry_of(L, place_of(L, row - colour * (int)L.inner))] = (scalar)sum;
}

/* Fields of conjugate gradients in one warp (coarse/cuda/cg.cuh). Every lane has EACH_LANE unknowns in registers. */
struct warp_fields {
  enum { EACH_LANE = MAX_CELLS_WARP / 32 };
  const small_level L; /* a copy, so that the compiler keeps members in registers */
  scalar *direction;   /* p with a layer of zeros around it, in shared memory */
  int n;
  scalar r[EACH_LANE], u[EACH_LANE], p[EACH_LANE], q[EACH_LANE], z[EACH_LANE];
  real diag[EACH_LANE], volume[EACH_LANE];
  cell_place at[EACH_LANE];

#define OWN(s) _Pragma("unroll") for (int s = 0; s < EACH_LANE; s++) if ((int)threadIdx.x + 32 * s < n)

  /* weighted by control volumes, in which the operator is symmetric */
  __device__ __forceinline__ double sum_of(const scalar *x, const scalar *y) const
  {
    double sum = 0;
    OWN(s) sum += (double)volume[s] * (double)x[s] * (y ? (double)y[s] : 1);
    return gmg_lanes_sum<32>(sum);
  }

  __device__ __forceinline__ void remove_mean(scalar *x) const
  {
    const scalar mean = (scalar)(sum_of(x, NULL) / L.volume);
    OWN(s) x[s] -= mean;
  }

  __device__ __forceinline__ void load(const real *tables, const scalar *f)
  {
#pragma unroll
    for (int s = 0; s < EACH_LANE; s++) {
      at[s] = cell_of(L, (int)threadIdx.x + 32 * s);
      r[s] = u[s] = p[s] = q[s] = 0, diag[s] = volume[s] = 1;
    }
    OWN(s)
    r[s] = f[at[s].inner], volume[s] = (real)relative_volume(L, at[s].at),
    diag[s] = tables[L.diag + class_at(L, at[s].at)];
  }

  __device__ __forceinline__ double apply()
  {
    OWN(s) direction[at[s].place] = p[s];
    __syncwarp();
    OWN(s) q[s] = diag[s] * p[s] - neighbour_sum(L, at[s], direction);
    __syncwarp();
    return sum_of(p, q);
  }

  __device__ __forceinline__ void step(real alpha) { OWN(s) u[s] += alpha * p[s], r[s] -= alpha * q[s]; }

  __device__ __forceinline__ double precondition(int first)
  {
#pragma unroll
    for (int s = 0; s < EACH_LANE; s++) {
      z[s] = r[s] / diag[s];
      if (first) p[s] = z[s];
    }
    return sum_of(r, z);
  }

  __device__ __forceinline__ void set_direction(real beta) { OWN(s) p[s] = z[s] + beta * p[s]; }

  __device__ __forceinline__ void store(scalar *to) const { OWN(s) to[at[s].place] = u[s]; }
#undef OWN
};

static __device__ __noinline__ void solve_by_cg(const small_level L, const real *tables, int singular, double rtol, const scalar *f,
                                                scalar *u, scalar *direction)
{
  warp_fields x = {L, direction, L.n[0] * L.n[1] * L.n[2]};
  x.load(tables, f);
  conjugate_gradients(x, (size_t)x.n, singular, rtol);
  x.store(u);
}

/* With rows, a coarsest grid whose inverse is unusable is relaxed, which cannot make things worse. */
template <int beyond_walls, int rows>
static __device__ __forceinline__ void solve_coarsest(const fused_state &s, const small_level &L, const real *tables,
                                                      const unsigned *words, const real_quad *quads, scalar *memory,
                                                      unsigned *step)
{
  scalar *const r = memory + s.r, *const f = memory + L.f, *const u = memory + L.u;
  const inverse_number<rows> *const inverse = (const inverse_number<rows> *)tables + s.inverse;
  if (s.inverse >= 0 && *inverse != 0) {
    solve_by_inverse(L, inverse + 1, f, u);
  } else if (rows) {
    own_pair own = load_pair<beyond_walls, rows>(L, tables, words, quads, 0, 1, memory);
    relax<beyond_walls, rows>(load_level<0>(L, tables, 0, 0), SWEEPS_WITHOUT_INVERSE, 1, own, step);
  } else {
    for (unsigned c = threadIdx.x; c < 2 * L.colour; c += THREADS) r[c] = 0; /* zeros around the direction */
    __syncthreads();
    if (threadIdx.x < 32) solve_by_cg(L, tables, s.singular, s.rtol, f, u, r);
  }
  __syncthreads();
}

#endif
