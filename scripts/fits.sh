#!/usr/bin/env bash
# Checks that the committed tables of weights are what their scripts make from the committed data. Installs numpy below target/ once.
set -euo pipefail
cd "$(dirname "$0")/.."
python=target/fits/bin/python
if ! "$python" -c 'import numpy' 2>/dev/null; then
    python3 -m venv target/fits
    "$python" -m pip install --quiet --disable-pip-version-check numpy
fi
for script in tools/fit_statements.py tools/fit_order.py tools/fit_past.py tools/fit_random.py tools/secret_cases.py; do
    echo "$script --check"
    "$python" "$script" --check
done
