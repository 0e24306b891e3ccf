/* Replaces tests that call the CUDA runtime in a build without CUDA. Prints the reason, and is skipped. */
#include "device.h"

int main(void) { return without_device(); }
