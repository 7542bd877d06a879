#!/usr/bin/env bash
# clients.sh BOWER: drives `bower mcp`, and /mcp of `bower serve`, with the clients that people use: PyPI's `mcp`, the protocol's own
# inspector, and its conformance suite (over HTTP). Installs them below target/clients, once; where they cannot be installed it says so and goes on.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

bower=$(realpath "$1")
clients=$PWD/target/clients
cargo=${CARGO:-cargo}
python_client=mcp==2.3.0
node_clients=(node@22 @modelcontextprotocol/inspector@2.12.0 @modelcontextprotocol/conformance@0.2.0-alpha.12 gpt-tokenizer@4.0.0)
mkdir -p "$clients"

skipped() {
    printf 'SKIPPED: %s\n' "$*" >&2
}

# Installed is what the stamp names, so that another version is another installation.
if ! [[ -x $clients/python/bin/python && $(cat "$clients/python.stamp" 2>/dev/null) == "$python_client" ]]; then
    echo "installing $python_client into $clients/python" >&2
    if ! { python3 -m venv "$clients/python" && "$clients/python/bin/pip" install -q "$python_client"; } >"$clients/pip.log" 2>&1; then
        skipped "Python's client: it cannot be installed here (see $clients/pip.log; it needs Python 3.10 and PyPI)"
    else
        echo "$python_client" >"$clients/python.stamp"
    fi
fi
if ! [[ $(cat "$clients/node.stamp" 2>/dev/null) == "${node_clients[*]}" ]]; then
    echo "installing ${node_clients[*]} into $clients" >&2
    if ! command -v npm >/dev/null 2>&1 ||
        ! npm install --prefix "$clients" --no-fund --no-audit "${node_clients[@]}" >"$clients/npm.log" 2>&1 ||
        ! "$clients/node_modules/.bin/node" --version >>"$clients/npm.log" 2>&1; then
        skipped "the inspector and the conformance suite: Node 22 cannot be installed here (see $clients/npm.log; it needs npm)"
    else
        echo "${node_clients[*]}" >"$clients/node.stamp"
    fi
fi

work=$(mktemp -d)
server=
finish() {
    # Only what was started here.
    if [[ -n $server ]]; then kill "$server" 2>/dev/null || true; fi
    rm -rf "$work"
}
trap finish EXIT
export BOWER_MODELS_FOLDER=$PWD/target/model BOWER_HOME=$work/home

if [[ -e $clients/python.stamp ]]; then
    "$clients/python/bin/python" tools/clients/mcp_client.py "$bower"
fi

if [[ -e $clients/node.stamp ]]; then
    export PATH=$clients/node_modules/.bin:$PATH
    tools/clients/inspector.sh "$bower" "$work"

    # The suite speaks HTTP and asks for tools of its own: a test of the library serves those at /mcp, beside Bowerbird's.
    test=$("$cargo" test --locked -p bower --lib --no-run --message-format=json 2>/dev/null |
        sed -n 's/.*"executable":"\([^"]*\)".*/\1/p' | tail -n 1)
    port=$(python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])')
    BOWER_TEST_CONFORMANCE=127.0.0.1:$port "$test" --exact mcp::conformance::serves_the_conformance_suite_where_it_is_told_to \
        >"$work/server.log" 2>&1 &
    server=$!
    for _ in $(seq 100); do
        if (exec 3<>"/dev/tcp/127.0.0.1/$port") 2>/dev/null; then break; fi
        sleep .1
    done
    for revision in 2025-06-18 2025-11-25 2026-07-28; do
        log=$work/conformance-$revision.log
        if ! conformance server --url "http://127.0.0.1:$port/mcp" --suite all --spec-version "$revision" \
            --expected-failures tools/clients/conformance.yaml -o "$work/results" >"$log" 2>&1; then
            cat "$log" "$work/server.log" >&2
            echo "conformance $revision: failed" >&2
            exit 1
        fi
        printf 'conformance %s: %s scenarios pass, %s do not apply\n' "$revision" \
            "$(grep -c '^✓' "$log")" "$(grep -c '^  ~' "$log")"
    done
fi
