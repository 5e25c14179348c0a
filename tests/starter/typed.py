"""What a typed command gives back."""

from collections.abc import Callable, Coroutine
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Typed:
    """How a command ended and what it printed."""

    code: int
    out: str
    err: str


Fleetgate = Callable[..., Coroutine[Any, Any, Typed]]
