/* The printed output of a demo: errors on stderr, the problem and its levels, the table of cycles from the solver's monitor,
 * and the outcome. The table is flushed line by line, so that a slow solve can be watched. */
#include "demo.h"
#include "gmg_smoother.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

static char last_failure[DEMO_LONGEST_FAILURE];

const char *demo_last_failure(void) { return last_failure; }

int demo_fail(const demo_options *o, const char *format, ...)
{
  va_list args;
  va_start(args, format);
  vsnprintf(last_failure, sizeof last_failure, format, args);
  va_end(args);
  fflush(stdout);
  fprintf(stderr, "%s: %s\n", o->program, last_failure);
  return 1;
}

int demo_check(const demo_options *o, const gmg_context *context, gmg_status status)
{
  if (status == GMG_OK) return 0;
  return demo_fail(o, "%s: %s", gmg_status_string(status), gmg_context_error(context));
}

double demo_now(void)
{
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}


/* Checks before allocating, because the system allocates more memory than there is, and ends the program when it is used. */
static int fits(const demo_options *o, const gmg_problem *problem, int fields, double solver)
{
  double own = (double)fields * (problem->type == GMG_F32 ? 4 : 8); /* in double, because a product of sizes might overflow */
  for (int a = 0; a < problem->dim; a++) own *= (double)problem->n[a];
  const double there = (double)sysconf(_SC_PHYS_PAGES) * (double)sysconf(_SC_PAGESIZE);
  if (own + solver <= there) return 0;
  return demo_fail(o, "out of memory: %.3g GB needed (solver %.3g, fields %.3g), this machine has %.3g", (own + solver) / 1e9,
                   solver / 1e9, own / 1e9, there / 1e9);
}

int demo_room(const demo_options *o, const gmg_problem *problem, int fields) { return fits(o, problem, fields, 0); }

int demo_room_of(const demo_options *o, const gmg_problem *problem, int fields, const gmg_plan_info *plan)
{
  return fits(o, problem, fields, o->device.kind == DEMO_CUDA ? 0 : (double)plan->bytes); /* device memory is checked by gmg */
}

int demo_plan(const demo_options *o, gmg_context *context, const gmg_problem *problem, const gmg_params *params, int fields,
              gmg_plan_info *plan)
{
  return demo_check(o, context, gmg_plan(context, problem, params, plan)) || demo_room_of(o, problem, fields, plan);
}

static void print_shape(const demo_options *o, const gmg_problem *p, const size_t n[3])
{
  (void)o;
  size_t cells = 1;
  for (int a = 0; a < p->dim; a++) {
    printf("%s%zu", a ? " x " : "", n[a]);
    cells *= n[a];
  }
  if (p->dim > 1) printf(" = %zu", cells);
}

static void print_problem(const demo_options *o, const gmg_problem *p)
{
  const char *operator_text = p->stencil ? "A u" : p->beta || p->beta_face[0] ? "-div(beta grad u)" : "-Lap u";
  printf("%s: %s %s= f in %dD, ", o->program, operator_text, p->shift != 0 || p->sigma ? "+ sigma u " : "", p->dim);
  print_shape(o, p, p->n);
  printf(" unknowns, %s-centred, %s", demo_word_of(demo_centering_words, (int)p->centering),
         demo_word_of(demo_type_words, (int)p->type));
  if (p->shift != 0) printf(", sigma = %g", p->shift);
  printf("\nbox      ");
  for (int a = 0; a < p->dim; a++) printf("%s%g", a ? " x " : "", demo_length(p, a));
  printf(", h = ");
  for (int a = 0; a < p->dim; a++) printf(p->coord[a] ? "%sstretched" : "%s%.4g", a ? " x " : "", p->h[a]);
  printf("; walls ");
  for (int a = 0; a < p->dim; a++) {
    const char *lower = demo_word_of(demo_bc_words, (int)p->bc[a][0]);
    const char *upper = demo_word_of(demo_bc_words, (int)p->bc[a][1]);
    printf("%s%s", a ? ", " : "", lower);
    if (lower != upper) printf(":%s", upper);
  }
}

static void print_method(const demo_options *o, const gmg_plan_info *plan)
{
  const gmg_params *p = &o->params;
  if (plan->direct) {
    printf("\nmethod   direct solution%s\n", plan->precision == GMG_PRECISION_MIXED ? " in float" : "");
    return;
  }
  printf("\nmethod   %s(%d,%d)", &"V\0W\0F"[2 * (int)(plan->cycle - GMG_CYCLE_V)], plan->pre, plan->post);
  if (p->fmg > 0) printf(" after full multigrid");
  if (plan->accel != GMG_ACCEL_NONE) printf(", accelerated by %s", demo_word_of(demo_accel_words, (int)plan->accel));
  if (plan->precision == GMG_PRECISION_MIXED) printf(", corrections in float");
  if (plan->over_correction != 1) printf(", coarse correction times %.3g", plan->over_correction);
  const char *coarsening = plan->coarsening == GMG_COARSENING_BLACK_BOX ? ", black box coarsening" : "";
  printf(", smoother %s%s%s", plan->smoother->name, p->deterministic ? ", deterministic" : "", coarsening);
  printf("%s\n", plan->halos == GMG_HALOS_ASYNC ? ", asynchronous halos" : "");
}

static void print_levels(const demo_options *o, const gmg_problem *p, const gmg_plan_info *plan)
{
  printf("\nlevel  coarsens  omega  predicted  unknowns\n");
  for (int l = 0; l < plan->levels; l++) {
    const gmg_level_plan *L = &plan->level[l];
    char axes[4] = "---";
    for (int a = 0; a < 3; a++)
      if (L->coarsened[a]) axes[a] = "xyz"[a];
    axes[p->dim] = 0;
    printf("%5d  %8s  ", l, l + 1 < plan->levels ? axes : "");
    if (L->omega > 0) printf("%5.3f  ", L->omega);
    else printf("%5s  ", "");
    if (isnan(L->factor)) printf("%9s  ", "");
    else printf("%9.3f  ", L->factor);
    print_shape(o, p, L->n);
    putchar('\n');
  }
}

void demo_print_header(const demo_options *o, const gmg_problem *problem, const gmg_plan_info *plan)
{
  if (o->quiet) return;
  print_problem(o, problem);
  print_method(o, plan);
  print_levels(o, problem, plan);
  printf("\nmemory %.4g MB beyond u and f", (double)plan->bytes / 1e6);
  if (!isnan(plan->predicted_factor)) printf("; predicted factor %.3f", plan->predicted_factor);
  if (!isnan(plan->margin)) printf("; smallest eigenvalue %.4g", plan->margin);
  putchar('\n');
  for (const char *line = plan->text; *line;) {
    int length = 0;
    while (line[length] && line[length] != '\n') length++;
    printf("warning: %.*s\n", length, line);
    line += length + (line[length] == '\n');
  }
  fflush(stdout);
}

int demo_table_row(void *data, int cycle, double residual, double target)
{
  demo_table *t = data;
  if (cycle == 0) {
    t->first = residual;
    printf("\ntarget residual %.3e\ncycle      residual    relative    factor\n%5d  %12.5e  %10.3e\n", target, cycle,
           residual, residual > 0 ? 1.0 : 0.0);
  } else {
    printf("%5d  %12.5e  %10.3e  %8.4f\n", cycle, residual, residual / t->first, residual / t->before);
  }
  t->before = residual;
  fflush(stdout);
  return 0;
}

int demo_print_outcome(const demo_options *o, const gmg_context *context, const gmg_report *r)
{
  static const char *const words[] = {"converged", "not converged", "stagnated at the rounding floor", "diverged"};
  const size_t cells = r->levels > 0 ? r->level[0].cells : 0;
  if (r->singular && !o->quiet)
    printf("singular: u has zero mean; %.3e taken off the right-hand side\n", r->mean_removed);
  if (r->status == GMG_STAGNATED)
    printf("%s: as good as %s gets: %s\n", o->program, demo_word_of(demo_type_words, (int)o->problem.type),
           gmg_context_error(context));
  else if (r->status != GMG_OK)
    demo_fail(o, "%s: %s", gmg_status_string(r->status), gmg_context_error(context));
  printf("%s: %s in %d cycle%s, ", o->program, words[r->status], r->cycles, r->cycles == 1 ? "" : "s");
  if (!isnan(r->factor)) printf("mean factor %.3f, ", r->factor);
  printf("%.3g s, %.3g unknowns/s\n", r->seconds, r->seconds > 0 ? (double)cells / r->seconds : 0.0);
  fflush(stdout);
  return r->status == GMG_OK || r->status == GMG_STAGNATED ? 0 : 1;
}
