#!/bin/sh
# Makes a virtual environment beside this file with what `benches/papers.py` compares with.
set -eu
cd "$(dirname "$0")"
python3 -m venv .venv
.venv/bin/pip install --quiet -r requirements.txt
echo "now: benches/peers/.venv/bin/python benches/papers.py --quick"
