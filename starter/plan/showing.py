"""A draft as text: stages, waves, gates, and what is wrong with it. Pure."""

from collections.abc import Iterator, Sequence
from datetime import timedelta

from rich.text import Text

from api.kinds import Scope
from api.runs import StageStatus
from api.strategies import Stage, StageTaskType
from planning import durations
from planning.explaining import failures
from planning.runs import waves
from starter import columns, differences, words
from starter.plan.drafting import Draft

NAMED_AT_MOST = 8
"""Clusters of a wave that a line names."""


def headline(draft: Draft) -> str:
    """What would be rolled out, and how much of it is waiting."""
    spec = draft.spec
    line = f"placement {spec.placement_name}, strategy {spec.staged_rollout_strategy_name}"
    if draft.content is None:
        return line
    new = ", to be taken of the hub as it is" if draft.content.is_new else ""
    return f"{line}, snapshot {draft.content.index}{new}"


def table(draft: Draft, *, width: int) -> Text:
    """One line a wave and a gate, in the order in which a run comes to them."""
    rows = [row for stage, entry in stages(draft) for row in _stage(draft, stage, entry)]
    rows += [_removal(cluster) for cluster in leaving(draft)]
    return columns.table(["STAGE", "STEP", "CLUSTERS", "HAS NOW"], rows, width=width)


def totals(draft: Draft) -> str:
    """How many clusters, waves and approvals, and the least time."""
    busy = [(stage, entry) for stage, entry in stages(draft) if entry.clusters]
    clusters = sum(len(entry.clusters) for _, entry in busy)
    steps = sum(len(waves.of_stage(stage, entry)) for stage, entry in busy)
    asked = sum(waves.approvals(stage) for stage, _ in busy)
    least = waves.least_time(stage for stage, _ in busy)
    parts = [words.count(clusters, "cluster"), f"in {words.count(steps, 'wave')}"]
    parts += [f"{words.count(len(leaving(draft)), 'cluster')} to be left"] if leaving(draft) else []
    parts += [words.count(asked, "approval")] if asked else []
    waits = f"waits of {durations.format_duration(least)}" if least > timedelta(0) else "no waits"
    return f"{', '.join(parts)}; {waits}, besides what the clusters take"


def stages(draft: Draft) -> list[tuple[Stage, StageStatus]]:
    """The stages that were planned, with their clusters."""
    strategy = draft.status.staged_update_strategy_snapshot
    return list(zip(strategy.stages, draft.status.stages_status, strict=False)) if strategy else []


def changes(draft: Draft, *, whole: bool) -> Iterator[str]:
    """For each version that clusters have now, what changes there: each object, or each line."""
    if draft.content is None:
        return
    compare = differences.between if whole else differences.summary
    for index in sorted(set(draft.present.has_now.values())):
        has = f"snapshot {index}" if index else "nothing"
        yield f"\n{len(draft.present.clusters(index))} of the bound clusters have {has}:"
        lines = compare(draft.present.resources(index), draft.content.resources)
        yield from (f"  {line}" for line in lines or ["no change"])


def leaving(draft: Draft) -> list[str]:
    """Clusters that are not picked any more, from which the content would be removed."""
    found = draft.status.deletion_stage_status
    return [each.cluster_name for each in found.clusters] if found else []


def advice(draft: Draft, namespace: str) -> list[str]:
    """What to type next."""
    spec = draft.spec
    flags = f" -n {namespace}" if namespace else ""
    index = f" --index {spec.resource_snapshot_index}" if spec.resource_snapshot_index else ""
    named = f"--placement {spec.placement_name} --strategy {spec.staged_rollout_strategy_name}"
    return [f"fleetgate run create NAME {named}{index}{flags} --state Run"]


def _stage(draft: Draft, stage: Stage, entry: StageStatus) -> Iterator[Sequence[str]]:
    if not entry.clusters:
        yield [stage.name, "skipped", "no cluster matches its labels", ""]
        return
    label = stage.name
    if stage.before_stage_tasks:
        yield [label, "approval before", "", ""]
        label = ""
    for number, wave in enumerate(waves.of_stage(stage, entry), start=1):
        yield [label, f"wave {number}", words.named(wave, at_most=NAMED_AT_MOST), _now(draft, wave)]
        label = ""
    yield from (
        [label, _after(task.type, task.wait_time), "", ""] for task in stage.after_stage_tasks
    )


def _after(kind: StageTaskType, wait: str | None) -> str:
    return "approval after" if kind == StageTaskType.APPROVAL else f"wait {wait}"


def _removal(cluster: str) -> Sequence[str]:
    return ["(removes)", "", cluster, ""]


def _now(draft: Draft, clusters: Sequence[str]) -> str:
    """The versions that these clusters have, each once."""
    found = dict.fromkeys(draft.present.has_now.get(each, "") or "nothing" for each in clusters)
    return ", ".join(found)


def remedy(draft: Draft, scope: Scope, namespace: str) -> str:
    """What is behind the problem, and what to do about it."""
    spec = draft.spec
    behind = failures.explain(
        draft.problem,
        scope=scope,
        placement=spec.placement_name,
        strategy=spec.staged_rollout_strategy_name,
        namespace=namespace,
    )
    return "\n".join([behind.cause, behind.cure, *behind.commands, "Nothing was written."])


def problem(draft: Draft) -> str:
    """Why a run could not be initialized, in fewer words than the object would say it."""
    return words.reason(draft.problem)
