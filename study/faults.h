/* The two halves of study_faults. */
#ifndef GMG_STUDY_FAULTS_H
#define GMG_STUDY_FAULTS_H

#include "fault.h"

/* A problem, its fields, and a solver whose smoother can fail. */
typedef struct patient {
  const study_place *place;
  gmg_problem problem;
  gmg_params params;
  faulty *faulty;
  gmg_solver *solver;
  demo_array f, u;
  unsigned char *mark; /* one mark for each unknown, for any use */
} patient;

/* f_i = (7919 i mod 101 - 50) / 50, which has all frequencies; u = 0. */
int study_patient_admit(patient *x, const study_place *place, const gmg_problem *p, const gmg_params *params);
void study_patient_release(patient *x);
int study_patient_start(patient *x);                                         /* sets u = 0 where the solver runs */
double study_patient_residual(patient *x, const unsigned char *mark, double *marked); /* copies u to the host, and computes study_fault_residual() */

int study_faults_relaxation(study *s); /* faults_relaxation.c */
int study_faults_multigrid(study *s);  /* faults_multigrid.c */

#endif
