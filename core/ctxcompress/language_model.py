"""The protocol of language models that select segments, and how they are asked: see docs/how-to/language-model.md.

The adapters wrap the models of their frameworks. Users of the core give an object with `complete`.
"""

from collections.abc import Coroutine
from dataclasses import dataclass, replace
from inspect import getattr_static
from math import isfinite
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol, Self, runtime_checkable

from ctxcompress.errors import ConfigError
from ctxcompress.guarded import awaited, remembered

if TYPE_CHECKING:
    import asyncio

__all__ = ["Answer", "AsyncLanguageModel", "LLMSelector", "LanguageModel", "ModelOnLoop", "Price", "Prompt"]

_GREATEST_BREADTH = 100


class Prompt(NamedTuple):
    """What a language model is asked. Chat models take the two parts as two messages."""

    system: str
    """The instructions."""
    user: str
    """The question and the numbered segments."""

    def __str__(self) -> str:
        """Return both parts as one text, for models that complete a text."""
        return f"{self.system}\n\n{self.user}"


@dataclass(frozen=True, slots=True)
class Answer:
    """The answer of a language model, and what it cost."""

    text: str
    input_tokens: int | None = None
    """None if the model does not say; then both are counted with the option `encoding`."""
    output_tokens: int | None = None
    cost: float | None = None
    """In any currency; None if unknown."""


@runtime_checkable
class LanguageModel(Protocol):
    """A language model that answers a prompt."""

    @property
    def identity(self) -> str:
        """The name of the model and its parameters. Answers are cached under it; "" if they must not be cached."""

    def complete(self, prompt: Prompt, /) -> Answer:
        """Return the answer. It is called on another thread, for several prompts at the same time."""


@runtime_checkable
class AsyncLanguageModel(LanguageModel, Protocol):
    """A language model with a coroutine, which `Compressor.acompress` awaits."""

    def acomplete(self, prompt: Prompt, /) -> Coroutine[Any, Any, Answer]:
        """Return what `complete` returns."""


class Price(NamedTuple):
    """The price of a million tokens, in any currency."""

    input: float
    output: float


@dataclass(frozen=True, slots=True)
class LLMSelector:
    """A language model and how it is asked. Raises ConfigError for a value that cannot work."""

    model: Any
    """A `LanguageModel`, or in an adapter a model of its framework."""
    breadth: float = 3.0
    """How much the model reads: this many times the budget, filled with the best segments."""
    ask_if_fits: bool = False
    """Whether to ask even if everything fits into the budget."""
    fill_budget: bool = False
    """Whether the best segments that the model does not name fill the rest of the budget."""
    price: Price | tuple[float, float] | None = None
    """What a million input and output tokens cost, for models that do not say what an answer costs."""

    def __post_init__(self) -> None:
        if not _is_positive(self.breadth) or not 1 <= self.breadth <= _GREATEST_BREADTH:
            raise ConfigError(f"breadth is {self.breadth!r}; give a number from 1 to {_GREATEST_BREADTH}, such as 3")
        for name in ("ask_if_fits", "fill_budget"):
            if not isinstance(getattr(self, name), bool):
                raise ConfigError(f"{name} is {getattr(self, name)!r}; give True or False")
        if self.price is not None:
            object.__setattr__(self, "price", _checked_price(self.price))

    @classmethod
    def of(cls, llm: Any) -> Self | None:
        """Return the value of the option `llm` as a selector."""
        return llm if llm is None or isinstance(llm, cls) else cls(llm)

    @property
    def is_usable(self) -> bool:
        """Whether the model is one that the core can ask."""
        has_identity = getattr_static(self.model, "identity", None) is not None  # without computing it
        return has_identity and callable(getattr(self.model, "complete", None)) and not isinstance(self.model, type)

    def on_loop(self, loop: "asyncio.AbstractEventLoop") -> Self:
        """Return the selector with a model that can be awaited on this loop; the same one if the model cannot."""
        if not callable(getattr(self.model, "acomplete", None)):
            return self
        return replace(self, model=ModelOnLoop(self.model, loop))

    def budget_of_candidates(self, budget: int) -> int:
        """Return the tokens of the segments to choose from: the most of all attempts at one work, for each of them."""
        known = remembered()
        most: int = max(int(budget * self.breadth), known.get("candidates", 0))
        known["candidates"] = most
        return most

    def cost(self, input_tokens: int, output_tokens: int) -> float | None:
        """Return what these tokens cost; None without a price."""
        if self.price is None:
            return None
        of_input, of_output = self.price
        return (of_input * input_tokens + of_output * output_tokens) / 1e6


class ModelOnLoop:
    """An adapter that lets a thread without an event loop use an async language model: see `awaited`."""

    def __init__(self, model: AsyncLanguageModel, loop: "asyncio.AbstractEventLoop") -> None:
        self._model, self._loop = model, loop

    @property
    def identity(self) -> str:
        """The identity of the model."""
        return self._model.identity

    def complete(self, prompt: Prompt, /) -> Answer:
        """Return the answer of the model's `acomplete`."""
        return awaited(self._model.acomplete(prompt), self._loop)


def _checked_price(price: object) -> Price:
    is_pair = isinstance(price, tuple | list) and len(price) == 2
    if not is_pair or not all(number == 0 or _is_positive(number) for number in price):  # type: ignore[attr-defined]
        raise ConfigError(
            f"price is {price!r}; give what a million input tokens and a million output tokens cost, such as (2, 8)"
        )
    return Price(*price)  # type: ignore[misc]


def _is_positive(value: object) -> bool:
    return not isinstance(value, bool) and isinstance(value, int | float) and isfinite(value) and value > 0
