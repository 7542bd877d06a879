#!/usr/bin/env bash
# inspector.sh BOWER FOLDER: what the protocol's own inspector sees of `bower mcp`, and what its list of tools costs a model.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."

bower=$1 work=$2
export MCP_CATALOG_PATH=$work/catalog.json

inspect() {
    inspector --cli -e "BOWER_HOME=$work/inspected" -e "BOWER_MODELS_FOLDER=$PWD/target/model" "$@" -- "$bower" mcp
}

expect() {
    local name=$1 pattern=$2
    shift 2
    local said
    if ! said=$(inspect "$@" 2>"$work/inspector.log"); then
        echo "inspector, $name: failed: $said $(cat "$work/inspector.log")" >&2
        exit 1
    fi
    if ! grep -q -- "$pattern" <<<"$said"; then
        echo "inspector, $name: no $pattern in: $said" >&2
        exit 1
    fi
}

expect 'tools/list' memory_consolidate --method tools/list --strict
expect 'tools/call' '"outcome": "create"' --method tools/call --tool-name memory_store --tool-arg 'content=The API port is 9090' 'tags=["api"]'
expect 'tools/call' '9090' --method tools/call --tool-name memory_search --tool-arg 'query=API port' 'limit=3'
expect 'resources/list' 'bower://memory/canonical' --method resources/list
expect 'resources/templates/list' 'bower://item/{id}' --method resources/templates/list
expect 'resources/read' 'Nothing was kept in this session' --method resources/read --uri bower://session/current
expect 'prompts/list' recall --method prompts/list
expect 'prompts/get' '9090' --method prompts/get --prompt-name recall --prompt-args 'topic=API port'
printf 'inspector: '
inspect --method tools/list 2>/dev/null | node tools/clients/tokens.mjs 1500
