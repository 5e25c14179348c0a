"""What a run was told of its spec, and which of it the hub bears out.

The bridge tells of each change with the spec's generation, so that old and doubled news count for
nothing. But so can anybody who may signal the workflow, and be wrong: after a generation that the
hub never had, all real ones look old, and nobody could stop the run on the hub any more.

contract: update-runs 6 and 10
"""

from dataclasses import dataclass

from api.runs import RunState
from planning.runs.steering import Steered


@dataclass(frozen=True, slots=True)
class Spec:
    """What a run's spec says, of which nothing but the state ever changes."""

    generation: int
    state: RunState
    asked: Steered | None = None
    """Who set it so, as far as that was told."""


class SpecNews:
    """All that was told since the hub itself was last heard of."""

    def __init__(self, certain: Spec) -> None:
        self._certain = certain
        self._told: list[Spec] = []

    @property
    def latest(self) -> Spec:
        """The newest there is; of one generation, what came first."""
        return _newest([self._certain, *self._told])

    @property
    def count(self) -> int:
        """How much there is to compare with the hub."""
        return len(self._told)

    def tell(self, spec: Spec) -> bool:
        """Take news from anybody; says whether they are newer than all before."""
        newer = spec.generation > self.latest.generation
        self._told.append(spec)
        return newer

    def settle(self, spec: Spec) -> None:
        """Take what the hub says. What is newer may have been told meanwhile."""
        self._certain = spec
        self._told = [each for each in self._told if each.generation > spec.generation]

    def compare(self, generation: int, *, count: int) -> None:
        """Forget what cannot be: the hub had this generation when the first so many were known.

        Those told later may be about a later change.
        """
        known, since = self._told[:count], self._told[count:]
        possible = [each for each in known if each.generation <= generation]
        if possible == known:
            self._certain, self._told = _newest([self._certain, *known]), since
        else:
            self._told = possible + since


def _newest(specs: list[Spec]) -> Spec:
    return max(specs, key=lambda each: each.generation)
