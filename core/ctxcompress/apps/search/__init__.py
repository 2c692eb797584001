"""Compression of web search results, which keeps the shape that the search tool returned."""

from ctxcompress.apps.search.compression import SearchCompression, compress_search_results
from ctxcompress.apps.search.result_limits import SearchLimits, SearchOptions

__all__ = ["SearchCompression", "SearchLimits", "SearchOptions", "compress_search_results"]
