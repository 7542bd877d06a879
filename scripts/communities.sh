#!/usr/bin/env bash
# communities.sh BOWER-BENCH: compares the communities that Bowerbird detects with those of leidenalg (PyPI, in a folder below target/).
# leidenalg is under the GPL: it is only run here, and no part of Bowerbird is linked with it.
set -euo pipefail
cd "$(dirname "$0")/.."

venv=target/venv-communities
if ! "$venv/bin/python" -c 'import igraph, leidenalg; assert leidenalg.version == "0.12.0"' 2>/dev/null; then
    python3 -m venv "$venv"
    "$venv/bin/pip" install --quiet --disable-pip-version-check leidenalg==0.12.0 igraph==1.0.0 || {
        echo "leidenalg cannot be installed: the check of communities is left out" >&2
        exit 0
    }
fi
"$venv/bin/python" tools/communities.py --bench "$1"
