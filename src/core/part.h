/* The part of a level that a process holds, if several processes share the grid. A part is a box: its own unknowns and, on each
   side on which the grid was cut, planes of ghosts (comm.h). Its fields are packed fields of this larger box, so all operations are
   those of a whole grid. Only sums leave the ghosts out. Built by mg; read by comm, and by sums over a level. */
#ifndef GMG_CORE_PART_H
#define GMG_CORE_PART_H

#include "types.h"

#include <stddef.h>

typedef struct gmg_part {
  size_t whole[3];      /* unknowns of the whole level along each axis */
  int parts[3];         /* number of parts along each axis */
  int at[3];            /* which of them this is */
  int periodic[3];
  int ghosts;           /* planes of ghosts beside a cut, at least */
  int relaxes_ghosts;   /* asynchronous blocks cover the ghosts, too; otherwise the process's own unknowns alone */
  const size_t *cut[3]; /* [parts + 1] part c has the unknowns cut[c] .. cut[c + 1] - 1 of the axis */
  size_t own[3][2];     /* own unknowns, as indices of a field: own[a][0] .. own[a][1] - 1 */
  struct gmg_mail *mail; /* what messages need; private to the table of neighbours */
} gmg_part;

/* Consecutive unknowns of an axis. On a periodic axis `first` may be below 0, and the end beyond the axis. */
typedef struct gmg_span {
  long first;
  size_t n;
} gmg_span;

static inline int gmg_is_cut(const gmg_part *p, int axis) { return p->parts[axis] > 1; }

/* The unknowns of part c along an axis, ghosts included. A box begins at an even unknown, so colours are those of the whole level.
   Therefore there may be one more plane of ghosts below. */
static inline gmg_span gmg_span_of_part(const gmg_part *p, int axis, int c)
{
  const long n = (long)p->whole[axis], ghosts = gmg_is_cut(p, axis) ? p->ghosts : 0;
  long low = (long)p->cut[axis][c] - ghosts, high = (long)p->cut[axis][c + 1] + ghosts;
  if (!p->periodic[axis] && low < 0) low = 0;
  if (!p->periodic[axis] && high > n) high = n;
  low -= low & 1;
  return (gmg_span){low, (size_t)(high - low)};
}

static inline gmg_span gmg_own_span(const gmg_part *p, int axis) { return gmg_span_of_part(p, axis, p->at[axis]); }

/* Whether the box ends at a wall of the domain, and not at a cut. */
static inline int gmg_has_wall(const gmg_part *p, int axis, int side)
{
  return !p->periodic[axis] && p->at[axis] == (side ? p->parts[axis] - 1 : 0);
}

#endif
