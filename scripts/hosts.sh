#!/usr/bin/env bash
# hosts.sh BOWER [WORDS]: drives the programs that agents run in, as npm has them, by what `bower setup` writes for them. Installs
# them below target/clients/hosts, once (2 GB); where one cannot be installed it says so and goes on. WORDS go to Python's unittest.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

bower=$(realpath "$1")
hosts=$PWD/target/clients/hosts
# Claude Code asks for Node 22.
programs=(
    @anthropic-ai/claude-code@2.1.330 @openai/codex@0.169.0 @google/gemini-cli@0.61.0 opencode-ai@1.18.33 @github/copilot@1.0.102
)
mkdir -p "$hosts"

skipped() {
    printf 'SKIPPED: %s\n' "$*" >&2
}

# Installed is what a stamp names, so that another version is another installation. One that cannot be had takes no other with it.
install() {
    local stamp=${1%@*}
    stamp=$hosts/${stamp//\//_}.stamp
    if [[ $(cat "$stamp" 2>/dev/null) == "$1" ]]; then return; fi
    echo "installing $1 into $hosts" >&2
    if ! npm install --prefix "$hosts" --no-fund --no-audit "$1" >"$hosts/npm.log" 2>&1; then
        skipped "$1 cannot be installed here (see $hosts/npm.log)"
        return 1
    fi
    echo "$1" >"$stamp"
}

if ! command -v npm >/dev/null 2>&1; then
    skipped "the hosts: there is no npm to install them with"
    exit 0
fi
install node@22 || exit 0
for package in "${programs[@]}"; do
    install "$package" || true
done

export BOWER=$bower HOSTS=$hosts/node_modules/.bin BOWER_MODELS_FOLDER=${BOWER_MODELS_FOLDER:-$PWD/target/model} PYTHONDONTWRITEBYTECODE=1
cd tools/clients/hosts
exec python3 -m unittest drive_hosts "${@:2}"
