"""What holds for all tests: no network, repeatable examples."""

import os
from pathlib import Path

import pytest
from hypothesis import settings
from pytest_socket import disable_socket

# By default some examples of each property; with --hypothesis-profile many, which make test-all sets, or few.
settings.register_profile("some", max_examples=20, deadline=None)
settings.register_profile("many", max_examples=100, deadline=None, derandomize=True)
settings.register_profile("few", max_examples=10, deadline=None, derandomize=True)
settings.load_profile("some")


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
