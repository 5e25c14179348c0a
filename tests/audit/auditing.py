"""Asking OSV, the open database of vulnerabilities, about all locked packages at once."""

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
"""Exit code of `uv audit` when there are advisories."""
_NOT_REACHED: Final = ("error sending request", "Request failed after")
"""What it says when the database does not answer."""


class Outcome(Enum):
    """How an audit ended."""

    CLEAN = "nothing is known against the locked packages"
    FOUND = "there are advisories against locked packages"
    NOT_MADE = "NOT AUDITED: the database of advisories cannot be reached"
    BROKEN = "the audit could not be made"


@dataclass(frozen=True)
class Audit:
    """How an audit ended, and what was said about it."""

    outcome: Outcome
    text: str

    def is_failure(self, *, required: bool) -> bool:
        """Whether a check has to fail; not for want of a network, unless it is required."""
        if self.outcome is Outcome.NOT_MADE:
            return required
        return self.outcome is not Outcome.CLEAN


def audit(folder: Path, *, ignored: Mapping[str, str], service: str = "") -> Audit:
    """Audit the lock file of a folder; `service` is the database's address, OSV's own if empty."""
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
