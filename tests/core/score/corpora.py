"""Texts as the score sees them."""

from ctxcompress import Passage
from ctxcompress.data.documents import documents_as_they_are
from ctxcompress.data.table import SegmentTable
from ctxcompress.score.corpus import Corpus
from ctxcompress.segment.formats import segment, segment_outlined
from ctxcompress.segment.source_code import outline


def table_of(text, name=None):
    segments = segment_outlined(text, outline(text, name), whole=120) if name else segment(text)
    return SegmentTable.of(documents_as_they_are([text]), [segments])


def corpus_of(text, name=None):
    return Corpus.of([Passage("0", text, file_path=name)], table_of(text, name))
