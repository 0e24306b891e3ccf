/* A multigrid cycle and what it is made of. Private to mg. */
#ifndef GMG_MG_CYCLE_H
#define GMG_MG_CYCLE_H

#include "mg/solver.h"

/* One cycle of that kind for A u = f on level l, and below.
   f: field of the level. On the coarsest level it must be the level's own, for its solver may change it.
   u: field of the level; the guess, or (GMG_FROM_ZERO) not read.
   to: where the smoothed u goes. NULL, or 0 is returned: it is in u. 1: it is in the target, and u is undefined. */
int gmg_cycle(const gmg_multigrid *m, int l, const void *f, void *u, gmg_cycle_kind kind, gmg_start start, const gmg_update_target *to);

/* The two legs of a cycle on a level, one way of doing them: legs.c chooses at create. */
struct gmg_legs {
  /* Smooths A u = f and leaves the restricted residual in the next coarser level's f. */
  void (*presmooth_restrict)(const gmg_multigrid *m, int l, const void *f, void *u, gmg_start start);
  /* Adds the next coarser level's u and smooths; `to` and the value returned as for gmg_cycle(). */
  int (*prolong_postsmooth)(const gmg_multigrid *m, int l, const void *f, void *u, const gmg_update_target *to);
};
extern const gmg_legs gmg_plain_legs, gmg_double_buffered_legs;

/* legs.c */
void gmg_choose_legs(gmg_multigrid *m, int l); /* at create, when the smoother of level l and its maps are there */
void gmg_presmooth_restrict(const gmg_multigrid *m, int l, const void *f, void *u, gmg_start start);

/* bottom.c: create after all levels; update when their values are new */
gmg_status gmg_bottoms_create(gmg_solver *s);
gmg_status gmg_bottoms_update(gmg_solver *s);
void gmg_bottom_solve(const gmg_multigrid *m, int l, const void *f, void *u, gmg_cycle_kind kind, gmg_start start);

/* watch.c: one cycle on the finest level that looks for the level where the residual first stops being a number, or else
   grows most */
typedef struct gmg_watch {
  int level;      /* -1: nowhere */
  double growth;  /* of the residual by the smoother there; infinite for NaN */
} gmg_watch;
gmg_watch gmg_watched_cycle(const gmg_multigrid *m, const void *f, void *u, gmg_cycle_kind kind);

/* fmg.c: computes a full multigrid start. Returns a last correction, not yet added to u. f: the caller's; f_eff:
   gmg_effective_rhs() of it. Only enqueues. */
gmg_correction gmg_fmg_approximate(gmg_solver *s, const void *f, const void *f_eff, void *u);

/* The parts of a full multigrid start that depend on the type of the levels: fmg.c has those of levels in the problem's type,
   fmg_low.c those of levels in a lower one. */
typedef struct gmg_fmg_ops {
  /* Takes f to the r of a coarser level, and boundary values to those above it; returns the level above that one. */
  int (*sample_finest)(gmg_solver *s, const void *f, const void *f_eff);
  /* From the solution of the level below them to that of the levels above, and the finest. */
  gmg_correction (*finish)(gmg_solver *s, const void *f_eff, void *u);
} gmg_fmg_ops;
extern const gmg_fmg_ops gmg_fmg_same_type, gmg_fmg_low_type;

void gmg_fmg_sample_faces(const gmg_solver *s, const gmg_exec *e, gmg_level *L, gmg_level *C);
int gmg_fmg_needs_ghosts(const gmg_solver *s, int l); /* in the interpolation to level l */

#endif
