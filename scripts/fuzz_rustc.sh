#!/usr/bin/env bash
# rustc as cargo calls it through RUSTC_WRAPPER, with coverage for libFuzzer where one of our crates is built for fuzzing.
set -euo pipefail

name=""
is_fuzzing=0
before=""
for word in "$@"; do
    [[ $before == --crate-name ]] && name=$word
    [[ $before == --cfg && $word == 'feature="fuzzing"' ]] && is_fuzzing=1
    before=$word
done
# The crate of the fuzzer itself needs none.
if [[ $is_fuzzing == 1 && ($name == bower || $name == bower_core) ]]; then
    flags=(-Cpasses=sancov-module)
    for flag in level=4 inline-8bit-counters pc-table trace-compares; do
        flags+=("-Cllvm-args=-sanitizer-coverage-$flag")
    done
    exec "$@" "${flags[@]}"
fi
exec "$@"
