#!/usr/bin/env bash
# Installs the peers that bench/compare.sh measures beside gmg (Debian, Ubuntu): hypre with MPI, FFTW. gmg itself needs none
# of them; scripts/setup.sh installs what it needs.
set -euo pipefail
cd "$(dirname "$0")/.."
scripts/install.sh libhypre-dev mpi-default-dev mpi-default-bin libfftw3-dev
