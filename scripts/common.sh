# shellcheck shell=bash
# Sourced by the scripts: the repository's root is the working folder, and what is needed is installed.
root="$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)"
cd "$root" || exit

# newest TOOL: TOOL-19 where it is installed, else the newest suffixed one, else TOOL.
newest() {
  local suffix
  for suffix in -19 -22 -21 -20 -18 -17 -16 -15 -14 ""; do
    if command -v "$1$suffix" > /dev/null; then
      command -v "$1$suffix"
      return 0
    fi
  done
  echo "$1 is not installed" >&2
  return 1
}

# The Python that has NumPy: the system's, unless only another one does.
numpy_python() {
  local python
  for python in /usr/bin/python3 python3; do
    if "$python" -c "import numpy" 2> /dev/null; then
      echo "$python"
      return 0
    fi
  done
  echo "no python3 has numpy" >&2
  return 1
}

# quietly WHAT COMMAND...: the command's output is shown only when it fails.
quietly() {
  local what="$1" log
  shift
  log="$(mktemp)"
  if "$@" > "$log" 2>&1; then
    rm -f "$log"
  else
    local status=$?
    cat "$log" >&2
    rm -f "$log"
    echo "$what failed" >&2
    return "$status"
  fi
}

# nproc takes OMP_NUM_THREADS, which is 1 here, for the number of cores
jobs_here() { env -u OMP_NUM_THREADS nproc 2> /dev/null || echo 2; }

# mpiexec_of BUILD: the launcher of the MPI that the build has.
mpiexec_of() {
  sed -n 's/^MPIEXEC_EXECUTABLE:[^=]*=//p' "$root/$1/CMakeCache.txt"
}

# configure PRESET [cmake arguments]: quiet, and again from nothing where a cache has gone stale.
configure() {
  local preset="$1"
  shift
  if ! cmake --preset "$preset" "$@" > /dev/null 2>&1; then
    quietly "configuring $preset" cmake --fresh --preset "$preset" "$@"
  fi
}

# build_example NAME: with optimisation, in build/demo.
build_example() {
  local build=build/demo generator=()
  [[ -e $build/CMakeCache.txt ]] || generator=(-G Ninja)
  quietly "configuring" cmake -S . -B "$build" "${generator[@]}" -DCMAKE_CXX_COMPILER=g++ \
    -DCMAKE_BUILD_TYPE=Release -DSHARDTYPE_BUILD_TESTS=OFF -DSHARDTYPE_BUILD_BENCH=OFF
  quietly "building $1" cmake --build "$build" --target "$1" -j "$(jobs_here)"
}

export OPENBLAS_NUM_THREADS="${OPENBLAS_NUM_THREADS:-1}" OMP_NUM_THREADS="${OMP_NUM_THREADS:-1}"
