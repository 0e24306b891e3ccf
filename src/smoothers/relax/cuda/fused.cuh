/* What a pass over a level can do besides relaxing it, in the words that all engines share: start from zero, take the
   coarse correction in, restrict the residual that it leaves, and leave u, scaled, in a field of doubles. Included by
   the engines; it knows none of them. */
#ifndef GMG_SMOOTHERS_RELAX_CUDA_FUSED_H
#define GMG_SMOOTHERS_RELAX_CUDA_FUSED_H

#include "geometry.cuh"
#include "stencil/operator/cuda/warp_rows.cuh"

extern "C" {
#include "smoothers/fused.h"
}

/* Kinds of pass, to be combined. */
enum {
  PASS_FROM_ZERO = 1, /* u is 0 before */
  PASS_PROLONG = 2,   /* the coarse correction is interpolated and added as u is read */
  PASS_RESTRICT = 4,  /* the residual of what is written is restricted */
  PASS_UPDATE = 8     /* u goes to the update target, not back: nothing is written that is read, as in the deterministic twin */
};

/* Only corrections of the narrower type go up to a field of another type. */
#if GMG_REAL_F32
#define IN_FLOAT(function) function
#else
#define IN_FLOAT(function) NULL
#endif

/* --- PASS_UPDATE and PASS_PROLONG -------------------------------------------------------------------------------------- */

/* Where u goes, x = size u + keep x, and the correction that u gets before. Axes as in block_level. */
typedef struct {
  double *x;
  const double *size;    /* NULL: 1 */
  int keep;              /* 0 or 1 */
  const real *coarse;    /* NULL: there is no correction */
  gmg_map map[3];        /* prolongation */
  pitches at;            /* of the coarse field */
  gmg_pair_family along; /* its weights along, the same for most rows */
} update;

static inline update update_of(const gmg_update_target *to, const gmg_operator *A)
{
  update o = {(double *)to->x, to->size, to->keep, (const real *)to->coarse};
  const int axis[3] = {0, A->dim == 3 ? 1 : 2, A->dim - 1};
  if (!to->coarse) return o;
  for (int a = 0; a < 3; a++) o.map[a] = to->prolong[axis[a]];
  o.at = pitches_of(gmg_layout_of_columns(to->prolong), A->dim);
  o.along = gmg_pair_family_of(&o.map[2]);
  return o;
}

/* Doubles are not scaled: they come back as they are. */
static __device__ __forceinline__ double update_scale(const update &o) { return o.size ? *o.size : 1; }

/* An addition that nobody waits for: one pass writes every unknown once. */
static __device__ __forceinline__ void put_update(const update &o, double scale, int offset, real value)
{
#if GMG_REAL_F32
  if (o.keep) (void)atomicAdd(o.x + offset, scale * (double)value);
  else o.x[offset] = scale * (double)value;
#else
  o.x[offset] = value;
#endif
}

/* Weights of fine index i: as in the level, or beyond a wall or around a periodic axis. */
static __device__ __forceinline__ gmg_pair_weights pair_weights_of(const gmg_map &m, int i, int n, int wraps, int exists)
{
  if (!exists) return {0, 0};
  return gmg_pair_weights_of(m, gmg_wrap_index(i, n, wraps));
}

/* --- PASS_RESTRICT ----------------------------------------------------------------------------------------------------- */

/* Averages over 2 x 2 x 2 unknowns: of nothing but the values that the pass writes, so that it is the residual of what
   stands in u when all blocks are done, whatever they saw of each other. A coarse value is

     weight (sum of f - D u over its 8 unknowns + c_x, c_y, c_z times u of the neighbours across its faces),

   D being the diagonal less the couplings inside the 8. It is the sum of what each unknown gives: to its own 8, and to
   those beyond the nearest faces. A block adds up what its own unknowns give, and adds that to the coarse level, where
   cells at its faces get the rest from its neighbours. */
typedef struct {
  real *coarse; /* zeros before the pass, unless a block knows what others leave beside it */
  gmg_layout_32 at; /* of the coarse field */
  real weight;
} restriction;

/* 0 where that does not apply: averages of 8, all with one weight, and blocks of whole ones. */
static inline int restriction_of(restriction *r, void *coarse, const gmg_operator *A, const gmg_map map[3], const gmg_blocks *b)
{
  r->weight = 1, r->coarse = (real *)coarse, r->at = gmg_layout_32_of(gmg_layout_of_rows(map));
  if (A->dim != 3) return 0;
  for (int a = 0; a < 3; a++) {
    const gmg_map *m = &map[a];
    if (m->pairs != GMG_PAIRS_AVERAGE || m->width != 2 || m->out != 1 || m->begin > 0 || m->end < m->rows ||
        m->repeat[0][0] != m->repeat[0][1] || (b->count[a] > 1 && b->shape[a] % 2))
      return 0;
    r->weight *= (real)m->repeat[0][0];
  }
  return 1;
}

#endif
