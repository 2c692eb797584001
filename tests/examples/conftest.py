"""The modules of examples/ can be imported, as by users who copied them, and no framework reports to its makers."""

import os
import sys
from pathlib import Path

sys.path.append(str(Path(__file__).parents[2] / "examples"))
os.environ |= {"HAYSTACK_TELEMETRY_ENABLED": "False", "OPENAI_AGENTS_DISABLE_TRACING": "1"}
