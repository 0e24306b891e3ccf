/* The asynchronous smoother's pass where it counts: 2D and 3D, constant coefficients, two local red-black sweeps, overlap 1.
   Included by async_cuda.cu alone, whose general kernel does everything else and is the oracle in tests.

   A thread has a column of the tile along the last axis, a thread block the columns of a block of unknowns, one layer around
   them and (read only) a ring. Planes stream through. Four half sweeps are at work at once, three planes apart, so that none
   touches what another does in the same step; a step takes two planes, and one barrier. With e the colour of a column (so that
   columns beside each other differ), in step T

     half sweep s = 1..4 relaxes plane  r = 2 T - 3 s  of the column, counted as  r = q - e,  q from the first plane read;
     planes 2 T - 13 and 2 T - 12 are done and written back;  2 T - 1 and 2 T come in.

   Every thread does the same in every step. Its own column's planes are in registers (`w`), and in shared memory for its
   neighbours: plane q in slot (q + e) % 16, where a neighbour of the other colour finds it at (2 T - 3 s + 1) % 16. What half
   sweeps read and write in one step are different slots:
   reads -2, -5, -8, -11, writes -3, -6, -9, -12 (e = 0) or -1, -4, -7, -10 (e = 1), arrivals -1, 0 or 1, 2.
   Eight steps are unrolled, after which registers and slots are in place again: all of their indices are constants.

   What comes in is asked for AHEAD steps before, as with one thread block a multiprocessor nothing else covers the way to
   memory: asking at the beginning of the step took 1.9 ms at 512^3. */
#ifndef GMG_ASYNC_STREAM_CUDA_H
#define GMG_ASYNC_STREAM_CUDA_H

#include "../stencil/row_cuda.cuh"

enum { STAGES = 4, STEPS = 8, SLOTS = 2 * STEPS, DONE = 12, AHEAD = 2, RING = 4 }; /* DONE: planes from coming in to going out */

/* Columns of a thread block. */
template <int dim> struct shape_of {
  static constexpr int tx = dim == 3 ? 32 : 256, ty = dim == 2 ? 1 : sizeof(real) == 8 ? 16 : 24; /* as registers allow */
  static constexpr int pitch = tx + 2, plane = dim == 3 ? pitch * (ty + 2) : pitch;
};

typedef struct {
  int n[3], wraps[3];  /* axes across (0, 1) and along (2) the columns; in 2D axis 1 has one unknown */
  size_t stride;       /* from plane to plane */
  int own[3], count[3];
  const void *diag[3];
  real shift, coupling[3], omega;
  int reversed;
  size_t first, total;
  const int *order;
} stream;

/* Whether a stretch of steps checks what is there: known to the compiler. */
struct with {
  static constexpr int value = 1;
};
struct without {
  static constexpr int value = 0;
};

static __device__ __forceinline__ int around(int i, int n, int wraps) { return !wraps ? i : i < 0 ? i + n : i >= n ? i - n : i; }

template <int dim>
static __global__ void __launch_bounds__(shape_of<dim>::tx * shape_of<dim>::ty, dim == 3 ? 1 : 2)
    stream_kernel(stream s, const real *f, const real *from, real *to)
{
  constexpr int tx = shape_of<dim>::tx, pitch = shape_of<dim>::pitch, plane = shape_of<dim>::plane, threads = tx * shape_of<dim>::ty;
  extern __shared__ double memory[];
  real *tile = (real *)memory;
  const int me = (int)threadIdx.x, x = me % tx, y = me / tx;
  const size_t turn = (s.first + blockIdx.x) % s.total;
  const int b = s.order[s.reversed ? s.total - 1 - turn : turn];
  const int at[3] = {b % s.count[0], b / s.count[0] % s.count[1], b / (s.count[0] * s.count[1])};
  int begin[3], own[3]; /* own unknowns */
#pragma unroll
  for (int a = 0; a < 3; a++) begin[a] = at[a] * s.own[a], own[a] = min(s.own[a], s.n[a] - begin[a]);
  const int first = begin[2] - 2, planes = own[2] + 4; /* plane q of the tile is plane first + q of the level */

  /* this thread's column */
  const int i = begin[0] - 1 + x, j = dim == 3 ? begin[1] - 1 + y : 0;
  const int inside = x < own[0] + 2 && (dim < 3 || y < own[1] + 2);
  const int exists = inside && (s.wraps[0] || (i >= 0 && i < s.n[0])) && (dim < 3 || s.wraps[1] || (j >= 0 && j < s.n[1]));
  const int mine = exists && x > 0 && x <= own[0] && (dim < 3 || (y > 0 && y <= own[1]));
  const int gi = exists ? around(i, s.n[0], s.wraps[0]) : 0, gj = exists && dim == 3 ? around(j, s.n[1], s.wraps[1]) : 0;
  const size_t column = (size_t)gj * s.n[0] + gi;
  const int e = (i + j + first + 1 + s.reversed) & 1;
  real *const here = tile + (dim == 3 ? (y + 1) * pitch : 0) + x + 1;

  /* a column of the ring, for some */
  const int wide = own[0] + 2, high = dim == 3 ? own[1] + 2 : 1, sides = 2 * high, ring = sides + (dim == 3 ? 2 * wide : 0);
  int rx = me < high ? -1 : wide, ry = me % high;
  if (me >= sides) rx = (me - sides) % wide, ry = me - sides < wide ? -1 : high;
  const int ri = begin[0] - 1 + rx, rj = dim == 3 ? begin[1] - 1 + ry : 0;
  const int ring_exists = me < ring && (s.wraps[0] || (ri >= 0 && ri < s.n[0])) && (dim < 3 || s.wraps[1] || (rj >= 0 && rj < s.n[1]));
  const int ring_gi = ring_exists ? around(ri, s.n[0], s.wraps[0]) : 0;
  const int ring_gj = ring_exists && dim == 3 ? around(rj, s.n[1], s.wraps[1]) : 0;
  const size_t ring_column = (size_t)ring_gj * s.n[0] + ring_gi;
  const int ring_e = (ri + rj + first + 1 + s.reversed) & 1;
  real *const ring_here = tile + (dim == 3 ? (ry + 1) * pitch : 0) + rx + 1;

  /* which planes there are, and are relaxed, counted as the column counts them */
  const int there = s.wraps[2] ? 0 : max(0, -first), gone = s.wraps[2] ? planes : min(planes, s.n[2] - first);
  const int low = max(there, 1) - e, top = exists ? min(gone, planes - 1) - e : -64;
  const int wall_low = s.wraps[2] ? -64 : -first - e, wall_high = s.wraps[2] ? -64 : s.n[2] - 1 - first - e;

  /* weight over the diagonal: inside, and on the planes at the walls; 0 where nothing is to be relaxed */
  real relax[3];
  const real omega = exists ? s.omega : (real)0, keep = 1 - omega;
#pragma unroll
  for (int w = 0; w < 3; w++) {
    const int k = w == 0 ? 0 : w == 2 ? s.n[2] - 1 : s.n[2] > 2 ? 1 : 0;
    relax[w] = omega / (gmg_at(s.diag[0], gi) + (dim == 3 ? gmg_at(s.diag[1], gj) : 0) + gmg_at(s.diag[2], k) + s.shift);
  }
  const int at_wall = !s.wraps[2] && (first < 1 || first + planes > s.n[2] - 1);

  /* where a plane is put for the neighbours: slot b if that and the two above are slots, or else beyond their end. A column
     that is not inside puts it into a corner that nobody reads. */
  real *const low_slot = (inside ? here : tile + tx + 1) + 2 * e * plane, *const high_slot = low_slot - (e ? SLOTS : 0) * plane;
  real *const ring_low = ring_here + 2 * ring_e * plane, *const ring_high = ring_low - (ring_e ? SLOTS : 0) * plane;

  real w[SLOTS], odd[STEPS], even[STEPS], come[RING][2], ring_come[RING][2];
#pragma unroll
  for (int c = 0; c < SLOTS; c++) w[c] = 0;
#pragma unroll
  for (int c = 0; c < STEPS; c++) odd[c] = even[c] = 0;
  for (int c = me; c < SLOTS * plane; c += threads) tile[c] = 0;

  const long stride = (long)s.stride;
  const auto is_there = [&](int q) { return q >= there && q < gone; };
  const auto place = [&](int q) { return around(first + q, s.n[2], s.wraps[2]) * stride; };
  /* asks for planes 2 T - 1 and 2 T */
  const auto ask = [&](int T, real *own_plane, real *ring_plane) {
#pragma unroll
    for (int d = 0; d < 2; d++) {
      const int r = 2 * T - 1 + d;
      own_plane[d] = from && exists && is_there(r + e) ? __ldcg(from + place(r + e) + column) : (real)0;
      ring_plane[d] = from && ring_exists && is_there(r + ring_e) ? __ldcg(from + place(r + ring_e) + ring_column) : (real)0;
    }
  };
#pragma unroll
  for (int T = 0; T < AHEAD; T++) ask(T, come[T], ring_come[T]);
  __syncthreads();

  /* Steps in which every plane that is touched is there, and none is at a wall, go without checks. */
  const int folded = s.wraps[2] && (first < 0 || first + planes > s.n[2]);
  const int plain_from = (there + 16) / 2, plain_to = folded ? -1 : (gone - 2 * AHEAD) / 2, last = (own[2] + 14) / 2 + 1;
  const real *const ring_from = from + (long)(first + ring_e) * stride + (long)ring_column;
  const long column_at = (long)(first + e) * stride + (long)column;
  for (int T0 = 0; T0 < last; T0 += STEPS) {
#pragma unroll
    for (int t = 0; t < STEPS; t++) {
      const int T = T0 + t;
      const auto step = [&](auto checks) {
        constexpr int checked = decltype(checks)::value;
        const long base = 2 * T * stride, at = column_at + base; /* plane 2 T */
        const auto relaxes = [&](int r) { return r >= low && r < top; };

        if (checked) {
          ask(T + AHEAD, come[(t + AHEAD) % RING], ring_come[(t + AHEAD) % RING]);
          if (relaxes(2 * T + 1)) odd[(t + 2) % STEPS] = __ldg(f + place(2 * T + 1 + e) + column);
          if (relaxes(2 * T - 2)) even[(t + 2) % STEPS] = __ldg(f + place(2 * T - 2 + e) + column);
        } else {
#pragma unroll
          for (int d = 0; d < 2; d++) {
            come[(t + AHEAD) % RING][d] = ring_come[(t + AHEAD) % RING][d] = 0;
            if (from && exists) come[(t + AHEAD) % RING][d] = __ldcg(from + (2 * AHEAD - 1 + d) * stride + at);
            if (from && ring_exists) ring_come[(t + AHEAD) % RING][d] = __ldcg(ring_from + (2 * AHEAD - 1 + d) * stride + base);
          }
          if (exists) odd[(t + 2) % STEPS] = __ldg(f + stride + at), even[(t + 2) % STEPS] = __ldg(f - 2 * stride + at);
        }

        /* four half sweeps, none of which sees what another does here */
        real now[STAGES];
#pragma unroll
        for (int h = 1; h <= STAGES; h++) {
          const int r = 2 * T - 3 * h, c = (2 * t - 3 * h + 2 * SLOTS) % SLOTS;
          const real *beside = here + (c + 1) % SLOTS * plane;
          const real rhs = h == 1 ? odd[t] : h == 2 ? even[t] : h == 3 ? odd[(t + 5) % STEPS] : even[(t + 5) % STEPS];
          real sum = rhs + s.coupling[0] * (beside[-1] + beside[1]);
          if (dim == 3) sum += s.coupling[1] * (beside[-pitch] + beside[pitch]);
          sum += s.coupling[2] * (w[(c + SLOTS - 1) % SLOTS] + w[(c + 1) % SLOTS]);
          real by = relax[1];
          if (checked && at_wall) by = r == wall_low ? relax[0] : r == wall_high ? relax[2] : by;
          now[h - 1] = keep * w[c] + by * sum;
        }
#pragma unroll
        for (int h = 1; h <= STAGES; h++) {
          const int c = (2 * t - 3 * h + 2 * SLOTS) % SLOTS;
          if (checked && !relaxes(2 * T - 3 * h)) continue;
          w[c] = now[h - 1];
          (c < SLOTS - 2 ? low_slot : high_slot)[c * plane] = now[h - 1];
        }

        /* two planes are done, two are new */
#pragma unroll
        for (int d = 0; d < 2; d++) {
          const int c = (2 * t - 1 + d + SLOTS) % SLOTS, q = 2 * T - 1 + d - DONE + e;
          if (mine && (!checked || (q >= 2 && q < own[2] + 2)))
            __stcg(to + (checked ? (first + q) * stride + (long)column : at + (d - 1 - DONE) * stride), w[(c + SLOTS - DONE) % SLOTS]);
          w[c] = come[t % RING][d];
          (c < SLOTS - 2 ? low_slot : high_slot)[c * plane] = come[t % RING][d];
          if (me < ring) (c < SLOTS - 2 ? ring_low : ring_high)[c * plane] = ring_come[t % RING][d];
        }
        __syncthreads();
      };
      if (T >= plain_from && T < plain_to) step(without());
      else if (T < last) step(with());
    }
  }
}

#endif
