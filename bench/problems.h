/* The problems: fields on the unit cube, n^3 cells, Dirichlet walls. They are the same for gmg and its peers. A value depends on
 * its position alone, so that each process can compute its own part of a field. */
#ifndef GMG_BENCH_PROBLEMS_H
#define GMG_BENCH_PROBLEMS_H

#include <stddef.h>

#define BENCH_F_RANDOM "uniform in -0.5..0.5, splitmix64, seed 1"
#define BENCH_BALL "beta = 1e4 in a ball of radius 0.3 about (0.513, 0.483, 0.507), 1 outside"
#define BENCH_NORM "2-norm of the residual over that of f"

/* Right-hand sides. Smooth: the manufactured solution is the product of sin(pi x) exp(c x) along the axes, zero on the walls
 * and no eigenfunction. */
typedef enum { BENCH_RANDOM, BENCH_ONE, BENCH_SMOOTH } bench_rhs;
const char *bench_rhs_text(bench_rhs rhs);

/* Threads fill the same slabs of a field on which they compute, so that pages are near them (first touch). */
double *bench_field(size_t cells); /* zeros; free() it. NULL when out of memory */
void bench_zero(double *x, size_t cells);
void bench_random(double *x, size_t first, size_t cells, unsigned long seed); /* values first .. first + cells - 1 */
void bench_fill_rhs(bench_rhs rhs, double *f, size_t n);
void bench_fill_ball(double *beta, size_t n, double contrast);
double bench_ball(size_t n, size_t i, size_t j, size_t k, double contrast); /* beta of one cell */

double bench_norm2(const double *x, size_t cells);
double bench_distance(const double *x, const double *y, size_t cells); /* root mean square of x - y */
double bench_error(const double *u, size_t n);                         /* root mean square of u minus the exact solution */

/* Rounding floor of ||r|| / ||f||: half an ulp of u, magnified by A; about eps ||A|| ||u|| / ||f||. */
double bench_floor(size_t n, double largest_beta, double u_norm, double f_norm);

#endif
