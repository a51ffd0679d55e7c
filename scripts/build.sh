# Sourced by scripts/run and scripts/test: set-up, configuration and build into build/. Needs $root.

# tenon_build [cmake --build arguments]: 3 if this machine cannot, 1 if the build fails.
tenon_build() {
  "$root/scripts/setup" || return 3
  source "$root/scripts/environment.sh"
  (cd "$root" && cmake --preset release -DTENON_PYTHON="$root/.tools/venv/bin/python3" >"$root/.tools/configure.log" 2>&1) || {
    cat "$root/.tools/configure.log" >&2
    echo "the configuration failed; the text above is .tools/configure.log" >&2
    return 1
  }
  cmake --build "$root/build" -j "$(nproc)" "$@" || return 1
}
