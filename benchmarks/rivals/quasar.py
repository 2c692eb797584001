"""quasar-context: sentences by the closeness of a sentence encoder, and values that it keeps.

Its torch is the build for CPUs: PIP_EXTRA_INDEX_URL=https://download.pytorch.org/whl/cpu lets pip find it.
"""

import os
from collections.abc import Callable, Mapping
from typing import Any

REQUIREMENTS = ("quasar-context==0.1.0", "torch==2.13.0+cpu")


def _start() -> Callable[[Mapping[str, Any]], str]:
    from quasar import ContextOptimizer, OptimizerConfig  # type: ignore[import-not-found]

    optimizer = ContextOptimizer(OptimizerConfig(model_name=os.environ["RIVAL_MODEL"]))

    def compress(case: Mapping[str, Any]) -> str:
        return str(optimizer.optimize(case["query"], case["titled"], target_tokens=case["budget"]).context)

    return compress


WAYS = {"quasar, with a model": _start}
