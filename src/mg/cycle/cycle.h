/* A multigrid cycle and its parts: legs, bottom, divergence check, full multigrid start. Private to mg. */
#ifndef GMG_MG_CYCLE_H
#define GMG_MG_CYCLE_H

#include "mg/solver.h"

/* One cycle of the given kind for A u = f, on level l and all coarser ones.
   - f: field of the level, with fresh ghosts: a leg that relaxes ghosts again reads f on ghosts (core/comm.h). On the coarsest
     level it must belong to the level, because the solver may change it.
   - u: field of the level. The guess; with GMG_FROM_ZERO it is not read.
   - to: destination of the smoothed u, or NULL.
   - Returns 1 if the result is in the target; u is then undefined. Returns 0 if it is in u. */
int gmg_cycle(const gmg_multigrid *m, int l, const void *f, void *u, gmg_cycle_kind kind, gmg_start start,
              const gmg_update_target *to);

/* improve.c */
void gmg_improve(gmg_solver *s, const void *f, void *u); /* one cycle in the problem's type for the caller's u. f: the caller's, or
                                                            f_eff. Only enqueues */
/* Computes a correction to to->x from a residual, by `cycles` cycles on level l, the first from zero. level[l].f holds the
   residual, divided by to->scale[0]. The correction is to->scale[0] times the result. There are two outcomes:
   - The cycle has updated the target in its last pass. Returns a correction with z = NULL. With a base it is always so.
   - The cycle has not changed x. Returns the correction, which the caller must apply: x = correction + keep x. */
gmg_correction gmg_correct(gmg_solver *s, int l, int cycles, const gmg_update_target *to);

/* One implementation of the two legs of a cycle on a level. Chosen at create (legs.c). */
struct gmg_legs {
  /* Smooths A u = f, and stores the restricted residual in f of the next coarser level. */
  void (*presmooth_restrict)(const gmg_multigrid *m, int l, const void *f, void *u, gmg_start start);
  /* Adds u of the next coarser level, and smooths. `to` and the return value are as in gmg_cycle(). */
  int (*prolong_postsmooth)(const gmg_multigrid *m, int l, const void *f, void *u, const gmg_update_target *to);
  /* gmg_takes_base(). NULL: never */
  int (*takes_base)(const gmg_multigrid *m, int l, const gmg_update_target *to);
};
extern const gmg_legs gmg_plain_legs, gmg_double_buffered_legs;

/* legs.c */
gmg_refresh *gmg_refresh_of(gmg_halos halos);
const gmg_legs *gmg_unfused_legs(const gmg_multigrid *m); /* one operation after the other */
void gmg_agree_on_legs(gmg_multigrid *m, int l); /* in several processes, called by all at once: the same legs on all */
/* Whether a cycle on level l updates this target, which has a base, wherever its arrays lie. */
int gmg_takes_base(const gmg_multigrid *m, int l, const gmg_update_target *to);
void gmg_choose_legs(gmg_multigrid *m, int l); /* at create, after the smoother and the maps of level l */

/* bottom.c. Create after all levels; update after their values have changed. */
gmg_status gmg_bottoms_create(gmg_solver *s);
gmg_status gmg_bottoms_update(gmg_solver *s);
void gmg_bottom_solve(const gmg_multigrid *m, int l, const void *f, void *u, gmg_cycle_kind kind, gmg_start start);

/* watch.c. Runs one cycle on the finest level, and finds the level on which the residual first becomes NaN or infinite, or else
   grows most. */
typedef struct gmg_watch {
  int level;      /* -1: on no level */
  double growth;  /* factor by which the smoother increases the residual on that level; infinity for NaN */
} gmg_watch;
gmg_watch gmg_watched_cycle(const gmg_multigrid *m, const void *f, void *u, gmg_cycle_kind kind);

/* fmg.c. Computes a full multigrid start. Returns a last correction that is not yet added to u. f: from the caller; f_eff:
   gmg_effective_rhs() of f. Only enqueues. */
gmg_correction gmg_fmg_approximate(gmg_solver *s, const void *f, const void *f_eff, void *u);

/* The parts of a full multigrid start that depend on the type of the levels: in fmg.c for levels in the problem's type, in
   fmg_low.c for levels in low precision. */
typedef struct gmg_fmg_ops {
  /* Restricts f to the data of level l + 1, and boundary values to all levels up to l, for an l that it chooses. Returns l. */
  int (*restrict_first_levels)(gmg_solver *s, const void *f, const void *f_eff);
  /* Returns 1 if the last cycle on level l + 1 may write its solution to a target, and sets that. */
  int (*target)(gmg_solver *s, gmg_update_target *to);
  /* From the solution on level l + 1 computes those on levels l to 0. in_target: it is in the target. */
  gmg_correction (*finish)(gmg_solver *s, const void *f_eff, void *u, int in_target);
} gmg_fmg_ops;
extern const gmg_fmg_ops gmg_fmg_same_type, gmg_fmg_low_type;

/* padded = u with a layer of values beyond the walls, computed from boundary values */
void gmg_fmg_pad(gmg_solver *s, gmg_exec *e, gmg_level *L, const void *u, void *padded);
void gmg_fmg_restrict_faces(const gmg_solver *s, const gmg_exec *e, gmg_level *L, gmg_level *C);
void *gmg_fmg_data(const gmg_solver *s, int l);
int gmg_fmg_needs_padding(const gmg_solver *s, int l); /* whether the interpolation to level l reads a padded field */

#endif
