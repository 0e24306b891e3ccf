/* The barrier of a whole grid. */
#ifndef GMG_EMULATOR_COOPERATIVE_GROUPS_H
#define GMG_EMULATOR_COOPERATIVE_GROUPS_H

#include "cuda_runtime.h"

namespace cooperative_groups {
struct grid {
  void sync() const { emulator::wait_for(emulator::BLOCKS_TOGETHER); }
};
static inline grid this_grid() { return {}; }
} // namespace cooperative_groups

#endif
