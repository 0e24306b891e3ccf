#!/usr/bin/env bash
# Installs the packages that gmg and its tests need on Debian or Ubuntu, and builds everything in build/, with CUDA if
# nvcc is there. Called by test.sh. On other systems, first install the packages of the list below by hand.
set -euo pipefail
cd "$(dirname "$0")/.."

packages=(gcc g++ gfortran libc6-dev cmake ninja-build pkg-config libcmocka-dev libhdf5-dev libcjson-dev libpng-dev python3
  python3-matplotlib python3-h5py doxygen libopenmpi-dev openmpi-bin)

scripts/install.sh "${packages[@]}"

cmake -S . -B build -G Ninja -DCMAKE_BUILD_TYPE=Release -DGMG_NATIVE=ON >build.log 2>&1 || { cat build.log >&2; exit 1; }
cmake --build build >>build.log 2>&1 || { tail -40 build.log >&2; exit 1; }
