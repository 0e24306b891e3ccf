/* The stencil of linear, bilinear and trilinear finite elements (Strang, Fix 1973). Called through the API. */
#include "core/context.h"

#include <math.h>
#include <string.h>

gmg_status gmg_stencil_q1_init(gmg_stencil *stencil, size_t size, int dim, const double h[], double sigma)
{
  gmg_stencil s = {.size = size};
  int good = stencil && dim >= 1 && dim <= 3 && sigma >= 0 && isfinite(sigma);
  for (int a = 0; good && h && a < dim; a++) good = h[a] > 0 && isfinite(h[a]);
  /* the sum over the axes of stiffness along one and mass along the others, and the mass matrix; all divided by the cell's volume
     */
  for (int e = 0; good && e < 27; e++) {
    const int at[3] = {e % 3, e / 3 % 3, e / 9};
    double mass[3] = {1, 1, 1}, stiffness[3] = {0, 0, 0}, sum = sigma;
    int is_used = 1;
    for (int a = 0; a < 3; a++) {
      const double width = h && a < dim ? h[a] : 1;
      is_used = is_used && (a < dim || at[a] == 1);
      if (a >= dim) continue;
      mass[a] = at[a] == 1 ? 4 / 6. : 1 / 6.;
      stiffness[a] = (at[a] == 1 ? 2 : -1) / (width * width);
    }
    sum *= mass[0] * mass[1] * mass[2];
    for (int a = 0; a < dim; a++) sum += stiffness[a] * mass[(a + 1) % 3] * mass[(a + 2) % 3];
    if (is_used) s.entry[at[2]][at[1]][at[0]] = sum;
  }
  if (stencil) gmg_give_struct(&s, sizeof s, stencil, size);
  return good ? GMG_OK : GMG_ERR_ARGUMENT;
}
