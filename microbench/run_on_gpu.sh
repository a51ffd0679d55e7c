#!/usr/bin/env bash
# Tests and measures on a GPU machine from programs that were built elsewhere. See --help.
set -uo pipefail

help() {
  cat <<'HELP'
usage: microbench/run_on_gpu.sh OUT [--test PROGRAM]... [--sanitize TOOL:PROGRAM]... [--benchmark PROGRAM [ARGUMENT]...]

Tests and measures on a GPU machine from programs that were built elsewhere. Everything is written into the folder OUT.

  --test PROGRAM           a GoogleTest program; its report goes to OUT/<name>.xml
  --sanitize TOOL:PROGRAM  the same under compute-sanitizer: memcheck, racecheck, initcheck or synccheck
  --benchmark PROGRAM ...  tenon_gemm_benchmark and its arguments, last; results go to OUT/gemm.json

Ends with a table of what ran.

example:
  microbench/run_on_gpu.sh out --test build/tests/host/host_gpu_test \
    --benchmark build/microbench/tenon_gemm_benchmark --shapes 4096,8192

exit status: 0 all passed, 1 something failed, 2 bad usage
HELP
}

fail_usage() {
  echo "run_on_gpu.sh: $1; see microbench/run_on_gpu.sh --help" >&2
  exit 2
}

[ $# -ge 1 ] || fail_usage "needs the folder to write to"
case $1 in
  -h | --help) help && exit 0 ;;
  -*) fail_usage "needs the folder to write to before '$1'" ;;
esac
out=$1
shift
[ $# -ge 1 ] || fail_usage "has nothing to run: give --test, --sanitize or --benchmark"

# Before anything runs: a wrong word at the end must not cost what stands before it.
check_usage() {
  while [ $# -gt 0 ]; do
    case $1 in
      --test) [ $# -ge 2 ] || fail_usage "--test needs a program" ;;
      --sanitize) [[ $# -ge 2 && $2 == *:* ]] || fail_usage "--sanitize needs TOOL:PROGRAM" ;;
      --benchmark) [ $# -ge 2 ] && return || fail_usage "--benchmark needs a program" ;;
      *) fail_usage "does not know '$1'" ;;
    esac
    shift 2
  done
}
check_usage "$@"
[ ! -e "$out" ] || [ -d "$out" ] || fail_usage "'$out' is a file but must be a folder, or not exist"
mkdir -p -- "$out" || fail_usage "cannot write to '$out'"
rows=()
status=0

# run NAME COMMAND...: keeps the output in OUT/NAME.log and a row for the table.
run() {
  local name=$1 begin=$SECONDS code=0 verdict note=""
  shift
  [ -x "$(command -v "$1")" ] || { rows+=("$(printf '%-10s %5s  %s' MISSING - "$name: $1")"); status=1; return; }
  "$@" >"$out/$name.log" 2>&1 || code=$?
  verdict=passed
  if [ $code -ne 0 ]; then
    verdict="FAILED($code)"
    status=1
  fi
  note=$(grep -hE '^\[  (PASSED|FAILED|SKIPPED) +\] [0-9]+ test|ERROR SUMMARY|RACECHECK SUMMARY' "$out/$name.log" |
    tr -s ' =[]' ' ' | paste -sd ';')
  rows+=("$(printf '%-10s %4ds  %-40s %s' "$verdict" $((SECONDS - begin)) "$name" "$note")")
}

nvidia-smi >"$out/nvidia-smi.txt" 2>&1 || echo "run_on_gpu.sh: nvidia-smi does not answer" >&2
while [ $# -gt 0 ]; do
  case $1 in
    --test)
      name=$(basename "$2")
      run "$name" "$2" --gtest_brief=1 "--gtest_output=xml:$out/$name.xml"
      shift 2
      ;;
    --sanitize)
      run "${2%%:*}.$(basename "${2#*:}")" compute-sanitizer --tool "${2%%:*}" --error-exitcode 9 \
        "${2#*:}" --gtest_brief=1
      shift 2
      ;;
    --benchmark)
      shift
      run gemm_benchmark "$@" --json "$out/gemm.json"
      break
      ;;
  esac
done

[ ! -e "$out/gemm_benchmark.log" ] || cat "$out/gemm_benchmark.log"
echo
printf '%s\n' "${rows[@]+"${rows[@]}"}" | tee "$out/summary.txt"
exit $status
