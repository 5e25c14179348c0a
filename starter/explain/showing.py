"""An explanation as text for a terminal, and as data for `-o json` and `-o yaml`."""

import textwrap
from collections import Counter
from collections.abc import Iterator, Sequence
from datetime import datetime
from typing import Any, Final

from rich.console import Console
from rich.text import Text

from api.base import format_time
from api.rollout_reports import ClusterOutcome
from planning.policies.reporting import Move
from planning.runs.phases import Progress
from starter import output, words
from starter.explain.explanations import ClusterReport, Explanation
from starter.explain.looks import Attention
from starter.explain.troubles import Trouble

_ACTOR: Final = {Attention.PERSON: "bold yellow", Attention.WORKER: "bold yellow"}


def show(console: Console, found: Explanation) -> None:
    """Print the explanation of a run."""
    page = _Page(console.width)
    console.print(_head(found))
    for line in _lines(page, found):
        console.print(line)
    if found.commands:
        console.print("Next:")
        for each in found.commands:
            # Not wrapped, so that commands can be copied whole.
            console.print(Text(f"  {each}"), soft_wrap=True)


class _Page:
    """Wraps paragraphs at a width."""

    def __init__(self, width: int) -> None:
        self._width = width

    def line(self, text: str, *, indent: int = 0, label: str = "", style: str = "") -> Text:
        """Wrap a paragraph with an indent, with a bold label in front if there is one."""
        whole = f"{label}: {text}" if label else text
        gap = " " * indent
        wrapped = textwrap.wrap(
            whole,
            self._width,
            initial_indent=gap,
            subsequent_indent=gap,
            break_long_words=False,
            break_on_hyphens=False,
        )
        found = Text("\n".join(wrapped), style=style)
        found.stylize("bold", indent, indent + len(label))
        return found


def _head(found: Explanation) -> Text:
    view = found.view
    name = f"{view.namespace}/{view.name}" if view.namespace else view.name
    version = f", snapshot {view.snapshot}" if view.snapshot else ""
    about = f"  placement {view.placement}{version}, strategy {view.strategy}"
    return Text.assemble((name, "bold"), about)


def _lines(page: _Page, found: Explanation) -> Iterator[Text]:
    situation = found.situation
    if found.view.rolls_back:
        yield page.line(f"It rolls back run {found.view.rolls_back}.")
    yield page.line(" ".join(situation.says), style=output.STYLES.get(found.view.phase, ""))
    yield page.line(situation.acts, style=_ACTOR.get(situation.attention, ""))
    yield from _why(page, situation.cause, situation.fix, indent=2)
    if situation.message:
        yield page.line(situation.message, label="Message", indent=2)
    for report in found.clusters:
        yield from _cluster(page, report)
    if found.others:
        yield page.line(_others(found.others))
    for outcome, verb in _MOVES.items():
        if names := [name for name, each in found.moves.items() if each.outcome is outcome]:
            yield page.line(f"{words.upper(verb)}: {words.named(names)}.")
    if found.unread:
        unread = ", ".join(found.unread)
        yield page.line(f"You may not read {unread}; details from them are missing here.")
    if found.then:
        yield page.line(f"{words.upper('; '.join(found.then))}.")


_MOVES: Final = {
    ClusterOutcome.LEFT: "left the run",
    ClusterOutcome.JOINED: "joined the run",
    ClusterOutcome.NOT_UPDATED: "picked, but left to the next run",
}


def _others(steps: Sequence[str]) -> str:
    """Return how many more clusters are in flight, counted by their steps."""
    where = [f"{count} where {step}" for step, count in Counter(steps).most_common() if step]
    total = f"and {words.count(len(steps), 'more cluster')} in flight"
    return f"{total}: {', '.join(where)}" if where else total


def _cluster(page: _Page, report: ClusterReport) -> Iterator[Text]:
    step = f", {report.step}" if report.step else ""
    yield Text.assemble((report.row.name, "bold"), "  ", output.word(report.state), step)
    for each in report.troubles:
        yield from _trouble(page, each)
    if report.row.timed_out and not report.troubles:
        yield page.line(report.row.message, indent=2)


def _trouble(page: _Page, found: Trouble) -> Iterator[Text]:
    yield page.line(f"{found.subject}: {found.message}", indent=2)
    for each in found.details:
        yield page.line(each, indent=4)
    yield from _why(page, found.cause, found.fix, indent=4)


def _why(page: _Page, cause: str, fix: str, *, indent: int) -> Iterator[Text]:
    if cause:
        yield page.line(cause, label="Why", indent=indent)
    if fix:
        yield page.line(fix, label="Fix", indent=indent)


# -- as data -------------------------------------------------------------------------------


Json = dict[str, Any]


def document(found: Explanation) -> Json:
    """Return the explanation of one run.

    `attention` is `person`, `worker` or `nobody`: who has to act. `since` and `until` are times in
    UTC, or null. `summary`, `actor`, `cause` and `fix` are sentences; `message` is the text that
    the run failed with. `rollsBack` and `rolledBackBy` name the other run of a rollback by a
    policy, or are empty. `then` and `commands` are ordered lists. Each of `clusters` has its
    `troubles`; `moreClusters` counts the other clusters in flight by their step. `moves` are the
    clusters that left or joined the run, or are left to the next one.
    """
    view, situation = found.view, found.situation
    return {
        "kind": found.kind.kind,
        "name": view.name,
        "namespace": view.namespace,
        "placement": view.placement,
        "strategy": view.strategy,
        "snapshot": view.snapshot,
        "state": str(view.state),
        "phase": str(view.phase),
        "stage": view.stage.name if view.stage else "",
        "clustersDone": view.done,
        "clustersTotal": view.total,
        "clustersFailed": view.failed,
        "clustersSkipped": view.skipped,
        "rollsBack": view.rolls_back,
        "rolledBackBy": view.rolled_back_by,
        "attention": situation.attention.word,
        "since": _time(situation.since),
        "until": _time(situation.until),
        "summary": " ".join(situation.says),
        "actor": situation.acts,
        "cause": situation.cause,
        "fix": situation.fix,
        "message": situation.message,
        "clusters": [_cluster_data(each) for each in found.clusters],
        "moreClusters": dict(Counter(each or "unknown" for each in found.others)),
        "moves": [_move_data(name, each) for name, each in found.moves.items()],
        "then": list(found.then),
        "commands": list(found.commands),
        "unread": list(found.unread),
    }


def _move_data(name: str, move: Move) -> Json:
    return {
        "name": name,
        "outcome": str(move.outcome),
        "stage": move.stage,
        "reason": move.reason,
        "message": move.message,
        "since": _time(move.since),
    }


def _cluster_data(report: ClusterReport) -> Json:
    return {
        "name": report.row.name,
        "startedAt": _time(report.row.started),
        "failed": report.row.progress is Progress.FAILED,
        "stuck": report.is_stuck,
        "step": report.step,
        "troubles": [_trouble_data(each) for each in report.troubles],
    }


def _trouble_data(found: Trouble) -> Json:
    return {
        "subject": found.subject,
        "condition": found.condition,
        "reason": found.reason,
        "message": found.message,
        "details": list(found.details),
        "cause": found.cause,
        "fix": found.fix,
        "commands": list(found.commands),
    }


def _time(moment: datetime | None) -> str | None:
    return format_time(moment) if moment else None
