"""Pages that show what a compression kept and dropped, and why."""

from os import PathLike
from pathlib import Path

from ctxcompress.apps.prices import InputPrice
from ctxcompress.apps.xray.collect import collect_xray
from ctxcompress.apps.xray.facts import explained
from ctxcompress.apps.xray.page import brief as brief_page
from ctxcompress.apps.xray.page import page as whole_page
from ctxcompress.apps.xray.run import RunXray
from ctxcompress.apps.xray.trace import write_page
from ctxcompress.config.options import CompressionConfig
from ctxcompress.data.results import Compression, Explanation
from ctxcompress.errors import CtxCompressError, warn

__all__ = ["RunXray", "explanations", "html_page", "written_page"]


def html_page(
    compression: Compression, config: CompressionConfig, *, brief: bool = False, price: InputPrice | None = None
) -> str:
    """Return an HTML page about a compression with these options: see `Compression.xray`.

    brief: return the short form that notebooks show. price: that of the language model, to say what is saved.
    """
    return brief_page(compression) if brief else whole_page(collect_xray(compression, config, price=price))


def explanations(compression: Compression, config: CompressionConfig, quote: str) -> tuple[Explanation, ...]:
    """Return why the pieces of a quote were kept or dropped: see `Compression.explain`."""
    return explained(collect_xray(compression, config), quote)


def written_page(compression: Compression, config: CompressionConfig, directory: str | PathLike[str]) -> Path | None:
    """Write that page into a folder: see `Compression.trace`."""
    try:  # the encoder is not called again: that could be expensive, or fail
        return write_page(whole_page(collect_xray(compression, config, asks_encoder=False)), directory)
    except CtxCompressError as error:
        warn(f"the page of a compression could not be made ({error})")
        return None
