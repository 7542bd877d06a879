#!/usr/bin/env bash
# setup.sh [DIR] [PEER...]: installs what Bowerbird is measured against, each into an environment of its own, in the versions
# that requirements/ names. DIR is $BOWER_CACHE/peers or ~/.cache/bowerbird/peers, never this repository; a peer that is
# there is left alone. One that does not install stops nobody: the reason is written to DIR/failed/PEER, and run.py and the
# report show it. txtai brings PyTorch with CUDA: 6 GB of disk.
set -uo pipefail
here=$(cd "$(dirname "$0")" && pwd)
python=${PYTHON:-python3}

if [[ $# -gt 0 && $1 == -h ]]; then
    sed -n '2,5s/^# //p' "$0"
    exit 0
fi
dir=${1:-${BOWER_CACHE:-$HOME/.cache/bowerbird}}
(($# > 0)) && shift || dir=$dir/peers
dir=$(realpath -m "$dir")
if [[ $dir/ == "$(cd "$here/../.." && pwd)"/* ]]; then
    echo "setup.sh: $dir is inside the repository; name a folder outside of it" >&2
    exit 2
fi
mkdir -p "$dir/failed" || exit 3

# install PEER: a peer is there once its file `ready` is. Says on standard output why it failed.
install() {
    local peer=$1 needed_gb=1 free_gb
    [[ $peer == txtai ]] && needed_gb=8
    [[ $peer == qmd ]] && needed_gb=2
    free_gb=$(df -Pk "$dir" | awk 'NR == 2 { print int($4 / 1048576) }')
    if ((free_gb < needed_gb)); then
        echo "needs $needed_gb GB of disk, $free_gb are free"
        return 1
    fi
    if [[ $peer == qmd ]]; then
        command -v npm >/dev/null || { echo 'npm is missing'; return 1; }
        mkdir -p "$dir/$peer"
        cp "$here/requirements/qmd/package.json" "$dir/$peer/"
        # No scripts: they would build or fetch a model's runtime, which `search` does not use.
        npm install --prefix "$dir/$peer" --ignore-scripts --no-audit --no-fund >"$dir/$peer.log" 2>&1 || { tell "$peer"; return 1; }
        link_node "$peer" || { tell "$peer"; return 1; }
    else
        # An environment knows where it lies, so it is made in its place.
        "$python" -m venv "$dir/$peer" >"$dir/$peer.log" 2>&1 || { tell "$peer"; return 1; }
        "$dir/$peer/bin/python" -m pip install --quiet --disable-pip-version-check -r "$here/requirements/$peer.txt" \
            >>"$dir/$peer.log" 2>&1 || { tell "$peer"; return 1; }
    fi
}

# The package `node` links its program in a script of its own; this runs that one alone.
link_node() {
    "$dir/$1/node_modules/.bin/node" --version >>"$dir/$1.log" 2>&1 ||
        npm rebuild --prefix "$dir/$1" node >>"$dir/$1.log" 2>&1
    "$dir/$1/node_modules/.bin/node" --version >>"$dir/$1.log" 2>&1
}

# The line of the log that says most, without the addresses of registries.
tell() {
    { grep -iE 'error|fail' "$dir/$1.log" || tail -n 1 "$dir/$1.log"; } | tail -n 1 | sed -E 's#https?://[^ ]*##g' | cut -c1-300
}

peers=("$@")
if ((${#peers[@]} == 0)); then
    peers=(usearch faiss sqlite_vec qdrant_edge qdrant_local lancedb chroma qmd onnx txtai)
fi
for peer in "${peers[@]}"; do
    if [[ -e $dir/$peer/ready ]]; then
        echo "$peer: there" >&2
        continue
    fi
    rm -rf "${dir:?}/$peer"
    if reason=$(install "$peer"); then
        touch "$dir/$peer/ready"
        rm -f "$dir/failed/$peer"
        echo "$peer: installed" >&2
    else
        echo "${reason:-the installer said nothing}" >"$dir/failed/$peer"
        rm -rf "${dir:?}/$peer"
        echo "$peer: not installed: $(<"$dir/failed/$peer")" >&2
    fi
done
exit 0
