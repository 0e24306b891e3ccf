/* Between the two files of the emulator. */
#ifndef GMG_EMULATOR_RUNTIME_H
#define GMG_EMULATOR_RUNTIME_H

#include "cuda_runtime.h"

namespace emulator {
void run(const launch &what, const std::function<void()> &thread); /* emulator.cpp */
}

#endif
