"""The results of a web search, made smaller in the shape that they came in."""

from ctxcompress.search.compression import SearchCompression, compress_search_results
from ctxcompress.search.result_limits import SearchOptions

__all__ = ["SearchCompression", "SearchOptions", "compress_search_results"]
