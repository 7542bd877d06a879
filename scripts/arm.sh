#!/usr/bin/env bash
# Lints and tests the ARM path on a machine that is none: cross-compiles with Debian's compiler and runs the tests under
# qemu-user as three processors: with neither extension for products of bytes, with `dotprod`, and with `i8mm`.
#
# rustup may not be able to fetch a standard library for ARM, but Debian has one, for its own compiler. Both are unpacked
# into a cache ($BOWER_CACHE/arm) and never installed, because the packages exclude other Rust compilers. Linker and
# emulator are installed with apt-get as root; elsewhere this says what to install.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

cache=${BOWER_CACHE:-$HOME/.cache/bowerbird}/arm
tools=(gcc-aarch64-linux-gnu libc6-dev-arm64-cross qemu-user)

fail() {
    printf '%s\n' "$@" >&2
    exit 3
}

if ! command -v apt-get >/dev/null 2>&1 || [[ $(dpkg --print-architecture) != amd64 ]]; then
    fail "this needs Debian's packages on an x86-64; on an ARM machine 'make test' tests the same"
fi

if ! command -v qemu-aarch64 >/dev/null 2>&1 || ! command -v aarch64-linux-gnu-gcc >/dev/null 2>&1 ||
    [[ ! -e /usr/aarch64-linux-gnu/lib/crt1.o ]]; then
    if [[ $(id -u) != 0 ]]; then
        fail "missing a linker or an emulator for ARM: apt-get install ${tools[*]}"
    fi
    echo "installing ${tools[*]} with apt-get" >&2
    apt-get update -qq >/dev/null
    DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends "${tools[@]}" >/dev/null
fi

# The compiler's own libraries lie where the loader does not look, so a script stands for each program.
compiler=$cache/rustc
if [[ ! -x $compiler ]]; then
    if ! dpkg --print-foreign-architectures | grep -qx arm64; then
        if [[ $(id -u) != 0 ]]; then
            fail "apt does not know ARM's packages: dpkg --add-architecture arm64 && apt-get update"
        fi
        dpkg --add-architecture arm64
        apt-get update -qq >/dev/null
    fi
    found=$(apt-cache policy rustc-web | sed -n 's/^ *Candidate: \([0-9]*\.[0-9]*\)\..*/\1/p')
    needed=$(sed -n 's/^rust-version = "\(.*\)"/\1/p' Cargo.toml)
    if [[ -z $found || $(printf '%s\n%s\n' "$needed" "$found" | sort -V | head -n 1) != "$needed" ]]; then
        fail "apt has no rustc-web of $needed or newer (found: ${found:-none}): Debian 12 has 1.96 in bookworm-security"
    fi
    llvm=$(apt-cache depends "libstd-rust-web-$found" | sed -n 's/^ *Depends: \(libllvm[0-9]*\)$/\1/p')
    packages=(rustc-web "libstd-rust-web-$found" libstd-rust-web-dev libstd-rust-web-dev:arm64 rust-web-clippy $llvm)
    if ! apt-cache show "${packages[@]}" >/dev/null 2>&1; then
        fail "apt has not all of ${packages[*]}: run apt-get update"
    fi
    rm -rf "$cache"
    mkdir -p "$cache/packages"
    echo "fetching Debian's Rust $found and its library for ARM into $cache" >&2
    (cd "$cache/packages" && apt-get download -qq "${packages[@]}" 2>/dev/null)
    for package in "$cache"/packages/*.deb; do
        dpkg -x "$package" "$cache/root"
    done
    rm -rf "$cache/packages"
    libraries=$cache/root/usr/lib/x86_64-linux-gnu
    missing=$(LD_LIBRARY_PATH=$libraries ldd "$libraries"/librustc_driver-*.so | sed -n 's/^\s*\(\S*\) => not found/\1/p')
    if [[ -n $missing ]]; then
        fail "the compiler needs" "$missing" "apt-get install libedit2 libxml2 libz3-4"
    fi
    for tool in clippy-driver rustc; do
        printf '#!/bin/sh\nLD_LIBRARY_PATH=%s${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH} exec %s "$@"\n' \
            "$libraries" "$cache/root/usr/bin/$tool" >"$cache/$tool.new"
        chmod +x "$cache/$tool.new"
        mv "$cache/$tool.new" "$cache/$tool"
    done
fi

export RUSTC=$compiler
export CARGO_BUILD_TARGET=aarch64-unknown-linux-gnu
export CARGO_TARGET_DIR=target/arm
export CARGO_TARGET_AARCH64_UNKNOWN_LINUX_GNU_LINKER=aarch64-linux-gnu-gcc
export CC_aarch64_unknown_linux_gnu=aarch64-linux-gnu-gcc
cargo=${CARGO:-cargo}

echo "clippy on bower-kernels" >&2
RUSTC_WORKSPACE_WRAPPER=$cache/clippy-driver CLIPPY_ARGS="-Dwarnings" \
    "$cargo" check --locked --quiet -p bower-kernels --all-targets

for processor in cortex-a72 cortex-a76 max; do
    echo "bower-kernels on $processor" >&2
    CARGO_TARGET_AARCH64_UNKNOWN_LINUX_GNU_RUNNER="qemu-aarch64 -L /usr/aarch64-linux-gnu -cpu $processor" \
        "$cargo" test --locked --quiet -p bower-kernels --lib
done
