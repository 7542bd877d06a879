#!/usr/bin/env bash
# http.sh BOWER [SECONDS]: starts `bower serve` on a store of its own and has schemathesis (PyPI, in a folder below target/) ask it
# whatever its OpenAPI document allows, and much that it does not: an answer of 500, or one that is not documented, is an error.
set -euo pipefail
cd "$(dirname "$0")/.."

bower=$PWD/$1
seconds=${2:-60}
venv=$PWD/target/venv-http
version=4.32.5
if ! "$venv/bin/schemathesis" --version 2>/dev/null | grep -q "$version"; then
    python3 -m venv "$venv"
    "$venv/bin/pip" install --quiet --disable-pip-version-check "schemathesis==$version" || {
        echo "schemathesis cannot be installed: the check of the HTTP interface is left out" >&2
        exit 0
    }
fi

folder=$(mktemp -d)
server=
finish() {
    [[ -z $server ]] || kill "$server" 2>/dev/null || true
    [[ -z $server ]] || wait "$server" 2>/dev/null || true
    rm -rf "$folder"
}
trap finish EXIT
export BOWER_HOME=$folder/home BOWER_MODEL=none
for text in "The API listens on port 8080" "We decided to use SQLite for the store" "The ferry leaves at nine on Sundays"; do
    "$bower" --format json curate "$text" > "$folder/kept.json"
done
token=$("$bower" --format json token create check --access admin \
    | python3 -c 'import json, sys; print(json.load(sys.stdin)["data"]["token"])')
"$bower" --format json serve --port 0 --rate 0 --prune-interval never > "$folder/serving.json" 2> "$folder/log" &
server=$!
for _ in $(seq 200); do
    [[ ! -s $folder/serving.json ]] || break
    sleep 0.05
done
address=$(python3 -c 'import json, sys; print(json.load(open(sys.argv[1]))["data"]["address"])' "$folder/serving.json")

# Not asked: the stream of changes, which has no end (its own tests follow it). Not checked: that whatever a schema allows is
# done (an id may be nobody's), and that the token is refused when it is left out (tests of their own have it so).
# It leaves files of its own where it runs.
status=0
(cd "$folder" && "$venv/bin/schemathesis" run "$address/openapi.json" \
    --header "Authorization: Bearer $token" \
    --exclude-path /api/v1/events \
    --checks not_a_server_error,negative_data_rejection,status_code_conformance,content_type_conformance,response_headers_conformance,response_schema_conformance,unsupported_method,allow_header_conformance \
    --phases examples,coverage,fuzzing --max-examples 40 --max-time "$seconds" --seed 1 --continue-on-failure \
    --request-timeout 20 --warnings off > "$folder/report" 2>&1) || status=$?
tail -n 40 "$folder/report"
if grep -q '"level":"ERROR"' "$folder/log"; then
    echo "the server's log has errors:" >&2
    grep '"level":"ERROR"' "$folder/log" | head >&2
    status=1
fi
if grep -qF "$token" "$folder/log"; then
    echo "the token stands in the server's log" >&2
    status=1
fi
kill "$server"
if ! wait "$server"; then
    echo "the server did not end well" >&2
    status=1
fi
server=
((status == 0)) || { cp "$folder/report" "$folder/log" target/; echo "the report and the log are in target/" >&2; }
exit "$status"
