#!/usr/bin/env bash
# model.sh BOWER: fetches the local model with `bower model pull` into target/model, unless it is there.
# Tests, demo and bench share the one copy; no model of yours is touched.
set -euo pipefail
cd "$(dirname "$0")/.."

bower=$1
export BOWER_HOME=$PWD/target/model-home BOWER_MODELS_FOLDER=$PWD/target/model

"$bower" --format text model pull all-MiniLM-L6-v2
