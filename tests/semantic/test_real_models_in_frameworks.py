"""With real weights behind the embedding classes of LangChain and LlamaIndex."""

import pytest
from semantic_texts import PAGE, PARAPHRASES, SENTENCES

MAX_TOKENS = 20


@pytest.fixture
def query():
    return "garbage pickup schedule"


@pytest.fixture
def embeddings(model):
    """The model as LangChain's HuggingFaceEmbeddings wraps it."""
    pytest.importorskip(
        "langchain_core", reason="langchain-core is not installed: pip install 'ctxcompress[langchain]'"
    )
    from langchain_core.embeddings import Embeddings

    class MiniLM(Embeddings):
        def embed_query(self, text):
            return model.encode_query(text).tolist()

        def embed_documents(self, texts):
            return model.encode_document(texts).tolist()

    return MiniLM()


@pytest.fixture
def embed_model(model):
    """The model as LlamaIndex's HuggingFaceEmbedding wraps it."""
    pytest.importorskip(
        "llama_index.core", reason="llama-index-core is not installed: pip install 'ctxcompress[llamaindex]'"
    )
    from llama_index.core.base.embeddings.base import BaseEmbedding

    class MiniLM(BaseEmbedding):
        def _get_query_embedding(self, query):
            return model.encode_query(query).tolist()

        async def _aget_query_embedding(self, query):
            return self._get_query_embedding(query)

        def _get_text_embedding(self, text):
            return self._get_text_embeddings([text])[0]

        def _get_text_embeddings(self, texts):
            return model.encode_document(texts).tolist()

        async def _aget_text_embeddings(self, texts):  # LlamaIndex would await one text after the other
            return self._get_text_embeddings(texts)

    return MiniLM(embed_batch_size=64)


async def test_langchain(embeddings, query):
    from langchain_core.documents import Document

    from langchain_ctxcompress import CtxCompressor

    compressor = CtxCompressor(max_tokens=MAX_TOKENS, encoder=embeddings)
    [kept] = compressor.compress_documents([Document(PAGE)], query)
    assert PARAPHRASES[query] in kept.page_content
    [awaited] = await compressor.acompress_documents([Document(PAGE)], query)
    assert awaited.page_content == kept.page_content


def test_langchains_vector_store_and_the_compressor_share_the_embeddings(embeddings, query):
    from langchain_core.documents import Document
    from langchain_core.vectorstores import InMemoryVectorStore

    from langchain_ctxcompress import CtxCompressor, CtxCompressRetriever

    store = InMemoryVectorStore(embeddings)
    store.add_documents([Document(" ".join(SENTENCES[n : n + 10])) for n in range(0, 40, 10)])
    retriever = CtxCompressRetriever(
        base_retriever=store.as_retriever(search_kwargs={"k": 3}),
        compressor=CtxCompressor(max_tokens=MAX_TOKENS, encoder=embeddings),
    )
    assert PARAPHRASES[query] in " ".join(document.page_content for document in retriever.invoke(query))


async def test_llamaindex(embed_model, query):
    from llama_index.core.schema import NodeWithScore, TextNode

    from llamaindex_ctxcompress import CtxCompressPostprocessor

    postprocessor = CtxCompressPostprocessor(max_tokens=MAX_TOKENS, encoder=embed_model)
    nodes = [NodeWithScore(node=TextNode(text=PAGE, id_="page"))]
    [kept] = postprocessor.postprocess_nodes(nodes, query_str=query)
    assert PARAPHRASES[query] in kept.text
    [awaited] = await postprocessor.apostprocess_nodes(nodes, query_str=query)
    assert awaited.text == kept.text


def test_llamaindexs_index_and_the_postprocessor_share_the_model(embed_model, query):
    from llama_index.core import VectorStoreIndex
    from llama_index.core.llms import MockLLM
    from llama_index.core.schema import TextNode

    from llamaindex_ctxcompress import CtxCompressPostprocessor

    nodes = [TextNode(text=" ".join(SENTENCES[n : n + 10])) for n in range(0, 40, 10)]
    index = VectorStoreIndex(nodes, embed_model=embed_model)
    postprocessor = CtxCompressPostprocessor(max_tokens=MAX_TOKENS, encoder=embed_model)
    engine = index.as_query_engine(similarity_top_k=3, node_postprocessors=[postprocessor], llm=MockLLM())
    assert PARAPHRASES[query] in str(engine.query(query))
