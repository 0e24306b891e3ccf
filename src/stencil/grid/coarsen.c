/* Semi-coarsening by coupling strength. */
#include "coarsen.h"

#include <math.h>

int gmg_coarsen(const gmg_axis_spec fine[3], double threshold, gmg_axis_spec coarse[3], int coarsened[3])
{
  double strongest = 0;
  int count = 0;
  for (int a = 0; a < 3; a++) strongest = fmax(strongest, gmg_axis_coupling(&fine[a]));
  for (int a = 0; a < 3; a++) {
    coarsened[a] = strongest > 0 && gmg_axis_coupling(&fine[a]) >= threshold * strongest;
    coarse[a] = coarsened[a] ? gmg_axis_spec_coarsened(&fine[a]) : fine[a];
    count += coarsened[a];
  }
  return count;
}
