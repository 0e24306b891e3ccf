/* Where passes over faces (cuda/plane_sweep_faces.cuh) keep a plane's coefficients in shared memory, and how whole lines of them come there. */
#ifndef GMG_SMOOTHERS_RELAX_CUDA_FACE_ROWS_H
#define GMG_SMOOTHERS_RELAX_CUDA_FACE_ROWS_H

#include "stencil/operator/cuda/uniform_columns.cuh"

#include <cuda_pipeline.h>

enum {
  FLOW_WIDE = 32, FLOW_DEEP = sizeof(real) == 8 ? 8 : 16, FLOW_THREADS = FLOW_WIDE * FLOW_DEEP,
  FLOW_NUMBERS = 12, FLOW_STEPS = FLOW_NUMBERS / 2, FLOW_ROWS = 6,
  FLOW_PITCH = FLOW_WIDE + 2, FLOW_PLANE = FLOW_PITCH * (FLOW_DEEP + 2), FLOW_MOST_PLANES = 128, FLOW_FILL = 14,
  FLOW_EARLY = 8, FLOW_LATE = 16, /* planes that a step may name before the first and after the last */
  FLOW_ALONG = FLOW_EARLY + FLOW_MOST_PLANES + FLOW_LATE, FLOW_ALONG_BYTES = FLOW_ALONG * 2 * sizeof(real)
};

/* Where in a slot of shared memory a plane's coefficients are; lines of each field, one behind the other. Where lines come by 16 bytes
   they begin with whole ones, and a line's first value is up to `unit` - 1 later. */
template <int kind, int lines> struct flow_slot {
  static constexpr int unit = lines ? 16 / (int)sizeof(real) : 1, units = (FLOW_WIDE + 2 * unit - 1) / unit, pitch = units * unit;
  static constexpr int field = pitch * FLOW_DEEP, fields = kind & GMG_SIGMA ? 5 : 4;
  static constexpr int z = 0, f = field, x = 2 * field, sigma = 3 * field, y = (fields - 1) * field;
  static constexpr int size = (y + field + pitch + 1) / 2 * 2;
  static constexpr size_t bytes = (size_t)FLOW_NUMBERS * (FLOW_PLANE + size) * sizeof(real);
};

typedef struct {
  int n[3], wraps[3], own[3], count[3];
  const real *lo[3], *hi[3], *face[3], *sigma; /* of the diagonal: the coupling, or the wall term where nothing is beyond */
  real shift, omega;
  int reversed;
  size_t total;
  const int *order; /* NULL: natural */
} flow;

/* Which 16 bytes of every plane a thread asks for. Where there are none it asks for something near by: nobody looks at that but to
   multiply it by 0. */
template <int kind> struct flow_lines {
  typedef flow_slot<kind, 1> slot;
  static constexpr int unit = slot::unit, total = (slot::fields * FLOW_DEEP + 1) * slot::units;
  static constexpr int rounds = (total + FLOW_THREADS - 1) / FLOW_THREADS;
  const real *from[rounds];
  unsigned stride[rounds];
  real *to[rounds];
  int is_z, there; /* bits, by round */

  /* i: what the first value of a line is; line_of(line, more): which unknown (or face) of axis 1 */
  template <class Line>
  __device__ __forceinline__ void begin(const flow &s, const real *f, real *stage, int me, int i, Line line_of)
  {
    const int n0 = s.n[0], slice = n0 * s.n[1];
    is_z = there = 0;
#pragma unroll
    for (int r = 0; r < rounds; r++) {
      /* in the last round those at work have no column of the ring */
      const int mine = r * FLOW_THREADS + (r + 1 < rounds ? me : FLOW_THREADS - 1 - me), row = mine / slot::units;
      const int field = min(row / FLOW_DEEP, slot::fields - 1), x = field == 2, y = field == slot::fields - 1;
      const real *const array = field == 0 ? s.face[2] : field == 1 ? f : x ? s.face[0] : y ? s.face[1] : s.sigma;
      if (mine >= total) continue;
      const int line = (int)line_of(row - field * FLOW_DEEP, y), late = (i + (x ? line : 0)) & (unit - 1);
      int place = i - late + (mine - row * slot::units) * unit;
      if (place + unit <= 0) place += unit;
      if (place >= n0 + x) place -= (place - n0 - x) / unit * unit + unit;
      from[r] = array + (line * (n0 + x) + place), stride[r] = (unsigned)(slice + (x ? s.n[1] : y ? n0 : 0));
      to[r] = stage + mine * unit, there |= 1 << r, is_z |= !field << r;
    }
  }

  /* plane k of the level to slot `at`; not all: only the faces below it */
  __device__ __forceinline__ void send(unsigned k, int at, int all) const
  {
#pragma unroll
    for (int r = 0; r < rounds; r++)
      if ((all ? there : is_z) & 1 << r) __pipeline_memcpy_async(to[r] + at * slot::size, from[r] + k * stride[r], 16);
  }
};

/* Where they can come so: lines of every field begin with whole 16 bytes, or as many later as they are counted up to there. */
static inline int flow_has_lines(const gmg_operator *A)
{
  enum { UNIT = 16 / sizeof(real) };
  const uintptr_t all = (uintptr_t)A->face[0] | (uintptr_t)A->face[1] | (uintptr_t)A->face[2] | (uintptr_t)A->sigma;
  return A->n[0] % UNIT == 0 && A->n[1] % UNIT == 0 && !A->wraps[0] && all % 16 == 0;
}

#endif
