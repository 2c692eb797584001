"""With real weights behind the embedding classes of LangChain and LlamaIndex."""

import pytest
from both_frameworks import Framework, both
from semantic_texts import PAGE, PARAPHRASES

pytestmark = both
QUERY = "garbage pickup schedule"


@pytest.mark.parametrize("is_async", [False, True])
async def test_a_paraphrase_finds_its_sentence(framework: Framework, model, is_async):
    embeddings = framework.embeddings(
        lambda text: (model.encode_query if text == QUERY else model.encode_document)(text).tolist()
    )
    component = framework.component(max_tokens=20, encoder=embeddings)
    given = [framework.item(PAGE, "page")]
    kept = (
        await framework.acompress(component, given, QUERY) if is_async else framework.compress(component, given, QUERY)
    )
    assert PARAPHRASES[QUERY] in framework.shown(kept)
