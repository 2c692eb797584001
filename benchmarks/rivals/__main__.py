"""The command: see comparison.py."""

import importlib
import sys
from pathlib import Path

# A folder that is run stands first on the path, where the names of adapters would hide what they adapt.
sys.path[0] = str(Path(__file__).parents[1])
importlib.import_module("rivals.comparison").main()
