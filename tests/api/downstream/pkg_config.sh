#!/bin/sh
# Builds and runs the C project with nothing but pkg-config.
# Usage: pkg_config.sh static|shared COMPILER LIBRARY_FOLDER OUTPUT VERSION
set -eu
kind=$1 cc=$2 libdir=$3 output=$4 version=$5
source=$(dirname "$0")/c/main.c
export PKG_CONFIG_PATH="$libdir/pkgconfig"
[ "$(pkg-config --modversion gmg)" = "$version" ]
if [ "$kind" = static ]; then
  set -- -static $(pkg-config --static --cflags --libs gmg)
else
  set -- $(pkg-config --cflags --libs gmg) -Wl,-rpath,"$libdir"
fi
"$cc" -std=c11 -Wall -Wextra -pedantic -Werror -DGMG_WANTED="\"$version\"" "$source" -o "$output" "$@"
if ldd "$output" 2>/dev/null | grep -q libgmg; then found=shared; else found=static; fi
[ "$found" = "$kind" ] || { echo "linked the $found library, wanted the $kind one"; exit 1; }
"$output"
