"""One way through each adapter, so that a test can be the same for both."""

import langchain_way
import llamaindex_way
import pytest
from framework import QUERY, TEXTS, Chunk, Framework, Output, check_verbatim, tokens

__all__ = ["QUERY", "TEXTS", "Chunk", "Framework", "Output", "both", "check_verbatim", "tokens"]

both = pytest.mark.parametrize("framework", [langchain_way.WAY, llamaindex_way.WAY], ids=["langchain", "llamaindex"])
