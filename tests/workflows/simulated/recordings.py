"""What a worker needs to rebuild a workflow: the jobs that it received, and what it did."""

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
    """In a replay, the workflow did something different from the first time."""


@dataclass(frozen=True)
class Step:
    """Jobs that were handled together, and the resulting commands."""

    jobs: Sequence[Job]
    told: Circumstances
    commands: bytes | None
    """None if some of them are not in history."""


class Recording:
    """The steps of an execution; those of an open workflow task may be undone."""

    def __init__(self, new_instance: Callable[[], Instance]) -> None:
        self._new_instance = new_instance
        self._steps: list[Step] = []
        self._accepted: set[str] = set()
        """Ids of accepted updates; the failure of any other is a refusal by its validator."""

    def __len__(self) -> int:
        return len(self._steps)

    def add(
        self, jobs: Sequence[Job], told: Circumstances, commands: list[Command], compared: bytes
    ) -> list[str]:
        """Record what history contains of a step; return the updates that were refused."""
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
        """Forget the steps of a workflow task that was not completed."""
        del self._steps[begun:]

    def replayed(self) -> Instance:
        """Return the workflow rebuilt from its history.

        Raises NondeterminismError: it did something different from the first time.
        """
        instance = self._new_instance()
        for step in self._steps:
            _, compared = instance.activate(step.jobs, step.told)
            if step.commands is not None and compared != step.commands:
                instance.evict()
                raise NondeterminismError(f"different commands at {step.told.now}")
        return instance

    def _refused(self, commands: Iterable[Command]) -> list[str]:
        """Return updates that the validator refused, but not those whose handler failed."""
        refused = []
        for each in commands:
            if not isinstance(each, UpdateAnswer):
                continue
            if each.is_acceptance:
                self._accepted.add(each.id)
            elif each.failure is not None and each.id not in self._accepted:
                refused.append(each.id)
        return refused
