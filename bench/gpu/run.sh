#!/usr/bin/env bash
# On a machine with a card: builds tropalign (without a network if bench/gpu/carried is there), measures, and runs the
# tests on the card. Results go to $OUT, or to bench/gpu/results.    bash bench/gpu/run.sh [options of measure.py]
set -euo pipefail
cd "$(dirname "$0")/../.."
out="${OUT:-bench/gpu/results}"
environment="build/gpu-bench"

from=()
if test -d bench/gpu/carried; then from=(--no-index --find-links bench/gpu/carried); fi
if ! test -e "$environment/ready"; then
  python3 -m venv --system-site-packages "$environment"
  # Where python3 is that of an environment, a new environment sees only what lies below both: name the packages between.
  python3 -c 'import sysconfig; print(sysconfig.get_path("purelib"))' > "$(echo "$environment"/lib/python3.*/site-packages)/outer.pth"
  mapfile -t needs < <("$environment/bin/python" bench/gpu/carry.py --list)
  "$environment/bin/python" -m pip install -q "${from[@]}" "${needs[@]}"
  "$environment/bin/python" -m pip install -q --no-deps --no-build-isolation .
  touch "$environment/ready"
fi
"$environment/bin/python" -c 'import cuda.bindings' || echo "cuda-bindings is missing: pip install cuda-bindings nvidia-cuda-nvrtc"
"$environment/bin/tropalign" devices
mkdir -p "$out"
status=0
"$environment/bin/python" bench/gpu/measure.py --output "$out/gpu.json" "$@" || status=$?
"$environment/bin/python" bench/gpu/place.py --output "$out/place.json" || status=$?
"$environment/bin/python" bench/gpu/msa.py --output "$out/msa.json" || status=$?
"$environment/bin/python" bench/gpu/search.py --output "$out/search.json" || status=$?
"$environment/bin/python" bench/gpu/tropical.py --output "$out/tropical.json" || status=$?
"$environment/bin/python" -m pytest -p no:cacheprovider tests/gpu -k "cuda" -q 2>&1 | tee "$out/tests.txt" || status=$?
exit "$status"
