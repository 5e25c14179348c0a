"""What a worker needs to build a workflow anew: what was told to it, and what it did."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace

from tests.workflows.simulated import sdk_instance
from tests.workflows.simulated.sdk_instance import (
    Circumstances,
    Command,
    Instance,
    Job,
    Patch,
    UpdateAnswer,
)


class NondeterminismError(AssertionError):
    """In a replay, the workflow did something else than at first."""


@dataclass(frozen=True)
class Step:
    """Jobs that were done together, and the commands that came of them."""

    jobs: Sequence[Job]
    told: Circumstances
    commands: bytes | None
    """None where history lacks some of them."""


class Recording:
    """The steps of an execution; those of its open workflow task may be taken back."""

    def __init__(self, new_instance: Callable[[], Instance]) -> None:
        self._new_instance = new_instance
        self._steps: list[Step] = []
        self._accepted: set[str] = set()
        """Updates; whether one was accepted decides what a failure means."""

    def __len__(self) -> int:
        return len(self._steps)

    def add(
        self, jobs: Sequence[Job], told: Circumstances, commands: list[Command], compared: bytes
    ) -> list[str]:
        """Remember a step as far as history does; returns the updates that were refused."""
        refused = self._refused(commands)
        kept = sdk_instance.accepted_updates(jobs, refused)
        if kept or not refused:
            markers = [
                sdk_instance.patch_known(each.id) for each in commands if isinstance(each, Patch)
            ]
            told = replace(told, replaying=True)
            self._steps.append(Step([*markers, *kept], told, None if refused else compared))
        return refused

    def take_back(self, begun: int) -> None:
        """Forget the steps of a workflow task that came to nothing."""
        del self._steps[begun:]

    def replayed(self) -> Instance:
        """Return the workflow anew.

        Raises NondeterminismError: it did something else than at first.
        """
        instance = self._new_instance()
        for step in self._steps:
            _, compared = instance.activate(step.jobs, step.told)
            if step.commands is not None and compared != step.commands:
                instance.evict()
                raise NondeterminismError(f"another way at {step.told.now}")
        return instance

    def _refused(self, commands: Iterable[Command]) -> list[str]:
        """Return updates that the validator refused, as against those whose handler failed."""
        refused = []
        for each in commands:
            if not isinstance(each, UpdateAnswer):
                continue
            if each.is_acceptance:
                self._accepted.add(each.id)
            elif each.failure is not None and each.id not in self._accepted:
                refused.append(each.id)
        return refused
