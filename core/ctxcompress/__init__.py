"""ctxcompress makes retrieved context smaller without losing the answer. Start with `compress`."""

import logging

from ctxcompress.compressor import Compressor, compress
from ctxcompress.config.options import CompressionConfig
from ctxcompress.data.metadata import passage_from_metadata
from ctxcompress.data.passages import Passage
from ctxcompress.data.results import Compression, KeptPassage
from ctxcompress.encoders.encoder import Encoder
from ctxcompress.errors import CtxCompressError
from ctxcompress.query.complexity import classify_complexity
from ctxcompress.query.decompose import decompose
from ctxcompress.search import compress_search_results
from ctxcompress.version import __version__ as __version__

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

logging.getLogger(__name__).addHandler(logging.NullHandler())
