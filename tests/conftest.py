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


def pytest_runtest_setup() -> None:
    # Event loops wake themselves through a pair of Unix sockets.
    disable_socket(allow_unix_socket=True)


@pytest.fixture(scope="session")
def cases_folder() -> Path:
    """The folder of evaluation cases that CTXCOMPRESS_CASES names. Without it the test is skipped."""
    folder = os.environ.get("CTXCOMPRESS_CASES")
    if not folder:
        pytest.skip("CTXCOMPRESS_CASES names no folder of cases")
    return Path(folder)
