#!/bin/bash
set -euo pipefail

# conda's libc++ has features that the oldest supported macOS lacks.
export CXXFLAGS="${CXXFLAGS:-} -D_LIBCPP_DISABLE_AVAILABILITY"
# A package contains all instruction sets and chooses one at run time; conda's flags allow only the oldest processor's.
export CMAKE_ARGS="${CMAKE_ARGS:-} -DCMAKE_BUILD_TYPE=Release -DTROPALIGN_ISAS=all"
export CMAKE_BUILD_PARALLEL_LEVEL="${CPU_COUNT:-2}"

"${PYTHON}" -m pip install . --no-build-isolation --no-deps --no-cache-dir -vv
