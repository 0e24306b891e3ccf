#!/usr/bin/env bash
# Measures all rows of bench_cpu, then compares gmg, hypre and FFTW on the same two cores, and last gmg and hypre on the gallery of
# media. In every round each solver runs once per problem, one after the other, so that disturbances affect all alike. Writes one
# file with all records and ratios.
#   bench/compare.sh [FILE]                  default bench/results/cpu.json
#   bench/compare.sh media [FILE]            the gallery alone, default bench/results/cpu-media-hypre.json
#   bench/compare.sh ranks [FILE]            gmg and hypre with an MPI process on each core, default
#                                            bench/results/cpu-ranks-hypre-2x1.json
#   ROUNDS=5 SIZES="128 256" CORES=0,1       rounds, sizes (ascending), cores
#   VARIANTS="2,3,0,1 1,1,0,1"               hypre's options for constant beta and for the ball; without them the first round finds
#                                            the fastest of a short list for each size
#   BUILD=folder                             the programs of this build as they are: nothing is installed or built
set -euo pipefail
cd "$(dirname "$0")/.."
alone=
case "${1:-}" in media | ranks) alone=$1; shift ;; esac
out=${1:-bench/results/cpu.json} media=bench/results/cpu-media-hypre.json
[ "$alone" = media ] && media=${1:-$media}
sizes="128 256"
[ "$alone" = ranks ] && sizes="64 128 256" out=${1:-bench/results/cpu-ranks-hypre-2x1.json}
rounds=${ROUNDS:-5} sizes=${SIZES:-$sizes} cores=${CORES:-0,1} build=${BUILD:-build}
ranks=$(awk -F, '{print NF}' <<<"$cores")
parts=$(mktemp -d)
trap 'rm -rf "$parts"' EXIT
export OMP_PROC_BIND=close OMP_PLACES=cores OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1

if [ -z "${BUILD:-}" ]; then
  bench/setup.sh
  cmake -S . -B build -G Ninja -DCMAKE_BUILD_TYPE=Release -DGMG_BENCH=ON >build.log
  cmake --build build >>build.log || { tail -40 build.log >&2; exit 1; }
fi

gmg() { taskset -c "$cores" "$build"/bench/bench_cpu --threads "$ranks" "$@"; }
fftw() { OMP_NUM_THREADS=$ranks taskset -c "$cores" "$build"/bench/bench_fftw "$@"; }
# Each rank on a core of its own. (Unbound ranks under OMP_PROC_BIND=close both run on the first one: ten times slower.)
peer() { env -u OMP_PROC_BIND -u OMP_PLACES taskset -c "$cores" mpirun -np "$ranks" --bind-to core "$build/bench/bench_$1" "${@:2}"; }

declare -A variant
hypre() { # N ROUND: both problems
  local n=$1 round=$2 beta file given
  for beta in "" --beta; do
    file=$parts/hypre-$n$beta-$round.json given=${VARIANTS:-}
    [ -z "$given" ] || variant[$n$beta]="--variant $([ -z "$beta" ] && echo "${given% *}" || echo "${given#* }")"
    peer hypre --n "$n" --runs 1 $beta ${variant[$n$beta]:-} --json "$file"
    [ -n "${variant[$n$beta]:-}" ] || variant[$n$beta]=$(sed -n 's/.*\(--variant [0-9,]*\)".*/\1/p' "$file" | head -1)
  done
}

compare_media() {
  for dim in 2 3; do
    taskset -c "$cores" "$build"/bench/bench_media --threads "$ranks" --method default --dim "$dim" --json "$parts/media-gmg-$dim.json"
    peer hypre_media --dim "$dim" --json "$parts/media-hypre-$dim.json"
  done
  python3 bench/merge.py --rows "$media" "$parts"/media-gmg-2.json "$parts"/media-gmg-3.json "$parts"/media-hypre-?.json
}
compare_ranks() {
  for round in $(seq "$rounds"); do
    for n in $sizes; do
      peer ranks --n "$n" --runs 1 --json "$parts/gmg-$n-$round.json"
      hypre "$n" "$round"
    done
  done
  python3 bench/merge.py --ratios "$out" "$parts"/gmg-*.json "$parts"/hypre-*.json
}
[ -n "$alone" ] && { "compare_$alone"; exit; }

gmg --n "${sizes// /,}" --runs "$rounds" --json "$parts/all.json"
for round in $(seq "$rounds"); do
  for n in $sizes; do
    gmg --n "$n" --runs 1 --only "solve_,fmg_$n" --json "$parts/gmg-$n-$round.json"
    fftw --n "$n" --runs 1 --json "$parts/fftw-$n-$round.json"
    hypre "$n" "$round"
  done
done
mkdir -p "$(dirname "$out")"
python3 bench/merge.py "$out" "$parts/all.json" "$parts"/*-*.json
compare_media
