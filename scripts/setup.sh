#!/usr/bin/env bash
# Installs what gmg needs on Debian or Ubuntu, if it is not there yet, and configures and builds into build/.
# Called by demo.sh and test.sh. Elsewhere: install the packages of the list below by hand first.
set -euo pipefail
cd "$(dirname "$0")/.."

packages=(gcc g++ gfortran libc6-dev cmake ninja-build pkg-config libcmocka-dev libhdf5-dev libcjson-dev python3
  python3-matplotlib python3-h5py doxygen)

if command -v dpkg-query >/dev/null; then
  missing=()
  for p in "${packages[@]}"; do
    [ "$(dpkg-query -W -f='${db:Status-Status}' "$p" 2>/dev/null)" = installed ] || missing+=("$p")
  done
  if [ ${#missing[@]} -gt 0 ]; then
    echo "installing: ${missing[*]}"
    sudo=()
    [ "$(id -u)" = 0 ] || sudo=(sudo)
    "${sudo[@]}" apt-get update -qq
    "${sudo[@]}" env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends "${missing[@]}" >/dev/null
  fi
fi

cmake -S . -B build -G Ninja -DCMAKE_BUILD_TYPE=Release -DGMG_NATIVE=ON >build.log 2>&1 || { cat build.log >&2; exit 1; }
cmake --build build >>build.log 2>&1 || { tail -40 build.log >&2; exit 1; }
