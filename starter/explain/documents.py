"""An explanation as data: `-o json` and `-o yaml`. Pure."""

from collections import Counter
from datetime import datetime
from typing import Any

from api.base import format_time
from planning.runs.views import Progress
from starter.explain.explanations import ClusterReport, Explanation
from starter.explain.troubles import Trouble

Json = dict[str, Any]


def document(found: Explanation) -> Json:
    """Return the explanation of one run.

    `attention` is `person`, `worker` or `nobody`: who has to act. `since` and `until` are times in
    UTC, or null. `summary`, `actor`, `cause` and `cure` are sentences; `message` is the text that
    the run failed with. `then` and `commands` are ordered lists. Each of `clusters` has its
    `troubles`; `moreClusters` counts the other clusters in flight by their step.
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
        "attention": situation.attention.word,
        "since": _time(situation.since),
        "until": _time(situation.until),
        "summary": " ".join(situation.says),
        "actor": situation.acts,
        "cause": situation.cause,
        "cure": situation.cure,
        "message": situation.message,
        "clusters": [_cluster(each) for each in found.clusters],
        "moreClusters": dict(Counter(each or "unknown" for each in found.others)),
        "then": list(found.then),
        "commands": list(found.commands),
        "unread": list(found.unread),
    }


def _cluster(report: ClusterReport) -> Json:
    return {
        "name": report.row.name,
        "startedAt": _time(report.row.started),
        "failed": report.row.progress is Progress.FAILED,
        "stuck": report.is_stuck,
        "step": report.step,
        "troubles": [_trouble(each) for each in report.troubles],
    }


def _trouble(found: Trouble) -> Json:
    return {
        "subject": found.subject,
        "condition": found.condition,
        "reason": found.reason,
        "message": found.message,
        "details": list(found.details),
        "cause": found.cause,
        "cure": found.cure,
        "commands": list(found.commands),
    }


def _time(moment: datetime | None) -> str | None:
    return format_time(moment) if moment else None
