"""The setting that saves most and still loses little, with a guarantee.

    guarantee = guaranteed_budget(losses, [200, 500, 1000], max_loss=0.05, confidence=0.9)

The promise: the loss that the named setting is expected to have on new questions is at most `max_loss`. It is kept with
a probability of `confidence` over the draw of the questions that were measured. It is made by Learn then Test
(Angelopoulos, Bates, Candès, Jordan and Lei, 2021): settings are tested from the safest on until one fails. Then the
chance that one passes that loses too much is at most ``1 - confidence``, however many settings there are.

It assumes that the measured questions and the new ones are drawn independently from the same source, so that they could
be exchanged for each other, and that settings, `max_loss` and `confidence` were chosen before the losses were seen.

Two other ways were not taken. Conformal risk control (Angelopoulos, Bates, Fisch, Lei and Schuster, 2022) promises a
mean over all draws of the measured questions, and has no confidence for the ones at hand. A bound by betting
(Waudby-Smith and Ramdas, 2020) needs half of the questions where many lose a little, but more of them where each loses
all or nothing, and depends on their order.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ctxcompress.errors import ConfigError

__all__ = [
    "Framework",
    "Guarantee",
    "Trial",
    "guaranteed_budget",
    "guaranteed_setting",
    "least_questions",
    "p_value",
    "questions_needed",
    "upper_bound",
]

Framework = Literal["core", "langchain", "llamaindex"]

_PROGRAMS: dict[Framework, str] = {
    "core": "from ctxcompress import CompressionConfig, Compressor\n\ncompressor = Compressor({config})\n",
    "langchain": (
        "from ctxcompress import CompressionConfig\nfrom langchain_ctxcompress import CtxCompressor\n\n"
        "compressor = CtxCompressor(config={config})\n"
    ),
    "llamaindex": (
        "from ctxcompress import CompressionConfig\nfrom llamaindex_ctxcompress import CtxCompressPostprocessor\n\n"
        "postprocessor = CtxCompressPostprocessor(config={config})\n"
    ),
}
_MOST_QUESTIONS = 1_000_000
"""So many questions nobody measures."""
_ROUNDING = 1e-9
"""What a sum of losses or a chance may be off by."""


class Trial(NamedTuple):
    """What the test of one setting found."""

    setting: float
    mean_loss: float
    upper_bound: float
    """The least `max_loss` for which this setting alone would have passed, at the same confidence."""
    p_value: float
    """The chance of so small a mean loss is at most this if `max_loss` or more is expected."""


@dataclass(frozen=True, slots=True)
class Guarantee:
    """The setting that saves most of those that were shown to lose little enough, and how it was found."""

    option: str
    """The option that the setting is a value of, such as "max_tokens"."""
    setting: float | None
    """None if no setting passed: then only the whole context is safe."""
    mean_loss: float
    """Of the setting, on the measured questions; of the safest one if none passed."""
    upper_bound: float
    """Of the same setting, as in its trial. It describes what was found: `max_loss` is what is promised."""
    max_loss: float
    confidence: float
    questions: int
    """How many were measured."""
    tested: tuple[Trial, ...]
    """From the safest setting to the first that failed; those after it were not tested."""

    @property
    def budget(self) -> int | None:
        """The setting in whole tokens, of a guarantee for a budget."""
        return None if self.setting is None else int(self.setting)

    @property
    def questions_needed(self) -> int | None:
        """About how many questions make a setting pass, if none did and the mean loss of the safest one stays.

        None if a setting passed, and if no number helps because that mean loss is not clearly below `max_loss`.
        """
        if self.setting is not None:
            return None
        return questions_needed(self.mean_loss, self.max_loss, self.confidence)

    def as_toml(self) -> str:
        """Return the configuration for a file, as docs/how-to/configuration.md describes it; its comments say why.

        Without a setting that passed, it lets every text pass as it is.
        """
        line = "enabled = false" if self.setting is None else f"{self.option} = {self.setting}"
        return f"{self._comments()}\n[compression]\n{line}\n"

    def as_python(self, framework: Framework = "core") -> str:
        """Return the same configuration as a program. Raises ConfigError for an unknown framework."""
        if framework not in _PROGRAMS:
            raise ConfigError(f"framework is {framework!r}; give one of {', '.join(_PROGRAMS)}")
        passing, given = "CompressionConfig().switched_off()", f"CompressionConfig({self.option}={self.setting})"
        return self._comments() + _PROGRAMS[framework].format(config=passing if self.setting is None else given)

    def _comments(self) -> str:
        aim = f"an expected loss of at most {self.max_loss:g}, with a confidence of {self.confidence:g}"
        found = f"Promised is {aim}." if self.setting is not None else f"Nothing shorter was shown to have {aim}."
        return (
            f"# {found}\n"
            f"# Measured on {self.questions} questions: mean loss {self.mean_loss:.4f}, bound {self.upper_bound:.4f}.\n"
        )


def guaranteed_budget(
    losses: ArrayLike, budgets: Sequence[int | None], *, max_loss: float = 0.05, confidence: float = 0.9
) -> Guarantee:
    """Return the least budget whose expected loss is at most `max_loss`.

    losses: from 0 to 1, a row for each question and a column for each budget. budgets: ascending; the last may be None,
    which is the whole context. That has no loss and is not tested.

    Raises ConfigError: see `guaranteed_setting`.
    """
    budgets = list(budgets)
    table = _table(losses, len(budgets))
    if budgets[-1:] == [None]:
        if table[:, -1].any():
            raise ConfigError(
                f"the whole context (budget None) has a mean loss of {table[:, -1].mean():g}, and 0 is needed; "
                "count as lost only what it has"
            )
        budgets, table = budgets[:-1], table[:, :-1]
    sizes = [size for size in budgets if size is not None]
    if len(sizes) < len(budgets) or sizes != sorted(set(sizes)):
        raise ConfigError(f"budgets are {budgets}; give each once, ascending, and None only as the last")
    return guaranteed_setting(
        table[:, ::-1], sizes[::-1], option="max_tokens", max_loss=max_loss, confidence=confidence
    )


def guaranteed_setting(
    losses: ArrayLike, settings: Sequence[float], *, option: str, max_loss: float = 0.05, confidence: float = 0.9
) -> Guarantee:
    """Return the last setting in a row of passed ones, whose expected loss is at most `max_loss`.

    losses: from 0 to 1, a row for each question and a column for each setting. settings: from the safest to the one
    that saves most, so budgets descending, and thresholds such as `min_score` ascending. option: what they are values
    of.

    Raises ConfigError for a wrong argument, and if there are so few questions that no setting could pass.
    """
    table = _table(losses, len(settings))
    _check_share("max_loss", max_loss, above=0.0)
    _check_share("confidence", confidence, above=0.5)
    if not len(settings):
        raise ConfigError(f"there are no values of {option} to test; give one at least")
    questions = len(table)
    needed = least_questions(max_loss, confidence)
    if questions < needed:
        least = math.ceil(1_000 * upper_bound(0.0, questions, confidence)) / 1_000 if questions else 1.0
        possible = f"{least:g} is possible with these" if least < 1 else "with so few, nothing can be shown"
        raise ConfigError(
            f"there are {questions} questions, and {needed} are needed even if nothing is lost, to show a loss of at "
            f"most {max_loss:g} with a confidence of {confidence:g}; measure more, or accept a greater loss: {possible}"
        )
    trials: list[Trial] = []
    for setting, mean in zip(settings, table.mean(axis=0).tolist(), strict=True):
        chance = p_value(mean, questions, max_loss)
        trials.append(Trial(setting, mean, upper_bound(mean, questions, confidence), chance))
        if not _passes(chance, confidence):
            break
    passed = [trial for trial in trials if _passes(trial.p_value, confidence)]
    chosen = passed[-1] if passed else trials[0]
    return Guarantee(
        option=option,
        setting=chosen.setting if passed else None,
        mean_loss=chosen.mean_loss,
        upper_bound=chosen.upper_bound,
        max_loss=max_loss,
        confidence=confidence,
        questions=questions,
        tested=tuple(trials),
    )


def p_value(mean_loss: float, questions: int, max_loss: float) -> float:
    """Return a bound of the chance that so many questions have so small a mean loss, if `max_loss` or more is expected.

    It is the bound of Hoeffding or that of Bentkus, whichever is less (Bates, Angelopoulos, Lei, Malik and Jordan,
    2021), and holds for any losses from 0 to 1. For 0 it is ``(1 - max_loss) ** questions``.
    """
    if not mean_loss < max_loss < 1:
        return 1.0
    distance = (1 - mean_loss) * math.log((1 - mean_loss) / (1 - max_loss))
    if mean_loss > 0:
        distance += mean_loss * math.log(mean_loss / max_loss)
    return min(1.0, math.exp(-questions * distance), math.e * _binomial_tail(mean_loss, questions, max_loss))


def _binomial_tail(mean_loss: float, questions: int, max_loss: float) -> float:
    """Return the chance of at most ``ceil(mean_loss * questions)`` losses, if each question has one by `max_loss`."""
    most = math.ceil(mean_loss * questions - _ROUNDING)
    numbers = np.arange(1, most + 1)
    steps = np.log((questions - numbers + 1) / numbers * (max_loss / (1 - max_loss)))
    logs = questions * math.log1p(-max_loss) + np.concatenate([[0.0], np.cumsum(steps)])
    return float(np.exp(logs).sum())


def upper_bound(mean_loss: float, questions: int, confidence: float) -> float:
    """Return the least `max_loss` that is accepted at this mean loss, by bisection, rounded up."""
    low, high = mean_loss, 1.0
    for _ in range(40):
        middle = (low + high) / 2
        if _passes(p_value(mean_loss, questions, middle), confidence):
            high = middle
        else:
            low = middle
    return high


def least_questions(max_loss: float, confidence: float) -> int:
    """Return the least number of questions, none of which loses anything, with which a setting passes."""
    return math.ceil(math.log(1 - confidence) / math.log1p(-max_loss) - _ROUNDING)


def questions_needed(mean_loss: float, max_loss: float, confidence: float) -> int | None:
    """Return about how many questions of this mean loss make a setting pass; None if a million do not."""
    low = high = least_questions(max_loss, confidence)
    while not _passes(p_value(mean_loss, high, max_loss), confidence):
        if high >= _MOST_QUESTIONS or mean_loss >= max_loss:
            return None
        low, high = high, 2 * high
    while low < high:
        middle = (low + high) // 2
        if _passes(p_value(mean_loss, middle, max_loss), confidence):
            high = middle
        else:
            low = middle + 1
    return high


def _passes(chance: float, confidence: float) -> bool:
    return chance <= (1 - confidence) * (1 + _ROUNDING)


def _table(losses: ArrayLike, columns: int) -> NDArray[np.float64]:
    """Return the losses as a table, which has `columns` columns and only numbers from 0 to 1. Raises ConfigError."""
    table = np.asarray(losses, dtype=np.float64)
    if table.ndim != 2 or table.shape[1] != columns:
        raise ConfigError(
            f"losses have the shape {table.shape}; give a row for each question, with a column for each of the "
            f"{columns} settings"
        )
    wrong = np.argwhere(~((table >= 0) & (table <= 1)))
    if wrong.size:
        row, column = wrong[0].tolist()
        raise ConfigError(f"the loss of question {row} is {table[row, column]:g}; give shares from 0 to 1")
    return table


def _check_share(name: str, value: float, *, above: float) -> None:
    if not isinstance(value, int | float) or not above < value < 1:
        raise ConfigError(f"{name} is {value!r}; give a number above {above:g} and below 1")
