#!/usr/bin/env bash
# Installs packages, builds, and runs all tests. Options are passed to ctest: scripts/test.sh -R smoothers
set -euo pipefail
cd "$(dirname "$0")/.."
scripts/setup.sh
ctest --test-dir build --output-on-failure --parallel 2 "$@"
