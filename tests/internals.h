/* The only header of the tests that includes headers of src. Programs that include it link the tests' own copy of the library,
   whose symbols are all visible (tests/CMakeLists.txt). */
#ifndef GMG_TEST_INTERNALS_H
#define GMG_TEST_INTERNALS_H

#include "coarse/fused_levels/testing.h"
#include "coarse/kernels.h"
#include "core/backend.h"
#include "core/cg_scalars.h"
#include "core/comm.h"
#include "core/cuda/testing.h"
#include "core/exact_sum.h"
#include "core/exec.h"
#include "mg/iterate/iterate.h"
#include "smoothers/async/testing.h"
#include "smoothers/relax/partition.h"
#include "smoothers/weight.h"
#include "stencil/grid/axis.h"
#include "stencil/grid/map.h"
#include "stencil/grid_ops.h"

#endif
