"""tokenpack: the best chunks of a folder's files, by the closeness of a sentence encoder and by words.

Its torch is the build for CPUs, as that of quasar.
"""

import os
from collections.abc import Callable, Mapping
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

REQUIREMENTS = ("tokenpack-rag[tokens]==0.1.2", "torch==2.13.0+cpu")


def _start() -> Callable[[Mapping[str, Any]], str]:
    from tokenpack.embeddings import make_embedder  # type: ignore[import-not-found]
    from tokenpack.packing import pack_source  # type: ignore[import-not-found]

    embedder = make_embedder(os.environ["RIVAL_MODEL"], local_files_only=True)

    def compress(case: Mapping[str, Any]) -> str:
        with TemporaryDirectory(dir=os.environ["RIVAL_FOLDER"]) as folder:
            source, runs = Path(folder, "texts"), Path(folder, "runs")
            source.mkdir()
            for number, text in enumerate(case["titled"]):
                (source / f"{number:04}.md").write_text(text, encoding="utf-8", newline="")
            packed = pack_source(
                source=source,
                query=case["query"],
                embedder=embedder,
                budget=case["budget"],
                reserve_output=0,
                output_detail="none",
                run_root=runs,
            )
            return str(packed.markdown)

    return compress


WAYS = {"tokenpack, with a model": _start}
