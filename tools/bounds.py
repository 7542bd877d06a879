#!/usr/bin/env python3
"""Runs pairs of stores for non-interference (crates/bower/src/interference.rs), from a seed on, for so many seconds.

  tools/bounds.py --state FOLDER --seconds 600 --seed 0

Appends one line of JSON for each 20 pairs to FOLDER/done.jsonl. Ends with 0 where no pair differs, and with 1 where one does.
"""

import argparse
import json
import os
import pathlib
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
TEST = "interference::others_change_no_answer"
# A Rust test binary ends so where a test failed.
FAILED = 101


def binary():
    """The test binary of the command, built where it is not."""
    command = ["cargo", "test", "--no-run", "--locked", "-p", "bower", "--lib", "--message-format=json"]
    built = subprocess.run(command, cwd=ROOT, stdout=subprocess.PIPE, text=True, check=True)
    for line in built.stdout.splitlines():
        message = json.loads(line) if line.startswith("{") else {}
        if message.get("executable") and message.get("profile", {}).get("test"):
            return message["executable"]
    sys.exit("cargo named no test binary")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    told = os.environ.get
    parser.add_argument("--state", default=told("BOWER_SOAK_STATE"), help="where done.jsonl is kept")
    parser.add_argument("--seconds", default=told("BOWER_SOAK_SECONDS", "600"))
    parser.add_argument("--seed", default=told("BOWER_SOAK_SEED", "0"))
    options = parser.parse_args()
    if not options.state:
        parser.error("--state names no folder")
    pathlib.Path(options.state).mkdir(parents=True, exist_ok=True)
    environment = dict(
        os.environ,
        BOWER_SOAK_STATE=str(pathlib.Path(options.state).resolve()),
        BOWER_SOAK_SECONDS=options.seconds,
        BOWER_SOAK_SEED=options.seed,
    )
    ended = subprocess.run([binary(), TEST, "--exact", "--nocapture"], cwd=ROOT, env=environment, check=False)
    sys.exit(1 if ended.returncode == FAILED else ended.returncode)


if __name__ == "__main__":
    main()
