#!/usr/bin/env bash
# What a machine with a GPU has to show, from a bare copy of the tree, without a network: nothing is installed.
#
#   benchmarks/gpu_check.sh [PART ...]       the parts that are named, else all, in this order
#
#   machine    versions, memory, a first network on the device
#   tests      tests marked gpu, and every family of kernels against compute, on the device
#   recorded   recorded networks and training on the device
#   random     random networks and calls of ops against the reference executor
#   speed      the benchmarks' small networks and ops beside torch, JAX and ONNX Runtime; then W5 and W8
#   sanitizer  the families of kernels under compute-sanitizer
#
# Each part ends within LIMIT seconds (480) and writes one file, PART.txt, into OUT (./gpu-check): its last line is "PART: passed",
# "PART: failed" or "PART: out of time". DEVICE is cuda:0, or emulated where there is no GPU (SECONDS_EACH=5 keeps that short).
set -uo pipefail

cd "$(dirname "${BASH_SOURCE[0]}")/.."
DEVICE="${DEVICE:-cuda:0}" OUT="${OUT:-$PWD/gpu-check}" LIMIT="${LIMIT:-480}" EACH="${SECONDS_EACH:-150}" PYTHON="${PYTHON:-python3}"
mkdir -p "$OUT"
export PYTHONPATH="$PWD${PYTHONPATH:+:$PYTHONPATH}" PYTHONUNBUFFERED=1 PYTHONDONTWRITEBYTECODE=1
export DL4PY_CACHE_DIR="${DL4PY_CACHE_DIR:-${TMPDIR:-/tmp}/gpu-check-cache}"
workers="$("$PYTHON" -c 'import os; print(min(os.cpu_count() or 1, 8))')"
parallel=(-n "$workers" --dist loadfile)
"$PYTHON" -c 'import xdist' 2> /dev/null || parallel=()
families=(tests/samediff/cuda --ignore=tests/samediff/cuda/test_emulator.py --ignore=tests/samediff/cuda/test_emitted.py
          --ignore=tests/samediff/cuda/test_nvrtc.py)

test_run() { "$PYTHON" -m pytest -q -p no:cacheprovider --tb=short -o filterwarnings=default "$@"; }

machine() {
    nvidia-smi || [ "$DEVICE" = emulated ] || return 1
    "$PYTHON" - <<'END'
import importlib, sys
print("python", sys.version.split()[0])
for name in ("numpy", "scipy", "numba", "ml_dtypes", "flatbuffers", "yaml", "cupy", "torch", "jax", "onnxruntime", "pytest", "hypothesis"):
    try:
        print(name, getattr(importlib.import_module(name), "__version__", "?"))
    except ImportError as missing:
        print(name, "is missing:", missing)
END
    "$PYTHON" -m dl4py info && "$PYTHON" examples/gpu.py "$DEVICE"
}

tests() {
    local failed=0
    [ "$DEVICE" = emulated ] || test_run -m gpu tests || failed=1
    DL4PY_CUDA_TESTS="$DEVICE" test_run "${parallel[@]}" "${families[@]}" || failed=1
    return $failed
}

recorded() {
    DL4PY_DEVICE="$DEVICE" test_run "${parallel[@]}" tests/networks/recorded
}

random() {
    local failed=0
    DL4PY_DEVICE="$DEVICE" "$PYTHON" -m tests.random_networks.trying_networks "$EACH" --seed 24 || failed=1
    DL4PY_DEVICE="$DEVICE" "$PYTHON" -m tests.random_ops.trying_ops "$EACH" --seed 24 || failed=1
    return $failed
}

speed() {
    local rows="W0,W1,W2,W3,W6,W7,W4,W8,W5" rounds=12
    [ "$DEVICE" != emulated ] || { rows=W0_infer rounds=1; }
    "$PYTHON" benchmarks/run.py --device "$DEVICE" --only "$rows" --rounds "$rounds" --json "$OUT/speed.json"
}

sanitizer() {
    local tool
    tool="$(command -v compute-sanitizer || ls /usr/local/cuda*/bin/compute-sanitizer 2> /dev/null | tail -1)"
    if [ -z "$tool" ]; then
        echo "compute-sanitizer is not there"
        [ "$DEVICE" = emulated ]
        return
    fi
    DL4PY_CUDA_TESTS="$DEVICE" "$tool" --tool memcheck --error-exitcode 9 --print-limit 20 \
        "$PYTHON" -m pytest -q -p no:cacheprovider --tb=line "${families[@]}"
}

run() {     # part
    local file="$OUT/$1.txt" status began=$SECONDS
    timeout --kill-after=10 "$LIMIT" bash "$0" --inside "$1" > "$file" 2>&1
    status=$?
    case $status in
        0) word=passed ;;
        124 | 137) word="out of time" ;;
        *) word=failed ;;
    esac
    if [ "$(wc -c < "$file")" -gt 8000000 ]; then        # both ends say most
        { head -c 2000000 "$file"; printf '\n...\n'; tail -c 2000000 "$file"; } > "$file.cut" && mv "$file.cut" "$file"
    fi
    echo "$1: $word" >> "$file"
    printf '%s: %s, %d s, %s\n' "$1" "$word" $((SECONDS - began)) "$file"
    tail -4 "$file" | sed 's/^/    /'
    [ "$status" = 0 ]
}

if [ "${1:-}" = --inside ]; then
    "$2"
    exit
fi
failed=0
for part in "${@:-machine tests recorded random speed sanitizer}"; do
    for one in $part; do
        declare -F "$one" > /dev/null || { echo "there is no part $one"; exit 2; }
        run "$one" || failed=1
    done
done
exit $failed
