"""Querying the hub for a shell that waits: fast, and silent even if the hub is unreachable.

Every command imports this module, so whatever is slow to import is imported only for a query.
"""

import asyncio
import logging
from collections.abc import Awaitable, Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import timedelta
from typing import TYPE_CHECKING, Any, Final

from click import Argument, Context, Parameter
from click.shell_completion import CompletionItem

from api.kinds import Kind

if TYPE_CHECKING:
    from hub import Hub, Json
    from starter.targets import Target

WITHIN: Final = timedelta(seconds=1)
"""A person is waiting with a finger on the tab key."""

Item = CompletionItem[str]
Completer = Callable[[Context, Parameter, str], list[Item]]


@dataclass(frozen=True, slots=True)
class Typed:
    """The command line typed so far, and the hub that it is for."""

    hub: "Hub"
    target: "Target"
    words: dict[str, Any]
    """Values of options and arguments by name."""

    async def list(self, kind: Kind, *, labels: str = "") -> "list[Json]":
        """List the objects of a kind in the namespace that was typed."""
        namespace = self.target.namespace if kind.namespaced else ""
        return (await self.hub.list(kind, namespace=namespace, labels=labels)).items


Look = Callable[[Typed], Awaitable[Iterable[Item]]]


def on_hub(look: Look) -> Completer:
    """Make a completer for click that queries the hub and skips values already typed."""

    def complete(context: Context, parameter: Parameter, incomplete: str) -> list[Item]:
        before = context.params.get(parameter.name or "")
        typed = before if isinstance(before, tuple) else ()
        found = _ask(look, _words(context))
        return [
            each for each in found if each.value.startswith(incomplete) and each.value not in typed
        ]

    return complete


def _words(context: Context) -> dict[str, Any]:
    """Return the values of all options and arguments typed so far, by name.

    While an option still lacks its value, click leaves the arguments unparsed in `context.args`.
    """
    words, aside = dict(context.params), list(context.args)
    for parameter in context.command.params:
        if isinstance(parameter, Argument) and parameter.name and aside:
            words[parameter.name] = words.get(parameter.name) or aside.pop(0)
    return words


def _ask(look: Look, words: dict[str, Any]) -> Iterable[Item]:
    from hub import HubError

    try:
        with _silence():
            return asyncio.run(_answer(look, words))
    except (HubError, OSError, ValueError):  # a TimeoutError is an OSError
        return []


async def _answer(look: Look, words: dict[str, Any]) -> Iterable[Item]:
    # Imported before the time limit starts, because the limit is meant for the hub alone.
    from hub import kubeconfig, transport  # noqa: F401
    from starter import targets

    target = targets.found(words["kubeconfig"], words["context"], words["namespace"] or "")
    async with asyncio.timeout(WITHIN.total_seconds()), await target.connect() as hub:
        return await look(Typed(hub, target, words))


@contextmanager
def _silence() -> Iterator[None]:
    """Keep warnings off the line being typed."""
    root, nowhere = logging.getLogger(), logging.NullHandler()
    root.addHandler(nowhere)
    try:
        yield
    finally:
        root.removeHandler(nowhere)
