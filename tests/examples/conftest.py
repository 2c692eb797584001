"""The modules of examples/ can be imported, as by users who copied them."""

import sys
from pathlib import Path

sys.path.append(str(Path(__file__).parents[2] / "examples"))
