# Sourced by scripts/run and scripts/test: set-up, configuration and build. Needs $root.

# tenon_build FOLDER [CMake options -DNAME=VALUE]... [-- arguments of cmake --build]: builds in $root/FOLDER; 3 if this machine
# cannot, 1 if the build fails.
tenon_build() {
  local folder="$root/$1" options=()
  shift
  while (($#)) && [[ "$1" != -- ]]; do
    options+=("$1")
    shift
  done
  (($#)) && shift
  "$root/scripts/setup" || return 3
  source "$root/scripts/environment.sh"
  (cd "$root" && cmake --preset release -B "$folder" -DTENON_PYTHON="$root/.tools/venv/bin/python3" ${options[@]+"${options[@]}"} \
    >"$root/.tools/configure.log" 2>&1) || {
    cat "$root/.tools/configure.log" >&2
    echo "the configuration failed; the text above is .tools/configure.log" >&2
    return 1
  }
  cmake --build "$folder" -j "$(nproc)" "$@" || return 1
}
