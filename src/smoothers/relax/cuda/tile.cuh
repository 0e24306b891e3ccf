/* Tiles: a block stays on chip for all of its sweeps. 2D and 3D, all kinds of coefficients, any overlap, local red-black and Jacobi
   sweeps. 1D, and blocks that need too many threads, are left to other kernels. Included by async/cuda/tiles.cu.

   A thread holds HIGH unknowns of a column along the last axis in registers, with all data for their relaxation, so that between
   two sweeps nothing is loaded, divided or decided. threadIdx.x and y give the column, among those that are relaxed; z gives the
   segment of it. Tile coordinates start at the ring: columns at (1, 1), relaxed planes from 1 to `top`; planes 0 and top + 1 are
   only read. Neighbouring columns read u from shared memory.

   Red-black: columns have a colour e, and adjacent columns differ. The registers of colour 1 begin one plane lower than those of
   colour 0: number c is plane first + c, with first = 1 - e in the lowest segment. One colour of unknowns is then even c in
   every column, and the other is odd c. All lanes are always active, and register numbers are known to the compiler. In shared
   memory a column is contiguous, and plane p is stored at p + e, so a relaxation reads at c from fixed pointers. Columns are an odd
   number of reals apart, which avoids bank conflicts within a line.

   A row is stored divided by its diagonal, so a relaxation is a sum of products. Constant couplings across the column are
   four numbers per column. With coefficients on faces they are four numbers per unknown, in shared memory, each read only by its
   own thread. In registers they would halve the tiles, and smaller tiles load more shared unknowns (32 x 8 x 14 relaxed for 30 x 6
   x 12 own: 1.66 times). */
#ifndef GMG_SMOOTHERS_RELAX_CUDA_TILE_H
#define GMG_SMOOTHERS_RELAX_CUDA_TILE_H

#include "core/cuda/atomics.cuh"
#include "core/cuda/pdl.cuh"
#include "stencil/operator/cuda/row.cuh"
#include "geometry.cuh"
#include "scheduling.cuh"

/* Unknowns of a thread (even); maximum number of threads of a block; thread blocks per multiprocessor. */
template <int kind> struct tile_of {
  static constexpr int faces = kind & GMG_FACES ? 1 : 0, is_double = sizeof(real) == 8;
  static constexpr int high = faces ? 8 : 4, max_threads = faces ? (is_double ? 288 : 512) : is_double ? 640 : 1024;
  static constexpr int blocks = faces ? 2 : 1;
};

/* Couplings of an unknown along an axis across its column. */
struct alignas(2 * sizeof(real)) tile_pair {
  real lo, hi;
};

/* Coefficients of a plane. With constant coefficients lo_diag is the plane's whole part of the diagonal. */
struct alignas(16) tile_plane {
  real lo, hi, lo_diag, hi_diag;
};

struct tile_level : block_level {
  gmg_layout_32 field, face_at[2]; /* layouts of unknowns, and of the faces across axes 0 and 1; those across axis 2 have the layout
                                      of unknowns */
  int margin[3];
  int pitch, column;  /* pitch: columns of a line of the tile; column: reals of a column */
  const void *lo[3], *hi[3], *lo_diag[3], *hi_diag[3], *face[3], *sigma;
  real shift, weight[GMG_HALF_SWEEPS];
  int sweeps, extra;  /* extra: additional sweeps for a block at a seam */
};

/* 1 / x. In float it is approximate: the rounding error does no harm here, and a division costs as much as a sweep. */
static __device__ __forceinline__ real tile_inverse(real x) { return sizeof(real) == 8 ? 1 / x : (real)__fdividef(1.0f, (float)x); }

/* Relaxes block number `block_index` in the given order. One function, because it needs all registers. Divided into methods of a
   struct, like the other kernels, the passes over faces spill 176 instead of 112 bytes in double, and 48 instead of none in
   float. */
template <int dim, int kind, int local>
static __device__ __forceinline__ void relax_tile(const tile_level &s, unsigned block_index, const scalar *f, const scalar *from,
                                                  scalar *to)
{
  constexpr int HIGH = tile_of<kind>::high, faces = tile_of<kind>::faces, across = dim - 1, OWN = HIGH * across + 1;
  constexpr int coloured = local == GMG_LOCAL_RED_BLACK, step = coloured ? 2 : 1;
  extern __shared__ double memory[];
  const int layer = (int)(blockDim.x * blockDim.y), threads = layer * (int)blockDim.z;
  const int x = (int)threadIdx.x, y = (int)threadIdx.y, in_layer = y * (int)blockDim.x + x,
            me = (int)threadIdx.z * layer + in_layer;
  tile_plane *const planes = (tile_plane *)memory;
  tile_pair *const pairs = (tile_pair *)(planes + HIGH * blockDim.z + 1), *const mine = pairs + me * OWN; /* only with coefficients
                                                                                                             on faces */
  scalar *const tile = (scalar *)(pairs + (faces ? threads * OWN : 0));

  /* position of the tile: unknown at its coordinate 0, own unknowns, last relaxed coordinate, unknowns that exist */
  int begin[3], origin[3], own[3], top[3], lowest[3], highest[3], seam = 0;
  place_block(s, block_at(s, block_index), begin, own);
#pragma unroll
  for (int a = 0; a < 3; a++) {
    origin[a] = begin[a] - s.margin[a], top[a] = own[a] + 2 * s.margin[a] - 2;
    lowest[a] = s.ends[a] ? 0 : max(0, -origin[a]), highest[a] = s.ends[a] ? top[a] + 1 : min(top[a] + 1, s.n[a] - 1 - origin[a]);
    seam |= s.ends[a] && s.n[a] % 2 && (origin[a] < 0 || origin[a] + top[a] + 2 > s.n[a]);
  }
  const unsigned last = s.ends[2] ? (unsigned)s.n[2] - 1 : ~0u;
  const unsigned slice = gmg_pitch_32(s.field, 2), slice_x = gmg_pitch_32(s.face_at[0], 2), slice_y = gmg_pitch_32(s.face_at[1], 2);
  const auto there = [&](int a, int v) { return v >= lowest[a] && v <= highest[a]; };
  const auto after = [&](unsigned k) { return k == last ? 0 : k + 1; };
  const int parity = origin[0] + (dim == 3 ? origin[1] : 0) + origin[2] + s.reversed + 1;
  const auto colour_of = [&](int vx, int vy) { return coloured ? (parity + vx + vy) & 1 : 0; };
  const auto column_of = [&](int vx, int vy) { return tile + ((dim == 3 ? vy * s.pitch : 0) + vx) * s.column; };
  /* numbers c of the segment starting at plane `begin` that are planes p to q, as bits */
  const auto range = [&](int begin, int p, int q) { return bit_range(begin, HIGH, p, q); };

  /* this thread's segment of a column, and which of its numbers exist, or are relaxed */
  const int vy = dim == 3 ? y + 1 : 0, vx = x + 1, e = colour_of(vx, vy), first = (int)threadIdx.z * HIGH + 1 - e;
  const int inside = vx <= top[0] && (dim == 2 || vy <= top[1]), exists = inside && there(0, vx) && (dim == 2 || there(1, vy));
  const unsigned present = exists ? range(first, lowest[2], highest[2]) : 0,
                 relaxed = exists ? present & range(first, 1, top[2]) : 0;
  const int gi = exists ? gmg_wrap_by_loop(origin[0] + vx, s.n[0], s.ends[0]) : 0;
  const int gj = exists && dim == 3 ? gmg_wrap_by_loop(origin[1] + vy, s.n[1], s.ends[1]) : 0;
  const unsigned gk = (unsigned)gmg_wrap_by_loop(origin[2] + first, s.n[2], s.ends[2]);
  const unsigned column = gmg_offset_32(s.field, gi, gj, 0); /* offsets have 32 bits: there are less than twice as many faces as
                                                                unknowns */
  scalar *const here = column_of(vx, vy) + first + e;
  const scalar *const left = here - s.column + (coloured ? 1 - 2 * e : 0), *const right = left + 2 * s.column;
  const scalar *const front = left + s.column - s.pitch * s.column, *const back = front + 2 * s.pitch * s.column;

  /* loads issued together: the column, its coefficients, and what follows */
  scalar u[HIGH], rhs[HIGH];
  real share[HIGH], weight[HIGH], zlo[HIGH], zhi[HIGH], lo[2], hi[2], lo_diag[2], hi_diag[2];
  const unsigned fetched = from ? present : 0;
  unsigned k = gk, known = relaxed;
#pragma unroll
  for (int c = 0; c < HIGH; c++, k = after(k)) {
    const unsigned g = column + slice * k;
    u[c] = fetched & 1u << c ? gmg_load_relaxed(from + g) : 0;
    rhs[c] = !faces && (known & 1u << c) ? __ldg(f + g) : 0;
    share[c] = kind == GMG_SIGMA && (known & 1u << c) ? gmg_at(s.sigma, g) : 0;
  }
#pragma unroll
  for (int a = 0; a < across; a++) {
    const int g = a ? gj : gi;
    lo[a] = gmg_at(s.lo[a], g), hi[a] = gmg_at(s.hi[a], g), lo_diag[a] = gmg_at(s.lo_diag[a], g);
    if (faces) hi_diag[a] = gmg_at(s.hi_diag[a], g);
  }
  /* plane 0, if no register holds it */
  const unsigned bottom = (unsigned)gmg_wrap_by_loop(origin[2], s.n[2], s.ends[2]);
  const scalar under = from && first == 1 && exists && there(2, 0) ? gmg_load_relaxed(from + (column + slice * bottom)) : 0;

  /* copy the ring beside the columns, and the coefficients of all planes, to shared memory; beyond a wall values are 0 */
  const int sides = dim == 3 ? 2 * top[1] : 2, ring = dim == 3 ? sides + 2 * top[0] : sides, start = (int)threadIdx.z * HIGH + 1;
  for (int r = in_layer; r < ring; r += layer) {
    int rx = r < sides / 2 ? 0 : top[0] + 1, ry = dim == 3 ? (r < sides / 2 ? r : r - sides / 2) + 1 : 0;
    if (r >= sides) {
      const int other = r - sides >= top[0];
      rx = r - sides - (other ? top[0] : 0) + 1, ry = other ? top[1] + 1 : 0;
    }
    const int ring_exists = from && there(0, rx) && (dim == 2 || there(1, ry));
    const int ri = ring_exists ? gmg_wrap_by_loop(origin[0] + rx, s.n[0], s.ends[0]) : 0;
    const int rj = ring_exists && dim == 3 ? gmg_wrap_by_loop(origin[1] + ry, s.n[1], s.ends[1]) : 0;
    const unsigned ring_present = ring_exists ? range(start, lowest[2], highest[2]) : 0, stored = range(start, 1, top[2]);
    const unsigned source = gmg_offset_32(s.field, ri, rj, 0);
    scalar *const target = column_of(rx, ry) + start + colour_of(rx, ry), value[HIGH];
    unsigned rk = (unsigned)gmg_wrap_by_loop(origin[2] + start, s.n[2], s.ends[2]);
#pragma unroll
    for (int c = 0; c < HIGH; c++, rk = after(rk))
      value[c] = ring_present & 1u << c ? gmg_load_relaxed(from + (source + slice * rk)) : 0;
#pragma unroll
    for (int c = 0; c < HIGH; c++)
      if (stored & 1u << c) target[c] = value[c];
  }
  for (int p = 1 + me; p <= top[2]; p += threads)
    if (there(2, p)) {
      const int g = gmg_wrap_by_loop(origin[2] + p, s.n[2], s.ends[2]);
      planes[p] = {gmg_at(s.lo[2], g), gmg_at(s.hi[2], g), gmg_at(s.lo_diag[2], g), faces ? gmg_at(s.hi_diag[2], g) : 0};
    }
  const unsigned stored = inside ? range(first, 0, top[2] + 1) : 0;
#pragma unroll
  for (int c = 0; c < HIGH; c++)
    if (stored & 1u << c) here[c] = u[c];
  if (inside && first == 1) here[-1] = under;
  __syncthreads();

  /* compute rows, divided by their diagonals; with sigma every unknown has a weight of its own */
  const real *const x_face = (const real *)s.face[0], *const y_face = (const real *)s.face[1],
                    *const z_face = (const real *)s.face[2];
  const unsigned x_column = gmg_offset_32(s.face_at[0], gi, gj, 0);
  known = opaque(relaxed);
  real face_z = faces && (known & 1) ? __ldg(z_face + (column + slice * gk)) : 0;
  k = opaque(gk);
#pragma unroll
  for (int part = 0; part < HIGH; part += 4) { /* as many loads at once as there are registers */
    real face_lo[2][4], face_hi[2][4], below[4], beyond[4];
#pragma unroll
    for (int m = 0; m < 4 && faces; m++) {
      const int c = part + m;
      const unsigned relaxes = known & 1u << c, g = column + slice * k, next = after(k);
#pragma unroll
      for (int a = 0; a < across; a++) {
        const real *const low = a ? y_face + (column + slice_y * k) : x_face + (x_column + slice_x * k);
        face_lo[a][m] = relaxes ? __ldg(low) : 0, face_hi[a][m] = relaxes ? __ldg(low + (a ? s.face_at[1].row : 1)) : 0;
      }
      below[m] = face_z; /* on a periodic axis the last face is the first */
      face_z = beyond[m] = relaxes || (known & 2u << c) ? __ldg(z_face + (column + slice * next)) : 0;
      rhs[c] = relaxes ? __ldg(f + g) : 0;
      share[c] = (kind & GMG_SIGMA) && relaxes ? gmg_at(s.sigma, g) : 0;
      k = next;
    }
#pragma unroll
    for (int m = 0; m < 4; m++) {
      const int c = part + m;
      const tile_plane p = planes[first + c];
      gmg_row r = {{0, 0, p.lo}, {0, 0, p.hi}, s.shift + share[c]};
#pragma unroll
      for (int a = 0; a < across; a++) {
        r.lo[a] = faces ? lo[a] * face_lo[a][m] : lo[a], r.hi[a] = faces ? hi[a] * face_hi[a][m] : hi[a];
        r.diag += faces ? lo_diag[a] * face_lo[a][m] + hi_diag[a] * face_hi[a][m] : lo_diag[a];
      }
      if (faces) r.lo[2] *= below[m], r.hi[2] *= beyond[m];
      r.diag += faces ? p.lo_diag * below[m] + p.hi_diag * beyond[m] : p.lo_diag;
      share[c] = tile_inverse(r.diag);
      if (kind & GMG_SIGMA) weight[c] = gmg_row_weight(3, kind, r, share[c], s.weight[0]);
      rhs[c] *= share[c], zlo[c] = r.lo[2] * share[c], zhi[c] = r.hi[2] * share[c];
#pragma unroll
      for (int a = 0; a < across && faces; a++) mine[c * across + a] = {r.lo[a] * share[c], r.hi[a] * share[c]};
    }
  }
#pragma unroll
  for (int c = 0; c < HIGH && faces; c++) u[c] = here[c]; /* reload u, which left its registers to the coefficients */

  known = opaque(relaxed);
  const int sweeps = s.sweeps + (seam ? s.extra : 0);
  for (int sweep = 0; sweep < sweeps; sweep++) {
#pragma unroll
    for (int colour = 0; colour < step; colour++) {
      const real w = s.weight[(sweep * step + colour) % GMG_HALF_SWEEPS];
      scalar now[HIGH];
      if (known) {
#pragma unroll
        for (int c = colour; c < HIGH; c += step) {
          const scalar below = c > 0 ? u[c > 0 ? c - 1 : 0] : here[-1];
          const scalar above = c + 1 < HIGH ? u[c + 1 < HIGH ? c + 1 : c] : here[HIGH];
          const tile_pair px = faces ? mine[c * across] : tile_pair{lo[0], hi[0]};
          scalar sum = px.lo * left[c] + px.hi * right[c];
          if (dim == 3) {
            const tile_pair py = faces ? mine[c * across + across - 1] : tile_pair{lo[across - 1], hi[across - 1]};
            sum += py.lo * front[c] + py.hi * back[c];
          }
          const scalar rest = rhs[c] - u[c] + zlo[c] * below + zhi[c] * above;
          now[c] = u[c] + (kind & GMG_SIGMA ? weight[c] : w) * (faces ? rest + sum : rest + share[c] * sum);
        }
      }
      if (!coloured) __syncthreads(); /* all threads have read */
#pragma unroll
      for (int c = colour; c < HIGH; c += step)
        if (known & 1u << c) here[c] = u[c] = now[c];
      __syncthreads();
    }
  }

  const int own_column = vx >= s.margin[0] && vx < s.margin[0] + own[0] &&
                         (dim == 2 || (vy >= s.margin[1] && vy < s.margin[1] + own[1]));
  const unsigned back_to = own_column ? known & range(first, s.margin[2], s.margin[2] + own[2] - 1) : 0;
#pragma unroll
  for (int c = 0; c < HIGH; c++)
    if (back_to & 1u << c) gmg_store_relaxed(to + (column + slice * (unsigned)(origin[2] + first + c)), u[c]);
}

template <int dim, int kind, int local, int dynamic>
static __global__ void __launch_bounds__(tile_of<kind>::max_threads, tile_of<kind>::blocks)
    tile_kernel(tile_level s, const scalar *f, const scalar *from, scalar *to, work_queue queue)
{
  gmg_wait_for_predecessor();
  for_blocks<dynamic>(queue, [&](unsigned block_index) { relax_tile<dim, kind, local>(s, block_index, f, from, to); });
}

#endif
