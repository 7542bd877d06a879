#!/usr/bin/env bash
# The quick check before a commit: format, clippy, and the unit tests of the crates and rooms that changed since HEAD.
# `make test` decides; this says soon what it would say about the files at hand.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

cargo=${CARGO:-cargo}
changed=$( { git diff --name-only HEAD; git ls-files --others --exclude-standard; } | sort -u)

"$cargo" fmt --all --check
"$cargo" clippy --locked --workspace --all-targets -- -D warnings

crates=$(sed -n 's|^crates/\([^/]*\)/.*\.rs$|\1|p' <<<"$changed" | sort -u)
for crate in $crates; do
    # The rooms: the first module below `src/` of each changed file.
    rooms=$(sed -n "s|^crates/$crate/src/\([^/.]*\).*|\1::|p" <<<"$changed" | grep -vE '^(lib|main)::$' | sort -u || true)
    [[ -n $rooms ]] || continue
    mapfile -t names <<<"$rooms"
    echo "unit tests of $crate: ${names[*]}"
    "$cargo" test --locked --quiet --package "$crate" --lib -- "${names[@]}"
done
if grep -qE '\.(rs|md)$|Makefile' <<<"$changed"; then
    "$cargo" test --locked --quiet --package bower-core --test suite -- tidy::
fi
if grep -q '^tools/' <<<"$changed"; then
    make --no-print-directory test-tools
fi
