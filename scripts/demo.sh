#!/usr/bin/env bash
# demo.sh BOWER: Bowerbird in a minute, in a home of its own (target/demo); yours is never touched.
set -euo pipefail
cd "$(dirname "$0")/.."

bower=$1
home=target/demo
export BOWER_HOME=$home
if [[ -t 1 && -z ${NO_COLOR:-} ]]; then
    bold=$'\e[1m' dim=$'\e[2m' plain=$'\e[0m'
else
    bold='' dim='' plain=''
fi

# Each run starts from nothing, so that it always shows the same; the model is shared with the tests.
rm -rf "$home"
mkdir -p "$home"
export BOWER_MODELS_FOLDER=$PWD/target/model

say() {
    printf '\n%s%s%s\n' "$bold" "$1" "$plain"
}

# Shows a command as one would type it, then runs it as a person at a terminal would see it.
run() {
    local shown=bower word
    for word in "$@"; do
        if [[ $word == *[!A-Za-z0-9_./=-]* ]]; then
            shown+=" \"$word\""
        else
            shown+=" $word"
        fi
    done
    printf '\n%s$ %s%s\n' "$dim" "$shown" "$plain"
    "$bower" --format text "$@"
}

# The same, with the time from process start to exit.
ask() {
    local start end
    start=$(now_us)
    run query "$@"
    end=$(now_us)
    printf '%s%d.%d ms from start to exit%s\n' "$dim" $(((end - start) / 1000)) $(((end - start) % 1000 / 100)) "$plain"
}

now_us() {
    if [[ -n ${EPOCHREALTIME:-} ]]; then
        printf '%s' "${EPOCHREALTIME/[.,]/}"
    else
        python3 -c 'import time; print(time.time_ns() // 1000)'
    fi
}

say "1. Index this repository's documents and a small garden"
documents=(ARCHITECTURE.md CHANGELOG.md)
if [[ -d docs ]]; then
    documents+=(docs)
fi
run index "${documents[@]}" examples/garden

say "2. Keep a few memories"
run curate "Ines is allergic to bee stings; never send her to bed 4 around noon" --type fact --tags people,bees
run curate "We tried drip hoses from the hardware store: they clog within a month. Use the brown ones from the nursery." \
    --type gotcha --tags water,tools
run curate "Decided to leave the pumpkins to the school bed this year, in exchange for help with the harvest" \
    --type decision --tags plan
run curate "Adaeze prefers messages over calls, and answers after six in the evening" --type preference --tags people

say "3. Ask: by words, by meaning, in code, in another language"
ask "what time of day should I water the tomatoes?" --limit 3
ask "the heap stinks, what now?" --limit 2
ask "how is a harvest divided between people" --limit 2
ask "decode_frame checksum" --fast --limit 2
ask "braune Flecken an den Kartoffeln" --limit 2
ask "who should stay away from insects" --type fact --limit 1 --explain

say "4. Ask what only a name connects: one memory names the pump of a bed, another who repairs it"
run curate "Bed 12 gets its water from the Otterbach Pump." --type fact --tags water
run curate "Veit Sander repairs the Otterbach Pump." --type fact --tags people
ask "whom do I call when Bed 12 stays dry?" --limit 2 --explain
run graph path "Bed 12" "Veit Sander"

say "5. What is in the store now"
run status

cat <<END

${bold}Try next${plain} (this demo's home is $home; delete it when you like)
  export BOWER_HOME=$home BOWER_MODELS_FOLDER="\$PWD/target/model" PATH="\$PWD/${bower%/*}:\$PATH"
  bower query "how does a query find its answer?" --collection documents
  bower query "frost" --format context      # a block to paste into a prompt
  bower query "pump" --explain              # what words and meaning each said
  bower index ~/notes                       # your own notes
  bower doctor                              # is everything sound?
END
