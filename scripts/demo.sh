#!/usr/bin/env bash
# Solves a 3D Poisson problem, and draws its convergence and its solution into out/. Installs the required packages on Debian or
# Ubuntu. Builds the library and this demo in build-demo/, with CUDA if there is a GPU.
# Options are passed to the program: scripts/demo.sh --n 128 --smoother red_black (all of them: scripts/demo.sh --help).
set -euo pipefail
cd "$(dirname "$0")/.."

packages=(gcc libc6-dev cmake ninja-build libhdf5-dev libcjson-dev python3 python3-matplotlib python3-h5py)
cuda=OFF
if ! nvidia-smi -L 2>/dev/null | grep -q '^GPU'; then
  echo "building for the host alone, without CUDA: no NVIDIA GPU answers"
elif ! PATH=$PATH:/usr/local/cuda/bin command -v nvcc >/dev/null; then
  echo "building for the host alone, without CUDA: no CUDA compiler (nvcc) was found"
else
  echo "building for the host and the GPU"
  cuda=ON
  packages+=(g++)
fi
scripts/install.sh "${packages[@]}"

mkdir -p build-demo out
{ cmake -S . -B build-demo -G Ninja -DCMAKE_BUILD_TYPE=Release -DGMG_NATIVE=ON -DGMG_CUDA=$cuda -DGMG_TESTS=OFF -DGMG_BENCH=OFF \
    -DGMG_STUDY=OFF -DGMG_FORTRAN=OFF -DGMG_INSTALL=OFF && cmake --build build-demo --target demo_poisson
} >build-demo/build.log 2>&1 || { tail -40 build-demo/build.log >&2; exit 1; }

poisson=build-demo/demos/poisson
for option in "$@"; do
  [ "$option" = --help ] && exec "$poisson" --help
done
"$poisson" "$@" --json out/poisson.json --output out/poisson.h5
/usr/bin/python3 scripts/plot.py history out/poisson.json -o out/poisson-history.png
/usr/bin/python3 scripts/plot.py slice out/poisson.h5 -o out/poisson-slice.png
echo "report out/poisson.json · fields out/poisson.h5, out/poisson.xdmf (ParaView) · pictures out/poisson-*.png"
