/* Tolerance to faults, after Anzt, Tomov, Dongarra, Heuveline, "A block-asynchronous relaxation method for graphics processing
 * units" (2013), Section 4.5: its Figure 10 and Table 6, and beyond the paper faults inside multigrid. docs/study-faults.md shows
 * the results, and describes the faults. */
#include "faults.h"

#include <stdlib.h>

int study_patient_admit(patient *x, const study_place *place, const gmg_problem *p, const gmg_params *params)
{
  const size_t cells = demo_cells(p);
  const demo_options *o = &place->demo;
  *x = (patient){.place = place, .problem = *p, .params = *params, .faulty = study_faulty_create(params->smoother, cells),
                 .mark = malloc(cells)};
  if (!x->faulty || !x->mark || !(demo_array_create(o, p, &x->f) & demo_array_create(o, p, &x->u))) return demo_fail(o, "out of memory");
  x->params.smoother = study_faulty_smoother(x->faulty);
  x->params.monitor = study_faulty_monitor, x->params.monitor_data = x->faulty;
  for (size_t i = 0; i < cells; i++) ((double *)x->f.here)[i] = ((double)(i * 7919 % 101) - 50) / 50;
  if (demo_array_send(o, &x->f)) return 1;
  return demo_check(o, place->context, gmg_solver_create(place->context, p, &x->params, &x->solver));
}

void study_patient_release(patient *x)
{
  gmg_solver_destroy(x->solver);
  study_faulty_destroy(x->faulty);
  demo_array_destroy(&x->f);
  demo_array_destroy(&x->u);
  free(x->mark);
}

int study_patient_start(patient *x)
{
  study_fill(&x->problem, x->u.here, 0);
  return demo_array_send(&x->place->demo, &x->u);
}

double study_patient_residual(patient *x, const unsigned char *mark, double *marked)
{
  if (demo_array_fetch(&x->place->demo, &x->u)) return -1;
  return study_fault_residual(&x->problem, x->f.here, x->u.here, mark, marked);
}

static const study_part parts[] = {{"relaxation", study_faults_relaxation}, {"multigrid", study_faults_multigrid}, {NULL, NULL}};

static const study_program about = {
    "study_faults",
    "Faults in asynchronous relaxation, after Anzt, Tomov, Dongarra, Heuveline (2013), Section 4.5, and inside multigrid. Parts:\n"
    "relaxation (Figure 10, Table 6), multigrid (blocks lost, bits flipped, corrections lost). --n: unknowns in 1D of multigrid;\n"
    "--runs: of relaxation, each with other blocks.",
    parts, 100, 100000000};

int main(int argc, char **argv) { return study_main(&about, argc, argv); }
