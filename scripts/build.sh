# Sourced by scripts/run and scripts/test: set-up, configuration and build. Needs $root.

# tenon_cached FOLDER NAME: what the variable is in the CMake cache of a build folder.
tenon_cached() { sed -nE "s/^$2:[A-Z]+=(.*)/\1/p" "$1/CMakeCache.txt" 2>/dev/null; }

# tenon_build run|test FOLDER [CMake options -DNAME=VALUE]... [-- arguments of cmake --build]: sets up for that script and
# builds in $root/FOLDER; 3 if this machine cannot, 1 if the build fails.
tenon_build() {
  local purpose="$1" folder="$root/$2" options=() nvcc cached
  shift 2
  while (($#)) && [[ "$1" != -- ]]; do
    options+=("$1")
    shift
  done
  (($#)) && shift
  "$root/scripts/setup" "$purpose" || return 3
  source "$root/scripts/environment.sh"
  nvcc="$(command -v nvcc)"
  options+=("-DCMAKE_CUDA_COMPILER=$nvcc")
  # CMake keeps the compilers of its first configuration; with others it must start afresh.
  cached="$(tenon_cached "$folder" CMAKE_CUDA_COMPILER)"
  if [[ -n "$cached" ]] && [[ "$cached" != "$nvcc" || ! -x "$(tenon_cached "$folder" CMAKE_CXX_COMPILER)" ]]; then
    options+=(--fresh)
  fi
  (cd "$root" && cmake --preset release -B "$folder" -DTENON_PYTHON="$root/.tools/venv/bin/python3" "${options[@]}" \
    >"$root/.tools/configure.log" 2>&1) || {
    cat "$root/.tools/configure.log" >&2
    echo "the configuration failed; the text above is .tools/configure.log" >&2
    return 1
  }
  cmake --build "$folder" -j "$(nproc)" "$@" || return 1
}
