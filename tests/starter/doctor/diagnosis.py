"""What `fleetgate doctor -o json` said."""

from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Diagnosis:
    """The exit code and the document."""

    code: int
    document: dict[str, Any]

    @property
    def findings(self) -> list[dict[str, Any]]:
        """All findings, in their order."""
        found: list[dict[str, Any]] = self.document["findings"]
        return found

    def of(self, check: str) -> list[dict[str, Any]]:
        """What one check found."""
        return [each for each in self.findings if each["check"] == check]

    def the(self, check: str) -> tuple[str, str]:
        """Verdict and text of the only finding of a check."""
        (found,) = self.of(check)
        return found["verdict"], found["found"]

    def about(self, thing: str) -> dict[str, Any]:
        """The only finding about a thing."""
        (found,) = [each for each in self.findings if each["about"] == thing]
        return found

    @property
    def the_workers_poll(self) -> bool:
        """Whether there are workers, and all is well with them."""
        return {each["verdict"] for each in self.of("workers")} == {"ok"}
