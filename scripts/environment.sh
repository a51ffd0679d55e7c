# The scripts of this folder source this file: it puts what scripts/setup chose (.tools/path) on PATH. Needs $root.

# The names are local: those of the script that sources this file keep their values.
tenon_find_tools() {
  local folder prefix=""
  [[ -f "$root/.tools/path" ]] || return 0
  while IFS= read -r folder; do
    [[ "$folder" == /* ]] || folder="$root/.tools/$folder"
    prefix+="$folder:"
  done <"$root/.tools/path"
  [[ "$PATH" == "$prefix"* ]] || PATH="$prefix$PATH"
}
tenon_find_tools
export PATH
