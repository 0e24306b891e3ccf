#!/usr/bin/env bash
# Measures all rows of bench_cpu, then compares gmg, hypre and FFTW on the same two cores, and last gmg and hypre on the gallery of media. In every round each solver runs once per
# problem, one after the other, so that disturbances affect all alike. Writes one file with all records and ratios.
#   bench/compare.sh [FILE]                  default bench/results/cpu.json
#   bench/compare.sh media [FILE]            the gallery alone, default bench/results/cpu-media-hypre.json
#   ROUNDS=5 SIZES="128 256" CORES=0,1       rounds, sizes (ascending), cores
set -euo pipefail
cd "$(dirname "$0")/.."
alone=
[ "${1:-}" = media ] && { alone=1; shift; }
out=${1:-bench/results/cpu.json} media=bench/results/cpu-media-hypre.json
[ -n "$alone" ] && media=${1:-$media}
rounds=${ROUNDS:-5} sizes=${SIZES:-128 256} cores=${CORES:-0,1}
ranks=$(awk -F, '{print NF}' <<<"$cores")
parts=$(mktemp -d)
trap 'rm -rf "$parts"' EXIT
export OMP_PROC_BIND=close OMP_PLACES=cores OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1

bench/setup.sh
cmake -S . -B build -G Ninja -DCMAKE_BUILD_TYPE=Release -DGMG_BENCH=ON >build.log
cmake --build build >>build.log || { tail -40 build.log >&2; exit 1; }

gmg() { taskset -c "$cores" build/bench/bench_cpu --threads "$ranks" "$@"; }
fftw() { OMP_NUM_THREADS=$ranks taskset -c "$cores" build/bench/bench_fftw "$@"; }
# Each rank on a core of its own. (Unbound ranks under OMP_PROC_BIND=close both run on the first one: ten times slower.)
peer() { env -u OMP_PROC_BIND -u OMP_PLACES taskset -c "$cores" mpirun -np "$ranks" --bind-to core "build/bench/bench_$1" "${@:2}"; }
hypre() { peer hypre "$@"; }

compare_media() {
  for dim in 2 3; do
    taskset -c "$cores" build/bench/bench_media --threads "$ranks" --method default --dim "$dim" --json "$parts/media-gmg-$dim.json"
    peer hypre_media --dim "$dim" --json "$parts/media-hypre-$dim.json"
  done
  python3 bench/merge.py --rows "$media" "$parts"/media-gmg-2.json "$parts"/media-gmg-3.json "$parts"/media-hypre-?.json
}
[ -n "$alone" ] && { compare_media; exit; }

gmg --n "${sizes// /,}" --runs "$rounds" --json "$parts/all.json"
declare -A variant
for round in $(seq "$rounds"); do
  for n in $sizes; do
    gmg --n "$n" --runs 1 --only "solve_,fmg_$n" --json "$parts/gmg-$n-$round.json"
    fftw --n "$n" --runs 1 --json "$parts/fftw-$n-$round.json"
    for beta in "" --beta; do # the first round finds hypre's best options
      hypre --n "$n" --runs 1 $beta ${variant[$n$beta]:-} --json "$parts/hypre-$n$beta-$round.json"
      [ -n "${variant[$n$beta]:-}" ] ||
        variant[$n$beta]=$(sed -n 's/.*\(--variant [0-9,]*\)".*/\1/p' "$parts/hypre-$n$beta-$round.json" | head -1)
    done
  done
done
mkdir -p "$(dirname "$out")"
python3 bench/merge.py "$out" "$parts/all.json" "$parts"/*-*.json
compare_media
