"""The orders of a campaign: its runs, with their stages and gates, and what happens to them.

Pure: a seed always gives the same orders.
"""

import random
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import timedelta
from enum import StrEnum
from typing import Final

STAGES: Final = ("one", "two", "three")
"""Stages that a run may have; each member belongs to one of them, by its label."""

LONGEST_HESITATION: Final = 1.5
"""Maximum seconds that a person takes to approve."""
LONGEST_WAIT: Final = 4
"""Maximum seconds of a timed wait."""


class End(StrEnum):
    """How a run ends."""

    SUCCESS = "succeeds"
    OVERTAKEN = "bad image, overtaken"
    """Its image cannot be pulled; once it is stuck, the next run takes its clusters."""
    DELETED = "deleted"


@dataclass(frozen=True, kw_only=True)
class StageOrder:
    """One stage of a strategy."""

    name: str
    at_once: int
    before: bool = False
    """Whether a person has to approve before it."""
    after: bool = False
    """Whether a person has to approve after it."""
    wait: timedelta | None = None
    """How long to wait after it."""


@dataclass(frozen=True, kw_only=True)
class Order:
    """One run, and what people do to it."""

    run: str
    image: str
    """Image to roll out; one whose tag begins with `bad` cannot be pulled."""
    stages: tuple[StageOrder, ...]
    end: End = End.SUCCESS
    stop_after: int | None = None
    """Number of completed clusters after which a person stops the run; None if never."""
    pause: float = 0
    """Seconds for which it stays stopped."""
    hesitation: float = 0
    """Seconds until a person approves a request."""
    delete_after: int = 0
    """Number of completed clusters after which the run is deleted, if it ends that way."""


def orders(seed: int, lane: str) -> Iterator[Order]:
    """Yield the runs of one lane without end."""
    chance = random.Random(f"{seed} {lane}")
    before = End.SUCCESS
    number = 0
    while True:
        number += 1
        # A run that overtakes another one has to succeed.
        end = End.SUCCESS if before is End.OVERTAKEN else _end(chance)
        before = end
        yield _order(chance, f"{lane}-{number:03}", number, end)


def _order(chance: random.Random, run: str, number: int, end: End) -> Order:
    bad = end is End.OVERTAKEN
    stops = end is End.SUCCESS and chance.random() < 0.3
    return Order(
        run=run,
        image=f"example/app:{'bad' if bad else 'v'}{number}",
        stages=tuple(_stage(chance, name) for name in STAGES),
        end=end,
        stop_after=chance.randint(0, 4) if stops else None,
        pause=chance.uniform(0, 3),
        hesitation=chance.uniform(0, LONGEST_HESITATION),
        delete_after=chance.randint(0, 3),
    )


def _end(chance: random.Random) -> End:
    return chance.choices(list(End), weights=(86, 7, 7))[0]


def _stage(chance: random.Random, name: str) -> StageOrder:
    waits = chance.random() < 0.3
    wait = timedelta(seconds=chance.randint(1, LONGEST_WAIT))
    return StageOrder(
        name=name,
        at_once=chance.randint(1, 3),
        before=chance.random() < 0.3,
        after=chance.random() < 0.25,
        wait=wait if waits else None,
    )
