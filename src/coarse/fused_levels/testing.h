/* Functions by which tests inspect the fused levels. Defined in cuda/levels.cu; called by tests only. */
#ifndef GMG_COARSE_FUSED_LEVELS_TESTING_H
#define GMG_COARSE_FUSED_LEVELS_TESTING_H

/* The exact level, from the state that setup created: the first fused level is 0. -1: there is none. */
int gmg_fused_levels_exact_f32(const void *state);
int gmg_fused_levels_exact_f64(const void *state);

#endif
