"""The command: see command.py."""

import importlib
import sys
from pathlib import Path

# Run as a folder or with -m, it finds the other commands' `lib` beside it.
sys.path[0] = str(Path(__file__).parents[1])
importlib.import_module("public.command").main()
