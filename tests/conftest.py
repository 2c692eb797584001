"""What holds for all tests: no network, repeatable examples."""

import os
from pathlib import Path

import pytest
from hypothesis import settings
from pytest_socket import disable_socket

settings.register_profile("local", max_examples=50, deadline=None)
settings.register_profile("ci", max_examples=100, deadline=None, derandomize=True)
settings.register_profile("few", max_examples=10, deadline=None, derandomize=True)
settings.load_profile("ci" if os.environ.get("CI") else "local")

_SHARED_CASES = Path(__file__).parents[2] / "shared" / "cases"


def pytest_runtest_setup() -> None:
    # Event loops wake themselves through a pair of Unix sockets.
    disable_socket(allow_unix_socket=True)


@pytest.fixture(scope="session")
def shared_cases() -> Path:
    """The folder of evaluation cases that stands beside the repository; without it the test is skipped."""
    if not _SHARED_CASES.is_dir():
        pytest.skip("there is no ../shared/cases beside the repository")
    return _SHARED_CASES
