"""Findings as data: `-o json` and `-o yaml`. Pure."""

from collections import Counter
from collections.abc import Sequence
from typing import Any

from starter.doctor.checks import Report, worst
from starter.doctor.findings import Finding, Verdict

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
