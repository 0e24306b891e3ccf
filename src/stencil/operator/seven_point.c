/* The 7-point operator (5 points in 2D, 3 in 1D): its table, and its coefficients on faces and sigma on all levels. A coarse face
   gets the arithmetic mean of the fine faces that it covers, a coarse cell the mean of sigma, weighted by volume. The row formula
   is in row.h. Called through gmg_operator_kind. */
#include "core/backend.h"
#include "stencil/grid_ops.h"

static gmg_status create(gmg_exec *e, const gmg_problem *p, const gmg_axis axis[3], gmg_operator *A)
{
  (void)axis;
  void *values = NULL;
  for (int a = 0; a < A->dim && (p->beta || p->beta_face[0]); a++) {
    GMG_TRY(gmg_exec_alloc(e, "coefficients on faces", gmg_face_count(A, a) * e->real_size, &values));
    A->face[a] = values;
  }
  if (!p->sigma) return GMG_OK;
  GMG_TRY(gmg_exec_alloc(e, "sigma", A->cells * e->real_size, &values));
  A->sigma = values;
  return GMG_OK;
}

static void load(const gmg_exec *e, const gmg_problem *p, const struct gmg_faces *faces, gmg_operator *A)
{
  const gmg_grid_ops *grid = gmg_grid_ops_of(e);
  if (p->beta) grid->harmonic_faces(e, A, faces, gmg_coefficients_at_unknowns(p, p->beta));
  for (int a = 0; a < p->dim && p->beta_face[a]; a++) grid->copy_faces(e, A, a, gmg_coefficients_at_faces(p, a));
  if (!p->sigma) return;
  const gmg_array sigma = gmg_coefficients_at_unknowns(p, p->sigma);
  gmg_array_copy(e, sigma.layout, sigma.values, gmg_layout_packed(A->n), (void *)A->sigma);
}

static void coarsen(const gmg_exec *e, const gmg_operator *A, gmg_coarsening_maps by, gmg_operator *C)
{
  const gmg_grid_ops *grid = gmg_grid_ops_of(e);
  for (int a = 0; a < A->dim && A->face[0]; a++) {
    gmg_map maps[3] = {by.restrict_[0], by.restrict_[1], by.restrict_[2]};
    maps[a] = by.faces[a];
    grid->transfer(e, maps, A->face[a], (void *)C->face[a], 0);
    if (A->coarsened[a] && !A->wraps[a]) grid->coarsen_walls(e, A, C, by.restrict_, a);
  }
  if (A->sigma) grid->transfer(e, by.average, A->sigma, (void *)C->sigma, 0);
}

static void to_low(const gmg_exec *e, const gmg_operator *from, gmg_operator *to)
{
  for (int a = 0; a < from->dim && from->face[a]; a++)
    e->vector->scale_to_low(e, gmg_face_count(from, a), NULL, from->face[a], (void *)to->face[a]);
  if (from->sigma) e->vector->scale_to_low(e, from->cells, NULL, from->sigma, (void *)to->sigma);
}

/* A single axis is always separable. */
static const char *not_separable(const gmg_problem *p)
{
  if (p->dim == 1) return NULL;
  if (p->beta) return "problem.beta, an array, couples the axes";
  if (p->beta_face[0]) return "problem.beta_face, an array for each axis, couples the axes";
  if (p->sigma) return "problem.sigma, an array, couples the axes";
  return NULL;
}

static void products(const gmg_operator *A, gmg_products *found)
{
  *found = (gmg_products){.factor = {[0] = A->shift, [1 << 0] = 1, [1 << 1] = 1, [1 << 2] = 1}};
}

extern const gmg_operator_ops gmg_seven_point_host_f32, gmg_seven_point_host_f64;
extern const gmg_operator_ops gmg_seven_point_cuda_f32, gmg_seven_point_cuda_f64;

const gmg_operator_kind gmg_seven_point = {
    .name = "7-point",
    .ops = {[GMG_BACKEND_HOST] = {[GMG_F32] = &gmg_seven_point_host_f32, [GMG_F64] = &gmg_seven_point_host_f64},
            [GMG_BACKEND_CUDA] = {[GMG_F32] = GMG_ON_CUDA(&gmg_seven_point_cuda_f32),
                                  [GMG_F64] = GMG_ON_CUDA(&gmg_seven_point_cuda_f64)}},
    .takes_boundary_values = 1,
    .create = create,
    .load = load,
    .coarsen = coarsen,
    .to_low = to_low,
    .not_separable = not_separable,
    .products = products};
