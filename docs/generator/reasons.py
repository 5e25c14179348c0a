"""The page of condition reasons, from the table that `fleetgate run explain` uses."""

from collections.abc import Iterable
from itertools import groupby

from docs.generator.markdown import Pages, page
from starter.explain import reasons
from starter.explain.reasons.entries import ReasonEntry


def pages() -> Pages:
    """Return the page."""
    text = page(
        "Reasons",
        "Each condition has a machine-readable reason. This page says what each reason means and "
        "what to do. `fleetgate run explain` reads the objects of a run and shows what matters "
        "now.",
        *(part for kind in _kinds() for part in _kind(kind)),
    )
    return {"reasons.md": text}


def _kinds() -> Iterable[str]:
    return dict.fromkeys(str(each.kind) for each in reasons.ALL)


def _kind(kind: str) -> list[str]:
    found = sorted((each for each in reasons.ALL if each.kind == kind), key=_reason)
    parts = [f"## {kind[0].upper()}{kind[1:]}"]
    for reason, entries in groupby(found, key=_reason):
        parts += [f"### {reason}", *(_told(entry) for entry in entries)]
    return parts


def _reason(entry: ReasonEntry) -> str:
    return str(entry.reason)


def _told(entry: ReasonEntry) -> str:
    where = f"Of the condition `{entry.condition}`. " if entry.condition else ""
    return f"{where}{entry.cause}\n\n→ {entry.fix}"
