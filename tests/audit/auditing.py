"""Querying OSV, the open database of vulnerabilities, for all locked packages."""

import subprocess
from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum
from pathlib import Path
from typing import Final

ROOT: Final = Path(__file__).parent.parent.parent
UV: Final = ROOT / ".uv" / "bin" / "uv"
_AUDIT: Final = ("audit", "--frozen", "--preview-features", "audit-command")
_FOUND: Final = 1
"""Exit code of `uv audit` if there are advisories."""
_NOT_REACHED: Final = ("error sending request", "Request failed after")
"""Parts of its output when the database does not answer."""


class Outcome(Enum):
    """The outcome of an audit."""

    CLEAN = "no known vulnerabilities in the locked packages"
    FOUND = "there are advisories for locked packages"
    NOT_MADE = "NOT AUDITED: the database of advisories cannot be reached"
    BROKEN = "the audit failed"


@dataclass(frozen=True)
class Audit:
    """The outcome of an audit, and its output."""

    outcome: Outcome
    text: str

    def is_failure(self, *, required: bool) -> bool:
        """Return whether a check has to fail; a missing network counts only if required."""
        if self.outcome is Outcome.NOT_MADE:
            return required
        return self.outcome is not Outcome.CLEAN


def audit(folder: Path, *, ignored: Mapping[str, str], service: str = "") -> Audit:
    """Audit the lock file in a folder; `service` is the database's address, by default OSV's."""
    flags = [flag for each in ignored for flag in ("--ignore", each)]
    flags += ["--service-url", service] if service else []
    ended = subprocess.run(
        [UV, *_AUDIT, *flags], cwd=folder, capture_output=True, text=True, check=False
    )
    return Audit(_outcome(ended.returncode, ended.stderr), f"{ended.stdout}{ended.stderr}".strip())


def _outcome(code: int, said: str) -> Outcome:
    if code == 0:
        return Outcome.CLEAN
    if any(each in said for each in _NOT_REACHED):
        return Outcome.NOT_MADE
    return Outcome.FOUND if code == _FOUND else Outcome.BROKEN
