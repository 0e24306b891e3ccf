/* Coefficients, fluxes and boundary values on faces, on a CUDA device, with one thread per face (operator/faces.h). Arrays of axis
   a have n[a] + 1 values along it. Called through gmg_grid_ops. */
extern "C" {
#include "stencil/operator/faces.h"
}

#include "row.cuh"

static gmg_points faces_of(const gmg_operator *A, int a) { return gmg_points_of(gmg_face_layout_of(A, a)); }

static gmg_launch_shape wall_grid(gmg_layout wall) { return gmg_flat_shape(wall.n[0] * wall.n[1]); }

/* Calls body(y, z) for every face of a wall. */
template <class Body> static __device__ __forceinline__ void for_wall(gmg_layout wall, Body body)
{
  gmg_for_all(wall.n[0] * wall.n[1], [&](size_t t) { body(t % wall.n[0], t / wall.n[0]); });
}

static __global__ void harmonic_kernel(gmg_operator A, gmg_points p, int a, gmg_layout from, const real *beta, real *face)
{
  gmg_for_points(p, [&](size_t i, size_t j, size_t k, size_t c) {
    face[c] = gmg_harmonic_face(&A, a, gmg_face_at(a, i, j, k), from, beta);
  });
}

static __global__ void robin_kernel(gmg_operator A, gmg_layout wall, int a, int side, gmg_layout from, const real *beta, real *face)
{
  for_wall(wall, [&](size_t y, size_t z) {
    face[gmg_face_offset(&A, a, gmg_wall_face(&A, a, side, y, z))] = gmg_robin_face(&A, a, side, y, z, from, beta);
  });
}

extern "C" void R(gmg_harmonic_faces_cuda)(const gmg_exec *e, const gmg_operator *A, const gmg_faces *faces, gmg_array beta)
{
  for (int a = 0; a < A->dim; a++) {
    const gmg_points p = faces_of(A, a);
    const gmg_layout wall = gmg_wall_layout_of(A, a);
    gmg_launch(e, "harmonic means", harmonic_kernel, gmg_shape_of(p), *A, p, a, beta.layout, beta.values, (real *)A->face[a]);
    for (int side = 0; side < 2; side++)
      if (gmg_extrapolates(A, faces, a, side))
        gmg_launch(e, "Robin wall", robin_kernel, wall_grid(wall), *A, wall, a, side, beta.layout, beta.values, (real *)A->face[a]);
  }
}

static __global__ void copy_faces_kernel(gmg_operator A, gmg_points p, int a, gmg_layout from, const real *beta, real *to)
{
  gmg_for_points(p, [&](size_t i, size_t j, size_t k, size_t c) {
    const gmg_face face = gmg_given_face(&A, a, gmg_face_at(a, i, j, k));
    to[c] = beta[gmg_offset_across(from, a, face.x, face.y, face.z)];
  });
}

extern "C" void R(gmg_copy_faces_cuda)(const gmg_exec *e, const gmg_operator *A, int a, gmg_array beta_face)
{
  const gmg_points p = faces_of(A, a);
  gmg_launch(e, "coefficients on faces", copy_faces_kernel, gmg_shape_of(p), *A, p, a, beta_face.layout, beta_face.values,
             (real *)A->face[a]);
}

/* The lower wall of an axis, and the upper one if there is a second row of thread blocks. */
static __global__ void coarse_walls_kernel(gmg_operator A, gmg_operator C, gmg_layout wall, gmg_maps map, int a)
{
  real *coarse = (real *)C.face[a];
  const int side = (int)blockIdx.y;
  for_wall(wall, [&](size_t y, size_t z) {
    coarse[gmg_face_offset(&C, a, gmg_wall_face(&C, a, side, y, z))] = gmg_coarse_wall(&A, map.m, a, side, y, z);
  });
}

extern "C" void R(gmg_coarsen_walls_cuda)(const gmg_exec *e, const gmg_operator *A, const gmg_operator *C, const gmg_map map[3],
                                          int a)
{
  const gmg_layout wall = gmg_wall_layout_of(C, a);
  gmg_launch_shape grid = wall_grid(wall);
  grid.blocks.y = gmg_coarsens_wall(A, a, 1) ? 2 : 1;
  gmg_launch(e, "coarse walls", coarse_walls_kernel, grid, *A, *C, wall, gmg_maps_of(map), a);
}

static __global__ void flux_kernel(gmg_operator A, gmg_points p, gmg_faces faces, int a, gmg_layout at, const scalar *u,
                                   scalar *flux, scalar *gradient)
{
  const real *beta = (const real *)A.face[a];
  gmg_for_points(p, [&](size_t i, size_t j, size_t k, size_t c) {
    const real b = beta ? beta[c] : (real)1;
    const scalar slope = gmg_slope(&A, &faces, a, gmg_face_at(a, i, j, k), b, at, u);
    if (gradient) gradient[c] = slope;
    if (flux) flux[c] = -b * slope;
  });
}

extern "C" void R(gmg_flux_cuda)(const gmg_exec *e, const gmg_operator *A, const gmg_faces *faces, int a, const void *u, void *flux,
                                 void *gradient)
{
  const gmg_points p = faces_of(A, a);
  gmg_launch(e, "flux", flux_kernel, gmg_shape_of(p), *A, p, *faces, a, gmg_residual_layouts_of(A).u, u, flux, gradient);
}

static __global__ void fold_kernel(gmg_operator A, gmg_layout wall, gmg_faces faces, int a, int side, scalar *f)
{
  for_wall(wall, [&](size_t y, size_t z) { gmg_fold_face(&A, &faces, a, side, y, z, f); });
}

extern "C" void R(gmg_fold_cuda)(const gmg_exec *e, const gmg_operator *A, const gmg_faces *faces, void *f)
{
  for (int a = 0; a < A->dim; a++)
    for (int side = 0; side < 2; side++) {
      const gmg_layout wall = gmg_wall_layout_of(A, a);
      if (faces->g[a][side]) gmg_launch(e, "boundary values", fold_kernel, wall_grid(wall), *A, wall, *faces, a, side, f);
    }
}

static __global__ void pad_kernel(gmg_operator A, gmg_points p, gmg_faces faces, const scalar *u, scalar *to)
{
  gmg_for_points(p, [&](size_t i, size_t j, size_t k, size_t c) { to[c] = gmg_ghost_value(&A, &faces, gmg_ghost_at(i, j, k), u); });
}

extern "C" void R(gmg_pad_cuda)(const gmg_exec *e, const gmg_operator *A, const gmg_faces *faces, const void *u, void *padded)
{
  const gmg_points p = gmg_points_of(gmg_padded_layout_of(A));
  gmg_launch(e, "ghosts", pad_kernel, gmg_shape_of(p), *A, p, *faces, u, padded);
}
