/* Offsets of the members of the public structs, and last their sizes, for layout.f90 to compare with the Fortran types. */
#include "gmg.h"

#include <stddef.h>

#define AT(member) offsetof(TYPE, member)

#define TYPE gmg_problem
const size_t c_problem[] = {AT(size), AT(dim), AT(n), AT(h), AT(coord), AT(centering), AT(type), AT(bc), AT(robin), AT(shift),
                            AT(beta), AT(beta_face), AT(sigma), AT(stencil), AT(f_layout), AT(u_layout), AT(coefficient_layout),
                            sizeof(TYPE)};
#undef TYPE

#define TYPE gmg_array_layout
const size_t c_array_layout[] = {AT(row), AT(plane), AT(first), sizeof(TYPE)};
#undef TYPE

#define TYPE gmg_stencil
const size_t c_stencil[] = {AT(size), AT(entry), AT(entry[1][1][1]), AT(array), AT(array[1][1][1]), sizeof(TYPE)};
#undef TYPE

#define TYPE gmg_async_params
const size_t c_async_params[] = {AT(local_sweeps), AT(local), AT(overlap), AT(passes), AT(block), AT(order), AT(seed), AT(assignment),
                                 AT(in_flight), AT(oversubscription), sizeof(TYPE)};
#undef TYPE

#define TYPE gmg_params
const size_t c_params[] = {AT(size), AT(cycle), AT(fmg), AT(smoother), AT(pre), AT(post), AT(omega), AT(chebyshev_degree), AT(async), AT(deterministic), AT(symmetric),
                           AT(restriction), AT(accel), AT(coarse), AT(direct), AT(coarse_rtol), AT(coarse_cells), AT(max_levels),
                           AT(coarsen_threshold), AT(max_cycles), AT(rtol), AT(atol), AT(check_every), AT(precision),
                           AT(report_level_times), AT(monitor), AT(monitor_data), AT(line_axes), AT(over_correction), sizeof(TYPE)};
#undef TYPE

#define TYPE gmg_level_plan
const size_t c_level_plan[] = {AT(n), AT(cells), AT(h), AT(coarsened), AT(omega), AT(factor), sizeof(TYPE)};
#undef TYPE

#define TYPE gmg_plan_info
const size_t c_plan_info[] = {AT(levels), AT(level), AT(bytes), AT(predicted_factor), AT(floor), AT(singular), AT(stretch),
                              AT(accel), AT(cycle), AT(precision), AT(smoother), AT(line_axes), AT(coarse), AT(direct), AT(local), AT(order), AT(overlap), AT(fmg),
                              AT(pre), AT(post), AT(max_cycles), AT(check_every), AT(warnings), AT(text), AT(over_correction), sizeof(TYPE)};
#undef TYPE

#define TYPE gmg_level_report
const size_t c_level_report[] = {AT(n), AT(cells), AT(seconds), sizeof(TYPE)};
#undef TYPE

#define TYPE gmg_report
const size_t c_report[] = {AT(status), AT(cycles), AT(residual0), AT(residual), AT(factor), AT(target), AT(floor),
                           AT(seconds), AT(history), AT(history_length), AT(level), AT(levels), AT(singular),
                           AT(mean_removed), AT(direct), AT(deterministic), sizeof(TYPE)};
