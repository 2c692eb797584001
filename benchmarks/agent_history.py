"""Compares what becomes of an agent's history over a long run: this package against the frameworks' own ways.

    python benchmarks/agent_history.py [--steps 50] [--history-tokens 8000] [--docs docs/how-to/history.md]

A scripted model reads a page in each of its steps. The pages are descriptions of installed packages. 16 of them have a
fact in the middle that has nothing to do with the rest, and 4 more facts are in messages of the user, who says
something every tenth step. At the end the user asks for each of the 20 facts, each time from the same state. The table
has the tokens that the model read in the run; the share of them that were the beginning of the prompt before, which a
prompt cache does not compute again; the facts in the last prompt of the run; and the facts in the prompts that ask for
them. Nothing else tells the model what will be asked.

The summarizer is no language model: it keeps the first sentence of each message, up to 1,500 tokens. A language model
writes better summaries, and costs more, but cannot know what will be asked either. Needs the extra `dev`.
"""

import asyncio
import re
import sysconfig
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from email.parser import HeaderParser
from pathlib import Path
from typing import Any

from langchain.agents import create_agent
from langchain.agents.middleware import ClearToolUsesEdit, ContextEditingMiddleware, SummarizationMiddleware
from langchain_core.language_models import FakeMessagesListChatModel
from langchain_core.messages import AIMessage, BaseMessage, HumanMessage
from langchain_core.tools import tool
from langgraph.checkpoint.memory import InMemorySaver
from lib.markdown_blocks import publish, publishing_parser, share, table
from llama_index.core.base.llms.types import ChatMessage
from llama_index.core.memory import Memory
from pydantic import Field

from ctxcompress import Compressor
from langchain_ctxcompress import CtxCompressMiddleware
from llamaindex_ctxcompress import CtxCompressMemoryBlock

_PAGE = 3_000
"""The characters of a page."""
_SUMMARY_TOKENS = 1_500
_MESSAGE_TOKENS = 4
_SENTENCE = re.compile(r"[^.!?\n]{20,300}+[.!?\n]")
_count = Compressor().count


@dataclass(frozen=True)
class Fact:
    """A sentence in the run, the question that asks for it at the end, and the words that tell whether it is there."""

    sentence: str
    question: str
    answer: str


FACTS = [
    Fact(*fact)
    for fact in (
        (
            "The staging database of Heron listens on port 6543.",
            "Which port does Heron's staging database use?",
            "6543",
        ),
        (
            "Marta Oyelaran signs off every release of the billing service.",
            "Who approves billing releases?",
            "Oyelaran",
        ),
        ("Backups of the wiki are deleted after 47 days.", "How long do we keep wiki backups?", "47 days"),
        (
            "The certificate of the mail gateway expires on 3 March.",
            "When does the mail gateway's certificate expire?",
            "3 March",
        ),
        (
            "Customers in Norway are invoiced in euros by exception.",
            "In what currency are Norwegian customers invoiced?",
            "euros",
        ),
        (
            "The nightly import retries four times before it pages anybody.",
            "How often does the nightly import retry?",
            "four times",
        ),
        (
            "Build agent kestrel-2 has a broken fan and must not run load tests.",
            "Which build agent must not run load tests?",
            "kestrel-2",
        ),
        (
            "The contract with Ostrava Logistics ends in September.",
            "When does the contract with Ostrava Logistics end?",
            "September",
        ),
        (
            "Feature flag slow_lane is on for the university tenants only.",
            "For whom is the flag slow_lane enabled?",
            "university tenants",
        ),
        (
            "The old queue can be switched off once ticket 8812 is closed.",
            "What has to be closed before the old queue is switched off?",
            "8812",
        ),
        (
            "Room Baltic has the only projector that works with the new laptops.",
            "In which room does the projector work with new laptops?",
            "Baltic",
        ),
        (
            "The rate limit of the partner API is 90 calls a minute.",
            "What is the rate limit of the partner API?",
            "90 calls",
        ),
        (
            "Passwords of service accounts live in the vault path infra/blue.",
            "Where are the passwords of service accounts?",
            "infra/blue",
        ),
        (
            "The load balancer drops idle connections after 350 seconds.",
            "After how many seconds does the load balancer drop idle connections?",
            "350",
        ),
        ("Deployments are frozen from 18 December on.", "From which day on are deployments frozen?", "18 December"),
        ("The tax report needs the columns of template R7.", "Which template does the tax report need?", "R7"),
        ("By the way, I prefer answers with British spelling.", "Which spelling do I prefer?", "British"),
        ("Remember that my deputy is Tomasz Wieczorek while I am away.", "Who is my deputy?", "Wieczorek"),
        (
            "Do not touch the directory legacy_reports, it is under audit.",
            "Which directory is under audit?",
            "legacy_reports",
        ),
        ("My budget for this is 1,250 euros a month.", "What is my monthly budget?", "1,250"),
    )
]
OF_PAGES, OF_USER = FACTS[:16], FACTS[16:]
GOALS = (
    "Read the package pages one by one and tell me which of them help to parse text quickly.",
    "Go on, and look for packages that make network requests.",
    "Next I want to know which packages are used for tests.",
    "Now find what helps to draw charts or to write documents.",
    "Last, look for packages that store data on disk.",
)


def pages(number: int) -> list[str]:
    """Return the descriptions of as many installed packages, with the facts in the middle of every third page."""
    return with_facts(descriptions(number))


def descriptions(number: int) -> list[str]:
    """Return the beginnings of the descriptions of as many installed packages."""
    found = []
    for file in sorted(Path(sysconfig.get_path("purelib")).glob("*.dist-info/METADATA")):
        description = HeaderParser().parsestr(file.read_text(encoding="utf-8", errors="replace")).get_payload()
        if len(str(description)) > _PAGE and not file.parent.name.startswith("ctxcompress"):
            found.append(str(description)[:_PAGE])
    found = found[:number]
    if len(found) < number:
        raise SystemExit(f"only {len(found)} installed packages have a long description; give --steps {len(found)}")
    return found


def with_facts(texts: list[str]) -> list[str]:
    """Return the beginnings of texts, some with a fact in their middle."""
    found, number = [text[:_PAGE] for text in texts], len(texts)
    for place, fact in enumerate(OF_PAGES):
        at = place * number // len(OF_PAGES)
        cut = found[at].find("\n", _PAGE // 2)
        found[at] = f"{found[at][:cut]}\n{fact.sentence}\n{found[at][cut:]}"
    return found


class Recording(FakeMessagesListChatModel):
    """Calls tools as it is told, and remembers its prompts."""

    prompts: list[list[BaseMessage]] = Field(default_factory=list)

    def bind_tools(self, *_: Any, **__: Any) -> "Recording":
        """Return the model itself."""
        return self

    def _generate(self, messages: Any, *args: Any, **kwargs: Any) -> Any:
        self.i = min(len(self.prompts), len(self.responses) - 1)
        self.prompts.append([*messages])
        return super()._generate(messages, *args, **kwargs)


@dataclass(frozen=True)
class Outcome:
    """What a way of handling the history did with the run."""

    name: str
    prompts: Sequence[Sequence[str]]
    """The messages of each prompt of the run, as text."""
    asked: Sequence[str]
    """The prompt that asks for each fact."""
    seconds: float

    def row(self) -> Sequence[str]:
        """Return the row of the table."""
        read = [sum(map(_tokens, prompt)) for prompt in self.prompts]
        known = sum(_known(one, other) for one, other in zip(self.prompts, self.prompts[1:], strict=False))
        last = "\n".join(self.prompts[-1])
        return (
            self.name,
            f"{sum(read):,}",
            f"{max(read):,}",
            share(known / sum(read)),
            str(sum(fact.sentence in last for fact in FACTS)),
            str(sum(fact.sentence in prompt for fact, prompt in zip(FACTS, self.asked, strict=True))),
            f"{self.seconds:.1f}",
        )


def _tokens(message: str) -> int:
    return _MESSAGE_TOKENS + _count(message)


def _known(before: Sequence[str], after: Sequence[str]) -> int:
    """Return the tokens of the messages with which both prompts begin."""
    tokens = 0
    for one, other in zip(before, after, strict=False):
        if one != other:
            break
        tokens += _tokens(one)
    return tokens


def _as_text(message: BaseMessage) -> str:
    return message.text + "".join(str(call["args"]) for call in getattr(message, "tool_calls", ()))


def _count_messages(messages: Iterable[Any]) -> int:
    return sum(_tokens(_as_text(message)) for message in messages)


def _summary(messages: Sequence[BaseMessage]) -> str:
    """Return the first sentence of each message, up to a number of tokens."""
    lines: list[str] = []
    for message in messages:
        found = _SENTENCE.search(message.text)
        if found:
            lines.append(found[0].strip())
        if _count("\n".join(lines)) > _SUMMARY_TOKENS:
            break
    return "\n".join(lines)


def langchain(name: str, middleware: Callable[[Any], Sequence[Any]], texts: Sequence[str]) -> Outcome:
    """Run LangChain's agent over the pages."""
    parts = len(GOALS)
    size = len(texts) // parts

    @tool
    def read_page(number: int) -> str:
        """Read a page."""
        return texts[number]

    answers: list[BaseMessage] = []
    for part in range(parts):
        answers += [
            AIMessage("", tool_calls=[{"name": "read_page", "args": {"number": n}, "id": f"call-{n}"}])
            for n in range(part * size, (part + 1) * size)
        ]
        answers.append(AIMessage(f"I have read {size} more pages."))
    model = Recording(responses=[*answers, AIMessage("done")])
    saver = InMemorySaver()
    agent = create_agent(
        model, [read_page], middleware=middleware(model), checkpointer=saver, system_prompt="Be brief."
    )
    config: Any = {"configurable": {"thread_id": "1"}}
    start = time.process_time()
    for part, goal in enumerate(GOALS):
        said = f"{OF_USER[part].sentence} {goal}" if part < len(OF_USER) else goal
        agent.invoke({"messages": [HumanMessage(said)]}, config)
    seconds = time.process_time() - start
    prompts = [[_as_text(message) for message in prompt] for prompt in model.prompts]
    end = agent.get_state(config).config
    asked = []
    for fact in FACTS:
        agent.invoke({"messages": [HumanMessage(fact.question)]}, end)
        asked.append("\n".join(map(_as_text, model.prompts[-1])))
    return Outcome(name, prompts, asked, seconds)


async def llamaindex(name: str, memory: Callable[[], Memory], texts: Sequence[str]) -> Outcome:
    """Run the same over a memory of LlamaIndex, whose agents keep their steps only at the end of a turn."""
    size = len(texts) // len(GOALS)
    held = memory()
    prompts: list[list[str]] = []
    start = time.process_time()
    for part, goal in enumerate(GOALS):
        said = f"{OF_USER[part].sentence} {goal}" if part < len(OF_USER) else goal
        await held.aput(ChatMessage(role="user", content=said))
        for number in range(part * size, (part + 1) * size):
            prompts.append(await _shown(held))
            call = ChatMessage(role="assistant", content=str({"number": number}))
            await held.aput_messages([call, ChatMessage(role="tool", content=texts[number])])
        prompts.append(await _shown(held))
        await held.aput(ChatMessage(role="assistant", content=f"I have read {size} more pages."))
    seconds = time.process_time() - start
    asked = ["\n".join(await _shown(held, fact.question)) for fact in FACTS]
    return Outcome(name, prompts, asked, seconds)


async def _shown(memory: Memory, question: str | None = None) -> list[str]:
    messages = await memory.aget(input=question)
    return [message.content or "" for message in messages] + ([question] if question else [])


def measured(texts: list[str], history_tokens: int) -> list[Outcome]:
    """Run all ways. An agent reads a text in each step."""
    half = history_tokens // 2

    def summarizing(model: Any) -> list[Any]:
        return [
            SummarizationMiddleware(
                model,
                trigger=("tokens", history_tokens),
                keep=("tokens", half),
                token_counter=_count_messages,
                trim_tokens_to_summarize=None,
                summarizer=_summary,
            )
        ]

    def clearing(_: Any) -> list[Any]:
        edit = ClearToolUsesEdit(trigger=history_tokens, keep=3)
        return [ContextEditingMiddleware(edits=[edit], token_counter=_count_messages)]

    def compressing(_: Any) -> list[Any]:
        return [CtxCompressMiddleware(tools=[], history_tokens=history_tokens)]

    def adapting(_: Any) -> list[Any]:
        return [CtxCompressMiddleware(tools=[], history_tokens=history_tokens, adaptive=True)]

    def compressing_both(_: Any) -> list[Any]:
        return [CtxCompressMiddleware(max_tokens=300, history_tokens=history_tokens)]

    def memory(*blocks: Any) -> Memory:
        return Memory.from_defaults(session_id="1", token_limit=history_tokens, memory_blocks=[*blocks])

    return [
        langchain("LangChain: everything", lambda _: [], texts),
        langchain("`SummarizationMiddleware`, first sentences", summarizing, texts),
        langchain("`ContextEditingMiddleware`", clearing, texts),
        langchain(f"`CtxCompressMiddleware(history_tokens={history_tokens})`", compressing, texts),
        langchain(f"`history_tokens={history_tokens}, adaptive=True`", adapting, texts),
        langchain(f"`history_tokens={history_tokens}, max_tokens=300`", compressing_both, texts),
        asyncio.run(llamaindex("LlamaIndex: `Memory`", memory, texts)),
        asyncio.run(llamaindex("with `CtxCompressMemoryBlock`", lambda: memory(_block()), texts)),
    ]


def _block() -> CtxCompressMemoryBlock:
    return CtxCompressMemoryBlock(max_tokens=2_000)


_HEADS = (
    "history",
    "tokens read",
    "largest prompt",
    "known beginning",
    "facts at the end",
    "facts when asked",
    "CPU s",
)


def main() -> None:
    """Run the command."""
    parser = publishing_parser(__doc__)
    parser.add_argument("--steps", type=int, default=50)
    parser.add_argument("--history-tokens", type=int, default=8_000)
    options = parser.parse_args()
    rows = [outcome.row() for outcome in measured(pages(options.steps), options.history_tokens)]
    publish({"agent history": table(_HEADS, rows)}, options.docs)


if __name__ == "__main__":
    main()
