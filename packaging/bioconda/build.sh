#!/bin/bash
set -euo pipefail

# conda's libc++ has what the oldest macOS that it builds for lacks.
export CXXFLAGS="${CXXFLAGS:-} -D_LIBCPP_DISABLE_AVAILABILITY"
# All instruction sets are in a package, and one is chosen when it runs: conda's flags name the least processor only.
export CMAKE_ARGS="${CMAKE_ARGS:-} -DCMAKE_BUILD_TYPE=Release -DTROPALIGN_ISAS=all"
export CMAKE_BUILD_PARALLEL_LEVEL="${CPU_COUNT:-2}"

"${PYTHON}" -m pip install . --no-build-isolation --no-deps --no-cache-dir -vv
