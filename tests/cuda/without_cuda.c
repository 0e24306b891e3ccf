/* Stands for a test that calls the CUDA runtime itself, where there is none: says so. */
#include "device.h"

int main(void) { return without_device(); }
