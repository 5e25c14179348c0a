"""Reported changes of a run's spec, and checking them against the hub.

The bridge reports each change with the spec's generation, so that late and repeated reports have no
effect. But everybody who may signal the workflow can send such reports, also wrong ones: after a
generation that the hub never had, all real ones would look old, and the run could not be stopped on
the hub any more.

contract: update-runs 6 and 10
"""

from dataclasses import dataclass

from api.runs import RunState
from planning.runs.steering import Steered


@dataclass(frozen=True, slots=True)
class Spec:
    """State of a run's spec at one generation; no other field of it ever changes."""

    generation: int
    state: RunState
    asked: Steered | None = None
    """Who set the state and why, if reported."""


class SpecNews:
    """Reports since the spec was last read from the hub."""

    def __init__(self, certain: Spec) -> None:
        self._certain = certain
        self._told: list[Spec] = []

    @property
    def latest(self) -> Spec:
        """The newest spec known; within one generation, the first report."""
        return _newest([self._certain, *self._told])

    @property
    def count(self) -> int:
        """Number of reports to compare with the hub."""
        return len(self._told)

    def note(self, spec: Spec) -> bool:
        """Record a report; return whether it is newer than all before."""
        newer = spec.generation > self.latest.generation
        self._told.append(spec)
        return newer

    def settle(self, spec: Spec) -> None:
        """Record the spec as read from the hub; newer reports that came meanwhile are kept."""
        self._certain = spec
        self._told = [each for each in self._told if each.generation > spec.generation]

    def compare(self, generation: int, *, count: int) -> None:
        """Drop impossible reports: the hub had `generation` when the first `count` were known.

        Later reports may be about a later change.
        """
        known, since = self._told[:count], self._told[count:]
        possible = [each for each in known if each.generation <= generation]
        if possible == known:
            self._certain, self._told = _newest([self._certain, *known]), since
        else:
            self._told = possible + since


def _newest(specs: list[Spec]) -> Spec:
    return max(specs, key=lambda each: each.generation)
