/* PASS_PROLONG in the plane sweep (plane_sweep.cuh, which includes this file). The correction is interpolated as planes are loaded,
   two fine planes per coarse one. The coarse values around the tile are in shared memory: four planes, of which the last are still
   being loaded. Unless `paired`, axes may have any size (gmg_map::near_pairs), and walls may mirror. In float on an H100 a pass at
   511^3 then takes 1.02 ms, and 1.59 ms if it is divided in two. At 512^3 it takes 0.96 ms if paired, and 1.02 ms if not.

   It is apart from the prolongation of a level (stencil/transfer/cuda/pairs.cuh), which is a pass of its own. Without the legs that
   need it a solve takes up to 1.45 times as long (red_black_double_buffered in docs/notes/variants.md). */
#ifndef GMG_SMOOTHERS_RELAX_CUDA_PLANE_PROLONG_H
#define GMG_SMOOTHERS_RELAX_CUDA_PLANE_PROLONG_H

#include "fused.cuh"
#include "geometry.cuh"

#include <cuda_pipeline.h>

/* The planes of a tile. Plane q of the tile is plane first + q of the level, which has n. begin .. end - 1: planes that exist. */
typedef struct {
  int first, n, ends, begin, end;
} tile_planes;

/* The coarse index whose image is I, if I is beyond a wall that mirrors. */
template <int paired> static __device__ __forceinline__ int coarse_image(int I, int n, int ends)
{
  return paired ? I : I < 0 && ends & GMG_MIRRORS_BELOW ? -I : I >= n && ends & GMG_MIRRORS_ABOVE ? 2 * (n - 1) - I : I;
}

/* The first coarse index that the columns of a tile and its ring read along an axis. The ring begins two before the tile. */
template <int paired>
static __device__ __forceinline__ int first_coarse(const gmg_map &m, int corner, int n, int ends)
{
  const int first = ((corner + 1) >> 1) - 2, exists = corner >= 2 || ends & (GMG_WRAPS | GMG_MIRRORS_BELOW);
  return paired || !(corner & 1) ? first : first - !near_pair_of<paired>(m, corner - 2, n, ends, exists).above;
}

/* A thread's data of the correction, on its columns and on one column of the ring. */
template <int rows, int steps, int paired> struct plane_prolongation {
  static constexpr int WIDE = 32 / 2 + 4, HIGH = rows + 3, CELLS = WIDE * HIGH;
  static constexpr int RING = 2 * (32 + 2 * rows); /* maximum number of columns of the ring */
  static constexpr int SLOTS = steps % 4 ? steps : 4; /* unrolled steps must cycle through all slots */
  static constexpr int REALS = SLOTS * CELLS + 5 * RING + 6 * rows;
  scalar *slots;
  const scalar *coarse;
  int offset, pitch;    /* offset in a plane of the cell that the thread loads (-1: none); distance between planes */
  int cell, beside;     /* of the own columns: the first of the coarse values around them; step to the next across */
  int third;            /* whether the columns read a third line */
  real own_x, side_x;   /* weights along x of both columns */
  int ring_at;          /* the cell of the ring's column; from bit 16 on: the sides from which it reads */
  scalar before[2], here[2], ring_before; /* coarse planes K - 1 and K, interpolated across, at columns A and B */
  scalar ring_odd;                        /* the correction of plane 2 K - 1 at the ring's column */
  /* In shared memory, because registers are scarce:
     - of_row, per warp, [3]: weights along y of two lines for the first columns, and of three lines for the second ones; of_row
       points to those of column A;
     - of_ring, [2], RING apart: weights along x and along y of the ring's column;
     - ring_here: plane K at the ring's column. */
  real_pair *of_row, *of_ring;
  scalar *ring_here;

  /* (i, j): the first column; (ri, rj): the column of the ring */
  __device__ __forceinline__ void begin(const update_output &o, const int n[3], const int ends[3], const int corner[3], int me,
                                        int swap, int i, int j, int exists0, int exists1, int ri, int rj, int ring_exists,
                                        scalar *memory)
  {
    const int I0 = first_coarse<paired>(o.map[0], corner[0], n[0], ends[0]);
    const int J0 = first_coarse<paired>(o.map[1], corner[1], n[1], ends[1]);
    slots = memory, coarse = o.coarse, pitch = o.layout.plane;
    const int I = I0 + me % WIDE, J = J0 + me / WIDE;
    offset = -1;
    if (me < CELLS && I <= o.map[0].cols + 1 && J <= o.map[1].cols + 1)
      offset = column_offset(o.layout, __ldg(o.map[0].wrap + coarse_image<paired>(I, o.map[0].cols, ends[0])),
                             __ldg(o.map[1].wrap + coarse_image<paired>(J, o.map[1].cols, ends[1])));
    const gmg_near_pair x = near_pair_of<paired>(o.map[0], i, n[0], ends[0], exists0 || exists1);
    const gmg_near_pair y0 = near_pair_of<paired>(o.map[1], j, n[1], ends[1], exists0);
    const gmg_near_pair y1 = near_pair_of<paired>(o.map[1], j + 1, n[1], ends[1], exists1);
    own_x = x.own, side_x = x.side, beside = x.above ? 1 : -1;
    /* The columns read the lines base, base + 1 and base + 2; the first one does not read the third. */
    const int base = paired ? j >> 1 : min((j >> 1) - !y0.above, ((j + 1) >> 1) - !y1.above), of_second = ((j + 1) >> 1) - base;
    const auto of_line = [&](int line) { /* the weight for the second column */
      return line == of_second ? y1.own : line == of_second + (y1.above ? 1 : -1) ? y1.side : (real)0;
    };
    third = !paired && of_second + y1.above >= 2;
    cell = exists0 || exists1 ? (base - J0) * WIDE + (i >> 1) - I0 : 1;
    of_ring = (real_pair *)(memory + SLOTS * CELLS) + me;
    of_row = (real_pair *)(memory + SLOTS * CELLS) + 2 * RING + me / 32 * 3 + swap;
    ring_here = memory + SLOTS * CELLS + 4 * RING + 6 * rows + me;
    if (me % 32 == 1) { /* lane 1 has no columns beyond a wall along x */
      real_pair *const lines = of_row - swap;
      lines[0] = y0.above ? real_pair{y0.own, y0.side} : real_pair{y0.side, y0.own};
      lines[1] = real_pair{of_line(0), of_line(1)}, lines[2] = real_pair{third ? of_line(2) : 0, 0};
    }
    const gmg_near_pair rx = near_pair_of<paired>(o.map[0], ri, n[0], ends[0], ring_exists);
    const gmg_near_pair ry = near_pair_of<paired>(o.map[1], rj, n[1], ends[1], ring_exists);
    if (me < RING) of_ring[0] = real_pair{rx.own, rx.side}, of_ring[RING] = real_pair{ry.own, ry.side};
    ring_at = ring_exists ? (((rj >> 1) - J0) * WIDE + (ri >> 1) - I0) | rx.above << 16 | ry.above << 17 : WIDE + 1;
  }

  /* starts to load coarse plane K. Beyond a wall that does not mirror it is any plane: its weight is 0. */
  __device__ __forceinline__ void load(const update_output &o, int ends, int K, int slot)
  {
    const int nz = o.map[2].cols, plane = gmg_wrap_once(coarse_image<paired>(K, nz, ends), nz, 1) * pitch;
    if (offset >= 0) __pipeline_memcpy_async(slots + slot * CELLS + (int)threadIdx.x, coarse + (plane + offset), sizeof(scalar));
  }

  /* the plane in a slot, interpolated across, at columns A and B and at the ring's; swap: A is the second column */
  __device__ __forceinline__ void across(int slot, int swap, scalar e[2]) const
  {
    const scalar *const at = slots + slot * CELLS + cell;
    const scalar low = own_x * at[0] + side_x * at[beside], next = own_x * at[WIDE] + side_x * at[WIDE + beside];
    const real_pair of_a = of_row[0], of_b = of_row[swap ? -1 : 1];
    e[0] = of_a.x * low + of_a.y * next, e[1] = of_b.x * low + of_b.y * next;
    if (!third) return;
    const scalar more = of_row[2 - swap].x * (own_x * at[2 * WIDE] + side_x * at[2 * WIDE + beside]);
    e[0] += swap ? more : (scalar)0, e[1] += swap ? (scalar)0 : more;
  }
  __device__ __forceinline__ scalar across_ring(int slot) const
  {
    const scalar *const at = slots + slot * CELLS + (ring_at & 0xffff);
    const int ring_x = (ring_at >> 16 & 1) * 2 - 1, ring_y = (ring_at >> 17) * 2 * WIDE - WIDE;
    const real_pair wx = of_ring[0], wy = of_ring[RING]; /* own, side */
    return wy.x * (wx.x * at[0] + wx.y * at[ring_x]) + wy.y * (wx.x * at[ring_y] + wx.y * at[ring_y + ring_x]);
  }

  /* before the first step */
  __device__ __forceinline__ void fill(const update_output &o, const tile_planes &p, int swap)
  {
    const int K = p.first >> 1; /* the middle coarse plane of the first step */
    for (int d = -2; d < 2; d++) load(o, p.ends, K + 1 + d, (d + SLOTS) % SLOTS);
    __pipeline_commit();
    __pipeline_wait_prior(0);
    __syncthreads();
    across(SLOTS - 2, swap, before), across(SLOTS - 1, swap, here);
    ring_odd = 0; /* the plane below the first does not exist */
    if (threadIdx.x < RING) ring_before = across_ring(SLOTS - 2), *ring_here = across_ring(SLOTS - 1);
    __syncthreads();
    load(o, p.ends, K + 3, 2);
    __pipeline_commit();
  }

  /* starts to load what step T + 3 needs; t: T modulo `steps` */
  __device__ __forceinline__ void load_ahead(const update_output &o, const tile_planes &p, int T, int t)
  {
    load(o, p.ends, (p.first >> 1) + T + 4, (t + 3) % SLOTS);
  }

  /* Adds the correction to planes 2 T and 2 T + 1 of columns A and B, and to those of the ring, which are one earlier unless
     `late`. */
  template <int checked>
  __device__ __forceinline__ void take(const update_output &o, const tile_planes &p, int T, int t, int swap, int late,
                                       scalar u[2][2], scalar beside_u[2])
  {
    const int slot = t % SLOTS, K = (p.first >> 1) + T;
    scalar e[2];
    gmg_near_pair w[2]; /* of planes 2 T and 2 T + 1 of the tile, which are 2 K and 2 K + 1 of the level */
    across(slot, swap, e);
#pragma unroll
    for (int d = 0; d < 2; d++) {
      const int q = 2 * T + d;
      const real place = o.place[d] + o.slope * (real)K, by = fabs(place);
      if (checked) w[d] = near_pair_of<paired>(o.map[2], p.first + q, p.n, p.ends, q >= p.begin && q < p.end);
      else if (paired) w[d] = {o.along.w[d].own, o.along.w[d].side, d};
      else w[d] = {1 - by, by, place > 0};
    }
    const auto beside_of = [&](int d, scalar below, scalar above) { return (paired ? d : w[d].above) ? above : below; };
#pragma unroll
    for (int r = 0; r < 2; r++) {
#pragma unroll
      for (int d = 0; d < 2; d++) u[d][r] += w[d].own * here[r] + w[d].side * beside_of(d, before[r], e[r]);
      before[r] = here[r], here[r] = e[r];
    }
    if (threadIdx.x >= RING) return;
    const scalar own = *ring_here, upper = across_ring(slot);
    const scalar even = w[0].own * own + w[0].side * beside_of(0, ring_before, upper);
    const scalar odd = w[1].own * own + w[1].side * beside_of(1, ring_before, upper);
    beside_u[0] += late ? even : ring_odd, beside_u[1] += late ? odd : even;
    ring_odd = odd;
    ring_before = own, *ring_here = upper;
  }
};

/* Bytes of shared memory. */
template <int HALF_SWEEPS> static constexpr size_t plane_prolong_bytes(void)
{
  typedef plane_shape<HALF_SWEEPS> shape;
  return plane_prolongation<shape::rows, shape::steps, 0>::REALS * sizeof(scalar);
}

/* Whether weights along the columns repeat but at the ends of the axis, and all axes are coarsened in pairs. */
static inline int planes_are_paired(const gmg_map prolong[3], const gmg_operator *A)
{
  const gmg_map *along = &prolong[2];
  int paired = along->begin <= GMG_NEAR_ENDS && along->end >= along->rows - 1 && along->period == 2;
  for (int a = 0; a < 3; a++)
    paired = paired && prolong[a].pairs_inside == GMG_PAIRS_LINEAR && !(gmg_ends_of(A, a) & ~GMG_WRAPS);
  return paired;
}

/* Whether a pass can include prolongation. It requires blocks that begin with a pair, and a thread for every coarse value around
   the tile.
   - MIN_COARSE: the last steps load coarse planes up to index cols + 10. On a periodic axis gmg_wrap_once() wraps an index only
     once, so there must be more than 10. */
static inline int planes_can_prolong(const gmg_update_target *to, const gmg_operator *A, const gmg_blocks *b)
{
  enum { MIN_ROWS = 5, MIN_COARSE = 16 };
  if (!GMG_REAL_F32 && (to->scale || to->keep)) return 0;
  if (A->dim != 3) return 0;
  for (int a = 0; a < 3; a++)
    if (!to->prolong[a].near_pairs || (a > 0 && b->count[a] > 1 && b->shape[a] % 2)) return 0;
  return to->prolong[2].has_places && to->prolong[2].cols - to->prolong[2].shift >= MIN_COARSE && plane_rows(b) >= MIN_ROWS;
}

#endif
