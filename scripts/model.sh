#!/usr/bin/env bash
# model.sh BOWER: fetches the local model with `bower model pull` into target/model, unless it is there.
# Tests, demo and bench share the one copy; no model of yours is touched.
set -euo pipefail
cd "$(dirname "$0")/.."

bower=$1
name=all-MiniLM-L6-v2
home=target/model-home

# `bower` keeps models below its home; the tests look in target/model.
mkdir -p "$home/models"
if [[ ! -e target/model ]]; then
    ln -s model-home/models target/model
fi
if [[ -f target/model/$name/model.safetensors && -f target/model/$name/vocab.txt ]] &&
    compgen -G "target/model/$name/*.packed" >/dev/null; then
    exit 0
fi
BOWER_HOME=$home "$bower" model pull "$name"
