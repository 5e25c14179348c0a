"""The output of `fleetgate doctor -o json`."""

from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Diagnosis:
    """The exit code and the document."""

    code: int
    document: dict[str, Any]

    @property
    def findings(self) -> list[dict[str, Any]]:
        """All findings, in order."""
        found: list[dict[str, Any]] = self.document["findings"]
        return found

    def of(self, check: str) -> list[dict[str, Any]]:
        """Return the findings of one check."""
        return [each for each in self.findings if each["check"] == check]

    def the(self, check: str) -> tuple[str, str]:
        """Return the verdict and text of a check's only finding."""
        (found,) = self.of(check)
        return found["verdict"], found["found"]

    def about(self, thing: str) -> dict[str, Any]:
        """Return the only finding about a thing."""
        (found,) = [each for each in self.findings if each["about"] == thing]
        return found

    @property
    def the_workers_poll(self) -> bool:
        """Whether there are workers, and all of them are healthy."""
        return {each["verdict"] for each in self.of("workers")} == {"ok"}
