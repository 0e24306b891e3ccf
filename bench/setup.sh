#!/usr/bin/env bash
# Installs the peers that bench/compare.sh measures beside gmg (Debian, Ubuntu): hypre with MPI, FFTW. gmg itself needs none
# of them; scripts/setup.sh installs what it needs.
set -euo pipefail
packages=(libhypre-dev mpi-default-dev mpi-default-bin libfftw3-dev)
missing=()
for p in "${packages[@]}"; do
  [ "$(dpkg-query -W -f='${db:Status-Status}' "$p" 2>/dev/null)" = installed ] || missing+=("$p")
done
[ ${#missing[@]} -gt 0 ] || exit 0
echo "installing: ${missing[*]}"
sudo=()
[ "$(id -u)" = 0 ] || sudo=(sudo)
"${sudo[@]}" apt-get update -qq
"${sudo[@]}" env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends "${missing[@]}" >/dev/null
