"""Asking the hub while a shell waits: quickly, silently, and without a word when it is away.

What is slow to import is imported when the hub is asked, for every command refers to completion.
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
"""A person waits, with a finger on the key."""

Item = CompletionItem[str]
Completer = Callable[[Context, Parameter, str], list[Item]]


@dataclass(frozen=True, slots=True)
class Typed:
    """What has been typed so far, and where it goes."""

    hub: "Hub"
    target: "Target"
    words: dict[str, Any]
    """Values of options and arguments by name."""

    async def list(self, kind: Kind, *, labels: str = "") -> "list[Json]":
        """Objects of a kind, in the namespace that was typed."""
        namespace = self.target.namespace if kind.namespaced else ""
        return (await self.hub.list(kind, namespace=namespace, labels=labels)).items


Look = Callable[[Typed], Awaitable[Iterable[Item]]]


def on_hub(look: Look) -> Completer:
    """A completer for click that looks at the hub; what was typed already it does not offer."""

    def complete(context: Context, parameter: Parameter, incomplete: str) -> list[Item]:
        before = context.params.get(parameter.name or "")
        typed = before if isinstance(before, tuple) else ()
        found = _ask(look, _words(context))
        return [
            each for each in found if each.value.startswith(incomplete) and each.value not in typed
        ]

    return complete


def _words(context: Context) -> dict[str, Any]:
    """Values by name of all that was typed.

    Before an option that still lacks its value click leaves arguments aside.
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
    # What `connect` would import, before the clock starts: the limit is for the hub.
    from hub import kubeconfig, transport  # noqa: F401
    from starter import targets

    target = targets.found(words["kubeconfig"], words["context"], words["namespace"] or "")
    async with asyncio.timeout(WITHIN.total_seconds()), await target.connect() as hub:
        return await look(Typed(hub, target, words))


@contextmanager
def _silence() -> Iterator[None]:
    """Keep warnings off the line on which somebody types."""
    root, nowhere = logging.getLogger(), logging.NullHandler()
    root.addHandler(nowhere)
    try:
        yield
    finally:
        root.removeHandler(nowhere)
