"""What tokens cost: the prices that the package genai-prices has of language models' input.

The package has the prices of more than two thousand models of all large providers, and is published every few days. It
is read as it is installed: nothing is asked of the network.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from decimal import Decimal
from importlib import import_module
from typing import Any, NamedTuple

from ctxcompress.errors import ConfigError, MissingExtra

__all__ = ["InputPrice", "Saving"]

_CALLS = 1_000


class Saving(NamedTuple):
    """What calls cost in dollars before and after, as the provider bills input."""

    model: str
    """The name that the provider gives to the model, and the provider's."""
    before: Decimal
    after: Decimal
    before_cached: Decimal
    """If the provider has the whole prompt in its cache: it then bills less for each token."""
    after_cached: Decimal
    calls: int

    def summary(self) -> str:
        """Return the line for people to read."""
        cached = f"; ${self.before_cached - self.after_cached:,.2f} if the provider has it in its cache"
        line = f"${self.before - self.after:,.2f} of ${self.before:,.2f} for {self.calls:,} calls of {self.model}"
        return line + (cached if self.before_cached < self.before else "")


@dataclass(frozen=True, slots=True)
class InputPrice:
    """The price of a language model's input."""

    model: str
    _prices: Any

    @classmethod
    def of(cls, model: str) -> "InputPrice":
        """Return the price of a model, such as "gpt-5-mini", or "openai:gpt-5-mini" where several providers have it.

        Raises MissingExtra without the extra `prices`, ConfigError for a model that has no price.
        """
        try:
            prices = import_module("genai_prices")
        except ImportError as error:
            raise MissingExtra("prices need genai-prices; run: pip install 'ctxcompress[prices]'") from error
        price = cls(model, prices)
        price._price(_CALLS, is_cached=False)
        return price

    def saving(self, tokens: Iterable[tuple[int, int]], calls: int | None = None) -> Saving:
        """Return what is saved where so many tokens are left of so many.

        tokens: the tokens before and after of each call, because some models cost more where a call has many. calls:
        the calls that the sum is scaled to; None for no scaling. Tokens are billed as they are counted: count with the
        model's own `encoding` for the exact sum.
        """
        pairs = [*tokens]
        scale = 1 if calls is None else Decimal(calls) / max(len(pairs), 1)
        (before, after), (before_cached, after_cached) = (
            [
                sum((self._price(pair[at], is_cached=cached).input_price for pair in pairs), Decimal(0)) * scale
                for at in (0, 1)
            ]
            for cached in (False, True)
        )
        calls, found = len(pairs) if calls is None else calls, self._price(_CALLS, is_cached=False)
        return Saving(f"{found.model.id} ({found.provider.name})", before, after, before_cached, after_cached, calls)

    def _price(self, tokens: int, *, is_cached: bool) -> Any:
        provider, _, model = self.model.rpartition(":")
        usage = self._prices.Usage(input_tokens=tokens, cache_read_tokens=tokens if is_cached else 0)
        try:
            return self._prices.calc_price(usage, model, provider_id=provider or None)
        except LookupError as error:
            raise ConfigError(
                f"there is no price for the model {self.model!r}; give the provider's name of a model, such as "
                "'gpt-5-mini', with the provider in front where several have it, such as 'openai:gpt-5-mini'"
            ) from error
