"""The result of checking one thing: a verdict, what was found, and what to do about it."""

from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum


class Verdict(StrEnum):
    """State of one checked thing."""

    OK = "ok"
    WARNING = "warning"
    """It works, but needs attention."""
    PROBLEM = "problem"
    """Something does not work, or will not, until it is fixed."""
    UNKNOWN = "unknown"
    """It could not be checked."""


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing that was checked."""

    verdict: Verdict
    about: str
    """What was checked, such as `member west-1`."""
    says: str
    """What was found, in words."""
    advice: str = ""
    """What to do about it, in words; empty if nothing, or if another finding says it."""
    commands: tuple[str, ...] = ()
    """The same as commands to run, in order."""


def ok(about: str, says: str) -> Finding:
    """Report that a thing is as it should be."""
    return Finding(Verdict.OK, about, says)


def warning(about: str, says: str, *, advice: str, commands: Iterable[str] = ()) -> Finding:
    """Report that a thing works but needs attention."""
    return Finding(Verdict.WARNING, about, says, advice, tuple(commands))


def problem(about: str, says: str, *, advice: str, commands: Iterable[str] = ()) -> Finding:
    """Report that a thing does not work."""
    return Finding(Verdict.PROBLEM, about, says, advice, tuple(commands))


def unknown(about: str, says: str, *, advice: str = "", commands: Iterable[str] = ()) -> Finding:
    """Report that a thing could not be checked."""
    return Finding(Verdict.UNKNOWN, about, says, advice, tuple(commands))
