#!/usr/bin/env bash
# Sets everything up and runs all tests. Options are handed to ctest: scripts/test.sh -R smoothers
set -euo pipefail
cd "$(dirname "$0")/.."
scripts/setup.sh
ctest --test-dir build --output-on-failure "$@"
