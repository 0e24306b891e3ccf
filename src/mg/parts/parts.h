/* A solver in several processes (core/comm.h): each holds a part of the fine levels, and all hold the whole of the small ones.
   Private to mg. */
#ifndef GMG_MG_PARTS_H
#define GMG_MG_PARTS_H

#include "mg/solver.h"

/* parts.c. Cuts the finest level, if there are several processes, and sets what follows from the sizes of this process's arrays. */
gmg_status gmg_cut_finest(gmg_solver *s);
/* Cuts level l + 1, of these axes, like level l, unless it is one of the small levels, which all processes hold. */
gmg_status gmg_cut_next(gmg_solver *s, int l, const gmg_axis_spec next[3], int *is_cut);
/* Makes the messages of all levels possible, after all processes have created them, and agrees on the legs of cycles. All call it
   at once, and get the same status. */
gmg_status gmg_connect_parts(gmg_solver *s);
void gmg_disconnect_parts(gmg_solver *s); /* also if it was not connected */

/* same.c. Refuses arguments that differ between processes. The text names the first one, with both values. */
gmg_status gmg_check_same(gmg_context *c, const gmg_problem *p, const gmg_params *params);

/* arrays.c. The caller's arrays contain a process's own unknowns. In several processes a solver works on copies with ghosts, or
   in arrays that have ghosts themselves (gmg_problem::halo); alone it works in the caller's arrays. Pointers are to unknown
   (0, 0, 0): the callers' to the first own one, the others to the first of the box. */
gmg_status gmg_create_copies(gmg_solver *s);
const void *gmg_take_f(gmg_solver *s, const void *f); /* its ghosts may be anything */
void *gmg_take_u(gmg_solver *s, const void *u); /* the current values are copied */
void *gmg_place_of_u(gmg_solver *s, void *u);   /* the current values are not needed */
void *gmg_place_of_r(const gmg_solver *s, const void *f_eff, void *r); /* a residual. f_eff: an operand, which stays */
const void *gmg_copy_of_u(gmg_solver *s, const void *u); /* another copy than that of a solve, which may be running */
gmg_status gmg_create_room_for_flux(gmg_solver *s); /* in the first gmg_flux(): most programs never call it */
/* Where fluxes and gradients across an axis are computed, and their way to the caller's arrays; NULL: not wanted. */
void gmg_places_of_faces(const gmg_solver *s, void *const out[2], void *faces[2]);
void gmg_give_faces(const gmg_solver *s, int axis, void *const faces[2], void *const out[2]);
void gmg_give_u(const gmg_solver *s, const void *copy, void *u);
void gmg_give_f(const gmg_solver *s, const void *copy, void *r); /* r: of f's layout */
/* The problem with coefficient arrays that have ghosts. p: with the caller's arrays. The level must exist. */
gmg_problem gmg_with_ghosts(gmg_solver *s, const gmg_problem *p);
/* Boundary values of a face of the box, from those of this process's own unknowns. */
void gmg_take_face(const gmg_solver *s, int axis, const void *g, void *face);
/* Number of this process's own unknowns beside a wall. */
size_t gmg_own_face(const gmg_solver *s, int axis);

/* whole.c: the bottom of a cycle in several processes. It gathers f of a level, and every process solves the whole level by
   cycles of a solver of its own. */
extern const gmg_bottom_ops gmg_whole_levels;
gmg_status gmg_whole_create(gmg_solver *s);
gmg_status gmg_whole_load(gmg_solver *s); /* after the coefficients of the level have changed */
void gmg_whole_release(gmg_solver *s);

#endif
