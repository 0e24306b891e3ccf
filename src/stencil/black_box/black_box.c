/* Black box multigrid: creates and fills the weights of a level. Called by mg. */
#include "black_box.h"

#include "core/backend.h"
#include "core/comm.h"
#include "stencil/box_arrays/values.h"

#include <stdlib.h>

extern const gmg_black_box_ops gmg_black_box_host_f32, gmg_black_box_host_f64, gmg_black_box_cuda_f32, gmg_black_box_cuda_f64;

const gmg_black_box_ops *gmg_black_box_ops_of(const gmg_exec *e)
{
  static const gmg_black_box_ops *const ops[2][2] = {
      [GMG_BACKEND_HOST] = {[GMG_F32] = &gmg_black_box_host_f32, [GMG_F64] = &gmg_black_box_host_f64},
      [GMG_BACKEND_CUDA] = {[GMG_F32] = GMG_ON_CUDA(&gmg_black_box_cuda_f32), [GMG_F64] = GMG_ON_CUDA(&gmg_black_box_cuda_f64)}};
  return ops[e->context->backend][e->type];
}

const char *gmg_black_box_refuses(const gmg_problem *p)
{
  const gmg_operator_kind *kind = gmg_operator_kind_of(p);
  if (kind == &gmg_seven_point || kind == &gmg_box_arrays) return NULL;
  return "problem.stencil has constant entries, whose coarse operators are known";
}

/* A ball of radius 0.3 in the unit cube has half a jump along a line, a disc like it in the unit square 1.2. Such levels solve them
   hardly faster, and take as long to create as eight iterations. */
int gmg_black_box_suits(double jumps) { return jumps >= 2; }

/* The number of axes along which weight w stands for an odd index, or -1 if there is no such weight. */
static int odd_indices(const gmg_operator *A, int w)
{
  const int digit[3] = {w % 3, w / 3 % 3, w / 9};
  int odd = 0;
  for (int a = 0; a < 3; a++) {
    if (digit[a] && !A->coarsened[a]) return -1;
    odd += digit[a] > 0;
  }
  return odd;
}

static double volume_of(const gmg_axis *x, size_t i) { return x->volume[gmg_axis_entry(x, i)]; }

/* The share of control volumes along an axis. Beyond the ends of an axis it is not read, or it is that across the seam. */
static gmg_status create_shares(gmg_exec *e, const gmg_axis *fine, const gmg_axis *coarse, int coarsened, const void **share)
{
  const size_t n = coarsened ? coarse->n : fine->n;
  double *values = malloc(3 * n * sizeof *values);
  void *copy = NULL;
  if (!values) return gmg_fail(e->context, GMG_ERR_MEMORY, "control volumes of %zu unknowns could not be allocated", n);
  for (size_t J = 0; J < n; J++)
    for (size_t d = 0; d < 3; d++) {
      const size_t i = coarsened ? (2 * J + d + fine->n - 1) % fine->n : J;
      values[3 * J + d] = coarsened ? volume_of(fine, i) / volume_of(coarse, J) : 1;
    }
  const gmg_status status = gmg_exec_reals(e, "control volumes of an axis", 3 * n, values, &copy);
  *share = copy;
  free(values);
  return status;
}

gmg_status gmg_black_box_create(gmg_exec *e, const gmg_operator *A, const gmg_axis fine[3], const gmg_axis coarse[3],
                                gmg_black_box *p)
{
  size_t cells = 1;
  *p = (gmg_black_box){.weight = {NULL}};
  for (int a = 0; a < 3; a++) {
    cells *= A->coarsened[a] ? coarse[a].n : fine[a].n;
    GMG_TRY(create_shares(e, &fine[a], &coarse[a], A->coarsened[a], &p->share[a]));
  }
  for (int w = 1; w < 27; w++) {
    void *values = NULL;
    if (odd_indices(A, w) < 0) continue;
    GMG_TRY(gmg_exec_alloc(e, "weights of black box transfers", cells * e->real_size, &values));
    p->weight[w] = values;
  }
  return GMG_OK;
}

void gmg_black_box_coarsen(const gmg_exec *e, const gmg_operator *A, const gmg_operator *C, const gmg_black_box *p)
{
  const gmg_black_box_ops *ops = gmg_black_box_ops_of(e);
  for (int odd = 1; odd <= A->dim; odd++) {
    ops->weigh(e, A, C, p, odd);
    for (int w = 1; w < 27; w++)
      if (odd_indices(A, w) == odd) gmg_exchange(e, C, p->weight[w]);
  }
  ops->product(e, A, C, p);
  gmg_box_arrays_changed(e, C);
}
