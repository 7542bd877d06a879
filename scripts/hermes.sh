#!/usr/bin/env bash
# Runs the providers in the real host of Hermes: installs hermes-agent from PyPI below target/ once, then python/tests.
# Usage: scripts/hermes.sh path/to/bower
set -euo pipefail

bower=$(realpath "$1")
root=$(cd "$(dirname "$0")/.." && pwd)
venv=$root/target/clients/hermes
version=0.19.0

if ! "$venv/bin/python" -c "import importlib.metadata as m, sys; sys.exit(m.version('hermes-agent') != '$version')" 2>/dev/null; then
    rm -rf "$venv"
    if ! python3 -c 'import sys; sys.exit(sys.version_info < (3, 11))' || ! python3 -m venv "$venv" ||
        ! "$venv/bin/pip" install --quiet --disable-pip-version-check "hermes-agent==$version"; then
        rm -rf "$venv"
        echo "skipped: the Hermes host needs Python 3.11 and hermes-agent $version from PyPI, which could not be installed" >&2
        exit 0
    fi
fi

export BOWER=$bower BOWER_MODELS_FOLDER=${BOWER_MODELS_FOLDER:-$root/target/model} PYTHONDONTWRITEBYTECODE=1
exec "$venv/bin/python" -m unittest discover --start-directory "$root/python/tests" --pattern 'test_hermes*.py' "${@:2}"
