/* Layout of a plane's coefficients in shared memory for the plane sweep over faces (plane_sweep_faces.cuh, which includes this
   file), and loading of whole lines. */
#ifndef GMG_SMOOTHERS_RELAX_CUDA_FACE_ROWS_H
#define GMG_SMOOTHERS_RELAX_CUDA_FACE_ROWS_H

#include "geometry.cuh"

#include <cuda_pipeline.h>

/* The tile has FACE_WIDE x FACE_DEEP columns, one per thread. A thread has FACE_VALUES values of u and FACE_ROWS rows of the
   matrix in registers. FACE_STEPS steps are unrolled. A block takes the time of FACE_FILL more planes than it has. */
enum {
  FACE_WIDE = 32, FACE_DEEP = sizeof(real) == 8 ? 8 : 16, FACE_THREADS = FACE_WIDE * FACE_DEEP,
  FACE_VALUES = 12, FACE_STEPS = FACE_VALUES / 2, FACE_ROWS = 6,
  FACE_PITCH = FACE_WIDE + 2, FACE_PLANE = FACE_PITCH * (FACE_DEEP + 2), FACE_MAX_PLANES = 640, FACE_FILL = 14,
  FACE_EARLY = 8, FACE_LATE = 16, /* planes that a step may access before the first and after the last */
  FACE_ALONG = FACE_EARLY + FACE_MAX_PLANES + FACE_LATE, FACE_ALONG_BYTES = FACE_ALONG * 2 * sizeof(real)
};

/* Positions of a plane's coefficients in a slot of shared memory, with the lines of each field one behind the other. Lines that are
   loaded 16 bytes at a time are aligned, and the first value of a line is at most `unit` - 1 places later. */
template <int kind, int lines> struct face_slot {
  static constexpr int unit = lines ? 16 / (int)sizeof(real) : 1, units = (FACE_WIDE + 2 * unit - 1) / unit, pitch = units * unit;
  static constexpr int field = pitch * FACE_DEEP, fields = kind & GMG_SIGMA ? 5 : 4;
  static constexpr int z = 0, f = field, x = 2 * field, sigma = 3 * field, y = (fields - 1) * field;
  static constexpr int size = (y + field + pitch + 1) / 2 * 2;
  static constexpr size_t bytes = (size_t)FACE_VALUES * (FACE_PLANE + size) * sizeof(real);
};

struct face_level : block_level {
  block_pieces cut;
  gmg_layout_32 field; /* layout of unknowns */
  pitches face_at[2];  /* faces across axes 0 and 1; those across axis 2 have the layout of unknowns */
  const real *lo[3], *hi[3], *face[3], *sigma; /* lo, hi: parts of the diagonal (a coupling, or a wall term) over `face` */
  real shift, omega;
};

/* The 16 bytes of every plane that a thread loads. If they do not exist, it loads others nearby, which are only multiplied by 0. */
template <int kind> struct face_lines {
  typedef face_slot<kind, 1> slot;
  static constexpr int unit = slot::unit, total = (slot::fields * FACE_DEEP + 1) * slot::units;
  static constexpr int rounds = (total + FACE_THREADS - 1) / FACE_THREADS;
  const real *from[rounds];
  unsigned pitch[rounds];
  real *to[rounds];
  int is_z, there; /* one bit per round */

  /* i: index of the first value of a line; line_of(line, more): index along axis 1 of an unknown, or with more = 1 of a face */
  template <class Line>
  __device__ __forceinline__ void begin(const face_level &s, const real *f, real *stage, int me, int i, Line line_of)
  {
    const int n0 = s.n[0];
    is_z = there = 0;
#pragma unroll
    for (int r = 0; r < rounds; r++) {
      /* in the last round, the active threads have no column of the ring */
      const int mine = r * FACE_THREADS + (r + 1 < rounds ? me : FACE_THREADS - 1 - me), row = mine / slot::units;
      const int field = min(row / FACE_DEEP, slot::fields - 1), x = field == 2, y = field == slot::fields - 1;
      const real *const array = field == 0 ? s.face[2] : field == 1 ? f : x ? s.face[0] : y ? s.face[1] : s.sigma;
      if (mine >= total) continue;
      const int line = (int)line_of(row - field * FACE_DEEP, y), late = (i + (x ? line : 0)) & (unit - 1);
      int first = i - late + (mine - row * slot::units) * unit;
      if (first + unit <= 0) first += unit;
      if (first >= n0 + x) first -= (first - n0 - x) / unit * unit + unit;
      from[r] = array + column_offset(x ? s.face_at[0] : s.layout, first, line);
      pitch[r] = (unsigned)(x ? s.face_at[0].plane : y ? s.face_at[1].plane : s.layout.plane);
      to[r] = stage + mine * unit, there |= 1 << r, is_z |= !field << r;
    }
  }

  /* loads plane k of the level to slot `at`; all = 0: only its lower faces */
  __device__ __forceinline__ void send(unsigned k, int at, int all) const
  {
#pragma unroll
    for (int r = 0; r < rounds; r++)
      if ((all ? there : is_z) & 1 << r) __pipeline_memcpy_async(to[r] + at * slot::size, from[r] + k * pitch[r], 16);
  }
};

/* Whether lines can be loaded 16 bytes at a time: the lines of every field are aligned, or offset by their own index. */
static inline int face_fields_have_lines(const gmg_operator *A)
{
  enum { UNIT = 16 / sizeof(real) };
  const uintptr_t all = (uintptr_t)A->face[0] | (uintptr_t)A->face[1] | (uintptr_t)A->face[2] | (uintptr_t)A->sigma;
  return A->n[0] % UNIT == 0 && A->n[1] % UNIT == 0 && !A->wraps[0] && all % 16 == 0;
}

#endif
