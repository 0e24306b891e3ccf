#!/usr/bin/env bash
# Sets everything up, solves a 3D Poisson problem and draws its convergence and its solution into out/.
# Options are handed to the demo program: scripts/demo.sh --n 128 --smoother red_black (build/demos/poisson --help).
set -euo pipefail
cd "$(dirname "$0")/.."
scripts/setup.sh
for option in "$@"; do
  [ "$option" = --help ] && exec build/demos/poisson --help
done
mkdir -p out
build/demos/poisson "$@" --json out/poisson.json --output out/poisson.h5
/usr/bin/python3 scripts/plot.py history out/poisson.json -o out/poisson-history.png
/usr/bin/python3 scripts/plot.py slice out/poisson.h5 -o out/poisson-slice.png
echo "report out/poisson.json · fields out/poisson.h5, out/poisson.xdmf (ParaView) · pictures out/poisson-*.png"
