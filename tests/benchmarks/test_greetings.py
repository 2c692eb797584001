"""benchmarks/greetings.py puts each question into the middle of what people write around it."""

import importlib
from types import ModuleType

import pytest


@pytest.fixture(scope="module")
def greetings(cases: ModuleType, baseline: ModuleType) -> ModuleType:
    return importlib.import_module("greetings")


def test_each_form_has_the_question(greetings: ModuleType) -> None:
    forms = {name: form("what is the timeout?") for name, form in greetings.FORMS.items()}
    assert forms.pop("alone") == "what is the timeout?"
    assert all("what is the timeout?" in form and len(form) > 80 for form in forms.values())
