#!/usr/bin/env bash
# inspector.sh BOWER FOLDER: what the protocol's own inspector sees of `bower mcp` and of `bower serve`, and what the list of tools costs a
# model.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."

bower=$1 work=$2
# The address of a server; without one, a process of the inspector's own.
served='' token=''
export MCP_CATALOG_PATH=$work/catalog.json

inspect() {
    if [[ -n $served ]]; then
        inspector --cli --transport http --server-url "$served" --header "Authorization: Bearer $token" "$@"
    else
        inspector --cli -e "BOWER_HOME=$work/inspected" -e "BOWER_MODELS_FOLDER=$PWD/target/model" "$@" -- "$bower" mcp
    fi
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
inspect --method tools/list 2>/dev/null | node tools/clients/tokens.mjs 1700

# The same store by HTTP.
field() {
    python3 -c 'import json, sys; print(json.load(sys.stdin)["data"][sys.argv[1]])' "$1"
}
export BOWER_HOME=$work/inspected
token=$("$bower" --format json token create inspector --access write | field token)
"$bower" --format json --quiet serve --port 0 >"$work/serving.json" 2>"$work/inspector.log" &
server=$!
trap 'kill "$server" 2>/dev/null || true' EXIT
for _ in $(seq 200); do
    [[ ! -s $work/serving.json ]] || break
    sleep 0.05
done
served=$(field address <"$work/serving.json")/mcp
expect 'tools/list by HTTP' memory_consolidate --method tools/list --strict
expect 'tools/call by HTTP' '9090' --method tools/call --tool-name memory_search --tool-arg 'query=API port' 'limit=3'
expect 'resources/read by HTTP' '9090' --method resources/read --uri "bower://item/$("$bower" --format json list | python3 -c 'import json, sys; print(json.load(sys.stdin)["data"]["memories"][0]["id"])')"
echo 'inspector: bower serve at /mcp, the same'
