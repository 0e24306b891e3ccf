/* Red-black Gauss-Seidel with over-relaxation on a CUDA device. Unknowns with i + j + k even are red and go first (last on a
   reversed leg); phases and strips at the seams of odd periodic axes as in red_black_host.c. */
extern "C" {
#include "smoother.h"
}

#include "../stencil/row_cuda.cuh"

enum { STRIP = 2 };

/* One colour in one phase, everywhere or in the strips only. */
typedef struct {
  size_t colour, phase;
  int strip;
  int seam[3]; /* 1 where the last unknown of the axis meets the first with the same colour */
} part;

template <int kind>
static __global__ void relax_kernel(gmg_operator A, gmg_points half, part x, const real *f, real *u, real omega)
{
  gmg_for_points(half, [&](size_t m, size_t j, size_t k, size_t) {
    const size_t at[3] = {2 * m + (j + k + x.colour) % 2, j, k}, i = at[0];
    if (i >= A.n[0]) return;
    size_t phase = 0;
    int near_seam = 0;
    for (int a = 0; a < 3; a++) {
      phase += x.seam[a] && at[a] == A.n[a] - 1;
      near_seam |= x.seam[a] && (at[a] < STRIP || at[a] + STRIP >= A.n[a]);
    }
    if (phase != x.phase || (x.strip && !near_seam)) return;
    const size_t c = (k * A.n[1] + j) * A.n[0] + i;
    const gmg_neighbours near = gmg_near(gmg_places_of(A, i, j, k, c), u);
    u[c] = gmg_row_relaxed(3, kind, gmg_row_at<kind>(A, i, j, k), near, f[c], u[c], omega);
  });
}

static void sweep(const gmg_smoother_level *l, void *state, const void *f, void *u, int steps, gmg_leg leg)
{
  (void)state;
  const gmg_operator *A = l->A;
  const real omega = (real)gmg_weight_red_black(A, l->params);
  part x = {0, 0, 0, {A->wraps[0] && A->n[0] % 2, A->wraps[1] && A->n[1] % 2, A->wraps[2] && A->n[2] % 2}};
  const size_t phases = (size_t)(1 + x.seam[0] + x.seam[1] + x.seam[2]);
  const size_t strip = phases > 1 ? 2 * phases : 0, parts = strip + 2 * phases;
  const size_t n[3] = {(A->n[0] + 1) / 2, A->n[1], A->n[2]};
  const gmg_points half = gmg_points_of(n);
  for (size_t s = 0; s < (size_t)steps * parts; s++) {
    const size_t at = leg == GMG_LEG_UP_REVERSED ? parts - 1 - s % parts : s % parts;
    x.colour = at / phases % 2, x.phase = at % phases, x.strip = at < strip;
    GMG_LAUNCH(relax_kernel, l->exec, A, half, 0, *A, half, x, (const real *)f, (real *)u, omega);
    gmg_cuda_launched(l->exec, "red_black");
  }
}

extern "C" const gmg_smoother_ops R(gmg_red_black_cuda) = {.sweep = sweep};
