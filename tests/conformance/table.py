"""The table at the end of a session: how many tests each section of the contract has."""

import re
from collections import Counter
from collections.abc import Iterable, Iterator
from typing import Any

from tests.conformance.vocabulary import Says

SEEN = "condition of section 5"
"""Property of a test: a row of section 5 that it has verified word for word."""
_NAME = re.compile(
    r"::test_(?P<decision>decision_)?(?P<first>\d+)(?:_(?P<second>\d+))?(?P<letter>[a-z])?_"
)


def section(node: str) -> str | None:
    """The section, or decision, that a test's name starts with; None for other tests."""
    found = _NAME.search(node)
    if found is None:
        return None
    if found["decision"]:
        return f"decision {found['first']}"
    return ".".join(part for part in (found["first"], found["second"]) if part) + (
        found["letter"] or ""
    )


def lines(reports: Iterable[Any]) -> Iterator[str]:
    """The lines of the table; none if no conformance test ran."""
    tests = [each for each in reports if _is_test(each)]
    if not tests:
        return
    passed = Counter(section(each.nodeid) for each in tests if each.passed)
    failed = Counter(section(each.nodeid) for each in tests if each.failed)
    yield ""
    yield f"{'contract':<14}{'passed':>8}{'failed':>8}"
    for name in sorted({*passed, *failed}, key=_order):
        yield f"{name:<14}{passed[name]:>8}{failed[name]:>8}"
    yield f"{'all':<14}{passed.total():>8}{failed.total():>8}"
    seen = {value for each in tests for key, value in each.user_properties if key == SEEN}
    unseen = [says.name for says in Says if says.name not in seen]
    yield f"conditions of section 5 seen word for word: {len(seen)} of {len(Says)}"
    if unseen:
        yield f"not seen: {', '.join(unseen)}"


def _is_test(report: Any) -> bool:
    node = getattr(report, "nodeid", "")
    return (
        getattr(report, "when", "") == "call"
        and "tests/conformance/" in node
        and section(node) is not None
    )


def _order(name: str | None) -> tuple[bool, list[tuple[int, str]]]:
    name = name or ""
    parts = re.findall(r"(\d+)([a-z]?)", name)
    return name.startswith("decision"), [(int(number), letter) for number, letter in parts]
