# The scripts of this folder source this file: it puts the private tools and the CUDA Toolkit on PATH. Needs $root.

tenon_prepend_path() {
  if [[ -d "$1" && ":$PATH:" != *":$1:"* ]]; then PATH="$1:$PATH"; fi
}
# Private tools come first (setup fetched them because the system's do not fit), but not before the user's nvcc. The names
# are local: those of the script that sources this file keep their values.
tenon_find_tools() {
  local toolkit folder
  if ! command -v nvcc >/dev/null; then
    for toolkit in "${CUDA_HOME:-}" "${CUDA_PATH:-}" /usr/local/cuda; do
      if [[ -n "$toolkit" && -x "$toolkit/bin/nvcc" ]]; then
        tenon_prepend_path "$toolkit/bin"
        break
      fi
    done
  fi
  for folder in "$root"/.tools/venv/lib/python3*/site-packages/nvidia/*/bin "$root/.tools/venv/bin"; do
    tenon_prepend_path "$folder"
  done
}
tenon_find_tools
export PATH
