#!/bin/sh
# Makes a virtual environment beside this file with what `benches/papers.py` compares with.
# On other systems than Linux, or for PyTorch with CUDA, install requirements.txt without the extra index.
set -eu
cd "$(dirname "$0")"
python3 -m venv .venv
.venv/bin/pip install --quiet --extra-index-url https://download.pytorch.org/whl/cpu -r requirements.txt
echo "now: benches/peers/.venv/bin/python benches/papers.py --quick"
