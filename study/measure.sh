#!/usr/bin/env bash
# Measures all that docs/study-*.md show, into study/results, and fills the pages' tables:
#   study/measure.sh host [large]   five minutes on two quiet cores; large: half an hour for Figures 4 to 6 at a million unknowns and more
#   study/measure.sh cuda [full]    on a GPU; full: the papers' sizes
# A program that is stopped leaves what it has so far in FILE.json.part. Commit before: the results name the commit.
set -euo pipefail
cd "$(dirname "$0")/.."
results=study/results
run() { # NAME SUFFIX [OPTION ...]
  local name=$1 file=$results/$1-$label$2.json
  shift 2
  echo "== $file"
  build/study/study_"$name" --device "$where" "$@" --json "$file" || echo "measure.sh: study_$name failed" >&2
}

case "${1:-}-${2:-}" in
  host-)
    where=host label=host
    run relaxation -spread --full --only spread && run relaxation "" --only sweeps,large,timing,solvers
    run relaxation -1-thread --threads 1 --only sweeps,timing,solvers && run relaxation -large --threads 1 --only large
    run smoothers "" && run faults "" && run order ""
    OMP_WAIT_POLICY=passive run staleness "" # waiting threads leave their cores to those that work
    ;;
  host-large)
    where=host label=host
    run smoothers -size --only size --n 10000000 --runs 1 && run smoothers -condition --only condition --n 1000000 --runs 1
    ;;
  cuda-)
    where=cuda label=device
    for name in relaxation smoothers faults order staleness; do run $name ""; done
    ;;
  cuda-full)
    where=cuda label=device
    run relaxation "" --full
    run smoothers -condition --full --only condition && run smoothers -size --full --only size && run smoothers -start --full --only start
    for figure in figure4 figure5 figure6; do run smoothers -$figure --full --only $figure; done # minutes each, of the host alone
    run smoothers -table --full --only table && run smoothers -breakdown --full --only breakdown
    run faults -full --full
    run order -order --full --only order && run order -flight --only flight && run order -locality --full --only locality
    run staleness -rate --full --only rate && run staleness -ages --full --only ages,connections,relation,recording,smoother
    ;;
  *)
    sed -n '2,5s/^# \{0,1\}//p' "$0" >&2
    exit 2
    ;;
esac
python3 study/page.py
