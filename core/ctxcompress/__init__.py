"""ctxcompress makes retrieved context smaller without losing the answer. Start with `compress`."""

import logging
from typing import TYPE_CHECKING

from ctxcompress.plugins import lazy_names
from ctxcompress.version import __version__ as __version__

if TYPE_CHECKING:
    from ctxcompress.apps.search import compress_search_results
    from ctxcompress.compressor import Compressor, compress
    from ctxcompress.config.options import CompressionConfig
    from ctxcompress.data.metadata import passage_from_metadata
    from ctxcompress.data.passages import Passage
    from ctxcompress.data.results import Compression, KeptPassage
    from ctxcompress.encoders.encoder import Encoder
    from ctxcompress.errors import CtxCompressError
    from ctxcompress.query.complexity import classify_complexity
    from ctxcompress.query.decompose import decompose

__all__ = [
    "Compression",
    "CompressionConfig",
    "Compressor",
    "CtxCompressError",
    "Encoder",
    "KeptPassage",
    "Passage",
    "classify_complexity",
    "compress",
    "compress_search_results",
    "decompose",
    "passage_from_metadata",
]

__getattr__, __dir__ = lazy_names(
    __name__,
    {
        "Compression": "ctxcompress.data.results",
        "CompressionConfig": "ctxcompress.config.options",
        "Compressor": "ctxcompress.compressor",
        "CtxCompressError": "ctxcompress.errors",
        "Encoder": "ctxcompress.encoders.encoder",
        "KeptPassage": "ctxcompress.data.results",
        "Passage": "ctxcompress.data.passages",
        "classify_complexity": "ctxcompress.query.complexity",
        "compress": "ctxcompress.compressor",
        "compress_search_results": "ctxcompress.apps.search",
        "decompose": "ctxcompress.query.decompose",
        "passage_from_metadata": "ctxcompress.data.metadata",
    },
)

logging.getLogger(__name__).addHandler(logging.NullHandler())
