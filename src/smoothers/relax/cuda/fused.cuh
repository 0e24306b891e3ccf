/* Operations that a pass over a level can include besides relaxation: starting from zero, prolonging the coarse correction,
   restricting the residual, and storing the scaled u in a field of doubles. Included by the row and plane sweeps and by packed
   tiles. */
#ifndef GMG_SMOOTHERS_RELAX_CUDA_FUSED_H
#define GMG_SMOOTHERS_RELAX_CUDA_FUSED_H

#include "geometry.cuh"
#include "stencil/operator/cuda/warp_rows.cuh"

extern "C" {
#include "smoothers/fused.h"
}

/* Kinds of a pass; they can be combined. */
enum {
  PASS_FROM_ZERO = 1, /* u is 0 before the pass */
  PASS_PROLONG = 2,   /* the coarse correction is interpolated, and added to u as it is read */
  PASS_RESTRICT = 4,  /* the residual of the result is restricted */
  PASS_UPDATE = 8,    /* u is written to the update target: the pass reads and writes different fields, like the deterministic
                         twin */
  PASS_UNPAIRED = 16, /* with PASS_PROLONG: axes are not coarsened in pairs, or walls mirror */
  PASS_BASE = 32      /* with PASS_PROLONG and PASS_UPDATE: a coarse field of doubles is interpolated, and added to x */
};

/* Only float corrections update a field of another type. */
#if GMG_REAL_F32
#define IN_FLOAT(function) function
#else
#define IN_FLOAT(function) NULL
#endif

/* --- PASS_UPDATE and PASS_PROLONG -------------------------------------------------------------------------------------- */

/* Weights of the interpolation of a base: of the parent of a fine unknown, and of the parent's neighbour. */
typedef struct alignas(16) {
  double own, side;
} base_weights;

/* The base of x, coarse values of type double. Its layout and the columns of its maps are those of the correction. */
typedef struct {
  const double *coarse;    /* NULL: no base */
  const double *weight[3]; /* of its maps */
  base_weights along[2];   /* of even and odd planes, or rows, the same for most */
} update_base;

/* The destination of u, x = scale u + keep x + base, and the correction added to u before. Axes as in block_level. */
typedef struct {
  double *x;
  const double *scale;   /* NULL: 1 */
  int keep;              /* 0 or 1 */
  const scalar *coarse;  /* NULL: no correction */
  gmg_map map[3];        /* maps of prolongation */
  pitches layout;        /* layout of the coarse field */
  gmg_repeated_pairs along; /* weights along the columns, the same for most rows */
  real place[2], slope;     /* of the map along the columns, as in gmg_map */
  int row_gap, plane_gap; /* by how much rows and planes of x are longer than those of the level's fields */
  update_base base;
} update_output;

/* Whether offsets in x can be ints. */
static inline int update_has_offsets(const gmg_update_target *to)
{
  return gmg_offset(to->layout, to->layout.n[0] - 1, to->layout.n[1] - 1, to->layout.n[2] - 1) <= 0x7fffffff;
}

/* By how much the offset of an unknown in x exceeds that in the level's fields. j, k: its indices across and along the columns */
static __device__ __forceinline__ int update_gap(const update_output &o, int j, int k) { return o.row_gap * j + o.plane_gap * k; }

/* The map of a part (core/part.h) with coarse cells counted from that of fine unknown 0 on. along: so is the coarse field. */
static inline gmg_map map_from_first_pair(const gmg_map *m, int along)
{
  gmg_map x = *m;
  if (m->shift == 0) return x;
  x.first = m->first_inside, x.cols -= m->shift;
  for (int r = 0; r < 2; r++) x.at[r] -= m->shift;
  if (!along) x.wrap += m->shift;
  return x;
}

static inline update_output update_of(const gmg_update_target *to, const gmg_operator *A)
{
  update_output o = {(double *)to->x, to->scale, to->keep, (const scalar *)to->coarse};
  const int axis[3] = {0, A->dim == 3 ? 1 : 2, A->dim - 1};
  const pitches own = pitches_of(gmg_layout_of(A), A->dim), x = pitches_of(to->layout, A->dim);
  o.row_gap = A->dim == 3 ? x.row - own.row : 0, o.plane_gap = x.plane - own.plane;
  if (!to->coarse) return o;
  o.layout = pitches_of(gmg_layout_of_columns(to->prolong), A->dim);
  for (int a = 0; a < 3; a++) o.map[a] = map_from_first_pair(&to->prolong[axis[a]], a == 2);
  o.coarse += (size_t)to->prolong[axis[2]].shift * (size_t)o.layout.plane;
  o.along = gmg_repeated_pairs_of(&o.map[2]);
  o.place[0] = (real)o.map[2].place[0], o.place[1] = (real)o.map[2].place[1], o.slope = (real)o.map[2].slope;
  o.base.coarse = (const double *)to->base;
  for (int a = 0; a < 3 && to->base; a++) o.base.weight[a] = (const double *)to->base_map[axis[a]].weight;
  for (int b = 0; b < 2; b++) gmg_repeated_pair_of(&o.map[2], b, &o.base.along[b].own, &o.base.along[b].side);
  return o;
}

/* Weights of fine index i along an axis. */
static __device__ __forceinline__ base_weights base_weights_of(const update_output &o, int a, int i)
{
  const gmg_map &m = o.map[a];
  const int own = (i >> 1) - __ldg(m.first + i), side = own - 1 + 2 * (i & 1);
  const double *const w = o.base.weight[a] + (size_t)i * m.width;
  return {own >= 0 && own < m.width ? __ldg(w + own) : 0, side >= 0 && side < m.width ? __ldg(w + side) : 0};
}

/* Doubles are not scaled: in double, u is only copied. */
static __device__ __forceinline__ double update_scale(const update_output &o) { return o.scale ? *o.scale : 1; }

/* Adds without waiting for the result. A pass writes every unknown once. */
static __device__ __forceinline__ void put_update(const update_output &o, double scale, int offset, scalar value)
{
#if GMG_REAL_F32
  if (o.keep) (void)atomicAdd(o.x + offset, scale * (double)value);
  else o.x[offset] = scale * (double)value;
#else
  o.x[offset] = value;
#endif
}

/* Two updates, of those values that are `mine`, with one branch for both. */
static __device__ __forceinline__ void put_updates(const update_output &o, double scale, const int mine[2], const int offset[2],
                                                   const scalar value[2])
{
#if GMG_REAL_F32
  const double x[2] = {scale * (double)value[0], scale * (double)value[1]};
  if (o.keep) {
    if (mine[0]) (void)atomicAdd(o.x + offset[0], x[0]);
    if (mine[1]) (void)atomicAdd(o.x + offset[1], x[1]);
    return;
  }
#else
  const scalar *const x = value;
#endif
  if (mine[0]) o.x[offset[0]] = x[0];
  if (mine[1]) o.x[offset[1]] = x[1];
}

/* Two updates with a base. */
static __device__ __forceinline__ void put_updates_on(const update_output &o, double scale, const int mine[2], const int offset[2],
                                                      const scalar value[2], const double base[2])
{
#pragma unroll
  for (int r = 0; r < 2; r++)
    if (mine[r]) o.x[offset[r]] = base[r] + scale * (double)value[r];
}

/* gmg_near_pair_of() of fine index i. paired: the axis is coarsened in pairs, and no wall mirrors. */
template <int paired>
static __device__ __forceinline__ gmg_near_pair near_pair_of(const gmg_map &m, int i, int n, int ends, int exists)
{
  const gmg_pair_weights w = gmg_pair_weights_of(m, i, n, ends, paired && exists);
  return paired ? gmg_near_pair{w.own, w.side, i & 1} : gmg_near_pair_of(m, i, ends, exists);
}

/* --- PASS_RESTRICT ----------------------------------------------------------------------------------------------------- */

/* Restriction by averaging over 2 x 2 x 2 unknowns. It only uses values that the pass writes, so it restricts the residual of the
   final u, whatever values the blocks have read from each other. A coarse value is

   weight (sum of f - D u over its 8 unknowns + c_x, c_y, c_z times u of the neighbours across its faces),

   where D is the diagonal less the couplings among the 8. It is a sum of contributions of single unknowns: to their own coarse
   value, and to those across the nearest faces. A block adds the contributions of its own unknowns to the coarse level. Coarse
   values at its faces get the rest from neighbouring blocks. */
typedef struct {
  scalar *coarse;       /* zero before the pass, unless blocks are self-contained (plane_restrict.cuh) */
  gmg_layout_32 layout; /* layout of the coarse field */
  real weight;
} restriction_output;

/* Returns 0 if this does not apply. It requires averages of 8 with equal weights, and blocks of whole groups of 8. In a part
   (core/part.h) it restricts to the coarse cells in which the fine unknowns lie. */
static inline int restriction_of(restriction_output *r, void *coarse, const gmg_operator *A, const gmg_map map[3],
                                 const gmg_blocks *b)
{
  const gmg_layout all = gmg_layout_of_rows(map);
  r->weight = 1, r->layout = gmg_layout_32_of(all);
  r->coarse = coarse ? (scalar *)coarse + gmg_offset(all, map[0].shift, map[1].shift, map[2].shift) : NULL;
  if (A->dim != 3) return 0;
  for (int a = 0; a < 3; a++) {
    const gmg_map *m = &map[a];
    r->layout.n[a] = (unsigned)(m->cols / 2);
    if (m->pairs_inside != GMG_PAIRS_AVERAGE || m->width != 2 || m->period != 1 || m->begin > m->shift ||
        m->end < m->shift + m->cols / 2 || m->repeat[0][0] != m->repeat[0][1] || (b->count[a] > 1 && b->shape[a] % 2))
      return 0;
    r->weight *= (real)m->repeat[0][0];
  }
  return 1;
}

#endif
