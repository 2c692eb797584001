"""Loads modules a second time, for what they find out about their surroundings once."""

import importlib
import importlib.util
from types import ModuleType


def fresh(name: str) -> ModuleType:
    """Return a second copy of a module; the one that everybody else uses stays as it is."""
    importlib.import_module(name)  # dataclasses look up names in it
    spec = importlib.util.find_spec(name)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module
