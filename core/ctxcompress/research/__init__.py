"""The research cache: a question that asks the same as an earlier one gets its context, with a note that says so."""

from ctxcompress.research.context_codecs import ContextCodec
from ctxcompress.research.research_cache import Research, ResearchCache, ResearchStats

__all__ = ["ContextCodec", "Research", "ResearchCache", "ResearchStats"]
