"""Findings as text for a terminal, and as data for `-o json` and `-o yaml`."""

from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import groupby
from typing import Any, Final

from rich.console import Console
from rich.text import Text

from starter import columns, output, words
from starter.columns import Room
from starter.doctor.checks import Report, worst
from starter.doctor.findings import Finding, Verdict

_STYLES: Final = {
    Verdict.OK: "green",
    Verdict.WARNING: "yellow",
    Verdict.PROBLEM: "bold red",
    Verdict.UNKNOWN: "dim",
}
_INDENT: Final = "  "


def show(console: Console, reports: Sequence[Report], *, wide: bool) -> None:
    """Print a table of all findings, then what to do, then the count of each verdict."""
    findings = [each for report in reports for each in report.findings]
    output.print_table(console, _table(reports, room=output.room(console), wrap=not wide))
    for line in _to_do(findings):
        # Not wrapped, so that commands can be copied whole.
        console.print(line, soft_wrap=True)
    console.print()
    console.print(summary(findings))


def _table(reports: Sequence[Report], *, room: Room, wrap: bool) -> Text:
    rows: list[list[str | Text]] = []
    for group, members in groupby(reports, key=lambda each: each.check.group):
        label = group
        for finding in (each for report in members for each in report.findings):
            verdict = Text(str(finding.verdict), style=_STYLES[finding.verdict])
            rows.append([label, verdict, Text(f"{finding.about}: {finding.says}")])
            label = ""
    return columns.table(["AREA", "", "FOUND"], rows, room=room, wrap=wrap)


def _to_do(findings: Sequence[Finding]) -> Iterator[Text]:
    for finding in sorted(findings, key=lambda each: _ORDER.index(each.verdict)):
        if not finding.advice:
            continue
        yield Text()
        head = Text(finding.about, style="bold")
        yield Text.assemble((str(finding.verdict), _STYLES[finding.verdict]), " ", head)
        yield Text(f"{_INDENT}{words.upper(finding.advice)}.")
        yield from (Text(f"{_INDENT}{_INDENT}{each}") for each in finding.commands)


_ORDER: Final = (Verdict.PROBLEM, Verdict.WARNING, Verdict.UNKNOWN, Verdict.OK)


def summary(findings: Sequence[Finding]) -> str:
    """Return the counts, such as `2 problems, 1 warning, 1 unknown, 14 ok`."""
    counts = Counter(each.verdict for each in findings)
    texts = {
        Verdict.PROBLEM: words.count(counts[Verdict.PROBLEM], "problem"),
        Verdict.WARNING: words.count(counts[Verdict.WARNING], "warning"),
        Verdict.UNKNOWN: f"{counts[Verdict.UNKNOWN]} unknown",
        Verdict.OK: f"{counts[Verdict.OK]} ok",
    }
    return ", ".join(text for verdict, text in texts.items() if counts[verdict])


# -- as data -------------------------------------------------------------------------------


Json = dict[str, Any]


def document(reports: Sequence[Report]) -> Json:
    """Return all findings.

    `verdict` is the worst of them: `problem`, `warning`, `unknown` or `ok`. `advice` says what to
    do, and `commands` are to be run in order.
    """
    findings = [each for report in reports for each in report.findings]
    counts = Counter(each.verdict for each in findings)
    return {
        "verdict": str(worst(reports)),
        "counts": {str(each): counts[each] for each in Verdict},
        "findings": [
            _finding(report.check.group, report.check.name, each)
            for report in reports
            for each in report.findings
        ],
    }


def _finding(group: str, check: str, found: Finding) -> Json:
    return {
        "group": group,
        "check": check,
        "verdict": str(found.verdict),
        "about": found.about,
        "found": found.says,
        "advice": found.advice,
        "commands": list(found.commands),
    }
