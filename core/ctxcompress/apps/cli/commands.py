"""Commands that share options: a dataclass whose fields are options can be a parameter of each."""

from collections.abc import Callable
from dataclasses import is_dataclass
from functools import wraps
from inspect import Parameter, Signature, signature
from typing import Annotated, Any, get_origin

from ctxcompress.apps.cli.report import readable_errors

__all__ = ["command"]


def command(run: Callable[..., None]) -> Callable[..., None]:
    """Return a function for typer, with the options of a dataclass in place of the parameter that it is the type of.

    Errors of this library become a message and an exit code.
    """
    own = signature(run).parameters
    shared = {name: _options(each.annotation) for name, each in own.items() if is_dataclass(each.annotation)}

    @wraps(run)
    def called(**given: Any) -> None:
        with readable_errors():
            made = {
                name: own[name].annotation(**{option.name: given.pop(option.name) for option in options})
                for name, options in shared.items()
            }
            run(**made, **given)

    options = [option for name, each in own.items() for option in shared.get(name, [each])]
    called.__signature__ = Signature([each.replace(kind=Parameter.KEYWORD_ONLY) for each in options])  # type: ignore[attr-defined]
    return called


def _options(kind: Any) -> list[Parameter]:
    return [each for each in signature(kind).parameters.values() if get_origin(each.annotation) is Annotated]
