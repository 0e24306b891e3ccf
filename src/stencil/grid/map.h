/* 1D maps between a fine and a coarse axis. Transfers between grids are tensor products of them. Row r of a map is y_r = sum over m
   < width of weight[r][m] x[wrap[first[r] + m]]. Calls core and axis; called by mg, which builds the maps, by the transfer kernels,
   and by smoothers. */
#ifndef GMG_STENCIL_GRID_MAP_H
#define GMG_STENCIL_GRID_MAP_H

#include "core/exec.h"
#include "core/layout.h"
#include "core/part.h"
#include "axis.h"

enum { GMG_MAP_PAD = 8 }; /* how far a row may read beyond the ends */

/* Extents of a tile of fine unknowns along the first two axes (transfer/cuda/restrict_columns.cuh), and of a strip along the first
   one (transfer/cuda/restrict_strips.cuh). */
enum { GMG_TILE_COLUMNS = 30, GMG_TILE_LINES = 36, GMG_STRIP_COLUMNS = 62 };

/* Axes with twice as many fine unknowns as coarse ones, whose rows read columns in a fixed pattern. Faster kernels process such
   axes in pairs. */
typedef enum {
  GMG_PAIRS_NONE,
  GMG_PAIRS_AVERAGE, /* row I reads columns 2 I and 2 I + 1 only */
  GMG_PAIRS_ADJOINT, /* row I reads columns 2 I - 1 to 2 I + 2 only */
  GMG_PAIRS_LINEAR   /* row 2 I reads columns I - 1 and I only, row 2 I + 1 columns I and I + 1 */
} gmg_pairs;

/* gmg_map::place need not describe so many rows at the lower end of an axis, and the last two rows. */
enum { GMG_NEAR_ENDS = 8 };

typedef struct gmg_map {
  int rows, cols, width;
  gmg_pairs pairs;
  int rows_in_tile[2]; /* how many successive rows, wherever they begin, read at most as many columns as a tile has along its
                          first and its second axis */
  int rows_in_strip;  /* the same for the columns of a strip */
  int begin, end;     /* the rows begin .. end - 1 repeat: every `period` rows the weights recur, and first grows by
                         `step` */
  int period, step;   /* 1 and 2 (restriction), 2 and 1 (prolongation), or 1 and 1 */
  double repeat[2][4]; /* weights of rows begin and begin + 1; only for width <= 4 */
  int at[2];          /* `first` of these two rows, on the host */
  int shift;          /* on merged cells: fine unknown i lies in coarse cell i / 2 + shift. Not 0 only between parts */
  gmg_pairs pairs_inside; /* `pairs` if shift is added to all coarse indices: of the coarse cells in which the fine unknowns lie */
  int near_pairs;     /* rows 2 K and 2 K + 1 read columns K - 1 and K, or K and K + 1, with shift added. Row 2 K does not read
                         column K + 1 if row 2 K + 1 reads column K - 1. So is linear interpolation where an axis of any size is
                         coarsened to about half */
  int has_places;     /* near_pairs, and rows 2 K and 2 K + 1 lie place[0] + slope K and place[1] + slope K columns above column K,
                         but for some near the ends (GMG_NEAR_ENDS) */
  double place[2], slope;
  const int *first_inside; /* [rows] first - shift; only for GMG_PAIRS_LINEAR, and if shift is not 0 */
  const void *weight; /* [rows][width] reals, exec's memory */
  const int *first;   /* [rows] may be < 0 or beyond cols (see wrap); never decreases with r */
  const int *wrap;    /* actual column of an index from -GMG_MAP_PAD to cols + GMG_MAP_PAD - 1, periodic or clamped */
} gmg_map;

/* Whether the first `axes` maps are all of this kind. */
GMG_INLINE int gmg_all_have_pairs(const gmg_map *map, int axes, gmg_pairs kind)
{
  for (int a = 0; a < axes; a++)
    if (map[a].pairs != kind) return 0;
  return 1;
}

/* The maps of all axes, for kernels. */
typedef struct gmg_maps {
  gmg_map m[3];
} gmg_maps;

GMG_INLINE gmg_maps gmg_maps_of(const gmg_map map[3])
{
  const gmg_maps all = {{map[0], map[1], map[2]}};
  return all;
}

/* Layouts of the output (one value per row) and of the input (one per column) of a tensor product of maps. */
GMG_INLINE gmg_layout gmg_layout_of_rows(const gmg_map map[3])
{
  const size_t n[3] = {(size_t)map[0].rows, (size_t)map[1].rows, (size_t)map[2].rows};
  return gmg_layout_packed(n);
}

GMG_INLINE gmg_layout gmg_layout_of_columns(const gmg_map map[3])
{
  const size_t n[3] = {(size_t)map[0].cols, (size_t)map[1].cols, (size_t)map[2].cols};
  return gmg_layout_packed(n);
}

typedef enum {
  GMG_MAP_IDENTITY,
  GMG_MAP_PROLONG,        /* prolongation of a correction (zero walls): linear interpolation; on nested axes constant */
  GMG_MAP_PROLONG_LINEAR, /* linear interpolation on nested axes, too: for prolong_faces */
  GMG_MAP_RESTRICT,       /* cells: averaging by overlap; vertices: full weighting, rows normalised to sum 1 */
  GMG_MAP_RESTRICT_ADJOINT, /* W_c^-1 P^T W: adjoint of prolongation with respect to the control volumes */
  GMG_MAP_INTERPOLATE,    /* linear interpolation from coarse values padded by one ghost at each end (cols = n + 2) */
  GMG_MAP_FACES           /* nested axes: the fine faces that are also faces of coarse cells (rows n + 1, cols n + 1) */
} gmg_map_kind;

/* fine and coarse may be the same axis (not coarsened). Every kind is then the identity; INTERPOLATE skips the ghosts. */
gmg_status gmg_map_create(gmg_exec *e, gmg_map_kind kind, const gmg_axis *fine, const gmg_axis *coarse, gmg_map *map);

/* The map between two parts of these axes (core/part.h). The parts have the unknowns of fine_part and coarse_part. Rows that read
   beyond the other part are those of ghosts: they get values without meaning. */
gmg_status gmg_map_create_part(gmg_exec *e, gmg_map_kind kind, const gmg_axis *fine, const gmg_axis *coarse, gmg_span fine_part,
                               gmg_span coarse_part, gmg_map *map);

#endif
