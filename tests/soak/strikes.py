"""The sequence of faults. Pure: a seed always gives the same sequence."""

import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import timedelta
from enum import StrEnum
from typing import Final

from tests.support.fault_proxy import Faults

SHORTEST, LONGEST = 1.0, 8.0
"""Seconds for which a process is down or paused, or for which a network fault lasts."""
REST: Final = 6.0
"""Maximum seconds between two faults of one sequence."""


class Blow(StrEnum):
    """The kinds of faults of a process."""

    KILL = "kill -9"
    PAUSE = "pause"
    RESTART = "restart"


@dataclass(frozen=True, kw_only=True)
class Strike:
    """One fault of a process."""

    blow: Blow
    target: str
    lasts: float
    rest: float


@dataclass(frozen=True, kw_only=True)
class Weather:
    """One fault of the network between a process and the hub."""

    name: str
    target: str
    faults: Faults
    lasts: float
    rest: float


NETWORK: Final = {
    "409": Faults(refused=0.3, answers=(409,)),
    "429": Faults(refused=0.3, answers=(429,)),
    "500": Faults(refused=0.3, answers=(500,)),
    "dropped answers": Faults(lost=0.3),
    "late writes": Faults(late=0.2),
    "delays": Faults(longest_delay=timedelta(seconds=1)),
    "closed watches": Faults(longest_watch=timedelta(seconds=1)),
    "repeated events": Faults(copies=3),
    "everything": Faults(
        refused=0.1,
        lost=0.1,
        late=0.05,
        longest_delay=timedelta(milliseconds=200),
        longest_watch=timedelta(seconds=3),
        copies=2,
    ),
}
"""The kinds of faults between a process and the hub."""


def strikes(seed: int, targets: Sequence[str], *, pace: float = 1) -> Iterator[Strike]:
    """Yield faults of processes without end; at a pace of 2 everything takes half as long."""
    chance = random.Random(f"{seed} processes")
    while True:
        yield Strike(
            blow=chance.choices(list(Blow), weights=(5, 3, 2))[0],
            target=chance.choice(targets),
            lasts=chance.uniform(SHORTEST, LONGEST) / pace,
            rest=chance.uniform(0, REST) / pace,
        )


def weather(seed: int, targets: Sequence[str], *, pace: float = 1) -> Iterator[Weather]:
    """Yield faults of the network without end."""
    chance = random.Random(f"{seed} network")
    while True:
        name = chance.choice(list(NETWORK))
        yield Weather(
            name=name,
            target=chance.choice(targets),
            faults=NETWORK[name],
            lasts=chance.uniform(SHORTEST, LONGEST) / pace,
            rest=chance.uniform(0, REST) / pace,
        )
