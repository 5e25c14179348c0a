"""A draft as text: stages, waves, gates, and what is wrong with it."""

from collections.abc import Iterator, Sequence
from datetime import timedelta

from rich.console import Console
from rich.text import Text

from api.kinds import Scope
from api.runs import StageStatus
from api.strategies import Stage
from planning import durations, failures
from planning.policies import texts
from planning.runs.estimating import approvals_of, least_time, waves
from planning.runs.gates import KINDS, GateSide
from starter import columns, differences, output, words
from starter.columns import Room
from starter.failures import CommandFailure
from starter.plan.drafting import Draft
from starter.targets import Target


def print_draft(console: Console, made: Draft, target: Target, *, whole: bool) -> None:
    """Print what a run would do, and what changes: by object, or with `whole` by line.

    Raises CommandFailure if the run could not be initialized.
    """
    console.print(headline(made))
    if stages(made):
        console.print()
        output.print_table(console, table(made, room=output.room(console)))
        console.print()
        console.print(totals(made))
        for line in limits(made):
            console.print(line, markup=False)
    for line in changes(made, whole=whole):
        console.print(line, markup=False)
    if made.problem:
        raise CommandFailure(
            f"the run could not be initialized: {problem(made)}",
            advice=remedy(made, target.scope, target.namespace),
        )


# -- its parts -----------------------------------------------------------------------------


NAMED_AT_MOST = 8
"""Clusters of a wave that are named in a line."""


def headline(draft: Draft) -> str:
    """Return the placement, the strategy and the snapshot that would be rolled out."""
    spec = draft.spec
    line = f"placement {spec.placement_name}, strategy {spec.staged_rollout_strategy_name}"
    if draft.content is None:
        return line
    new = ", new, from the hub's content as it is now" if draft.content.is_new else ""
    return f"{line}, snapshot {draft.content.index}{new}"


def table(draft: Draft, *, room: Room) -> Text:
    """Return a table with a line for each wave and gate, in the order of the run."""
    rows = [row for stage, entry in stages(draft) for row in _stage(draft, stage, entry)]
    rows += [_removal(cluster) for cluster in leaving(draft)]
    return columns.table(["STAGE", "STEP", "CLUSTERS", "HAS NOW"], rows, room=room)


def totals(draft: Draft) -> str:
    """Return the numbers of clusters, waves and approvals, and the sum of the timed waits."""
    busy = [(stage, entry) for stage, entry in stages(draft) if entry.clusters]
    clusters = sum(len(entry.clusters) for _, entry in busy)
    steps = sum(len(waves(stage, entry)) for stage, entry in busy)
    asked = sum(approvals_of(stage) for stage, _ in busy)
    least = least_time(stage for stage, _ in busy)
    parts = [words.count(clusters, "cluster"), f"in {words.count(steps, 'wave')}"]
    gone = len(leaving(draft))
    parts += [f"removal from {words.count(gone, 'cluster')}"] if gone else []
    parts += [words.count(asked, "approval")] if asked else []
    waits = f"waits of {durations.format_duration(least)}" if least > timedelta(0) else "no waits"
    return f"{', '.join(parts)}; {waits}, plus the time that the clusters take"


def limits(draft: Draft) -> Iterator[str]:
    """Yield what rollout policies say about each stage; nothing without a policy."""
    if not draft.rules.fields:
        return
    policies = dict.fromkeys(each.policy for each in draft.rules.fields)
    yield f"\nrules of {', '.join(policies)}:"
    if line := texts.concurrent(draft.rules.concurrent_runs, ahead=draft.ahead):
        yield f"  the run {line}"
    if rule := texts.membership(draft.rules):
        yield f"  {rule}"
    for stage, entry in stages(draft):
        if entry.clusters:
            rules = draft.rules.of_stage(stage.name)
            yield f"  {stage.name}: {texts.limits(rules, clusters=len(entry.clusters))}"


def stages(draft: Draft) -> list[tuple[Stage, StageStatus]]:
    """Return the planned stages, with their clusters."""
    strategy = draft.status.staged_update_strategy_snapshot
    return list(zip(strategy.stages, draft.status.stages_status, strict=False)) if strategy else []


def changes(draft: Draft, *, whole: bool) -> Iterator[str]:
    """Yield what changes, by object or line, for each snapshot that clusters have now."""
    if draft.content is None:
        return
    compare = differences.between if whole else differences.summary
    for index in sorted(set(draft.present.has_now.values())):
        has = f"snapshot {index}" if index else "nothing"
        yield f"\n{len(draft.present.clusters(index))} of the bound clusters have {has}:"
        lines = compare(draft.present.resources(index), draft.content.resources)
        yield from (f"  {line}" for line in lines or ["no change"])


def leaving(draft: Draft) -> list[str]:
    """Return the clusters that are no longer picked, from which the content would be removed."""
    found = draft.status.deletion_stage_status
    return [each.cluster_name for each in found.clusters] if found else []


def advice(draft: Draft, namespace: str) -> list[str]:
    """Return the commands to type next."""
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
    for task in stage.before_stage_tasks:
        yield [label, KINDS[task.type].label(task, GateSide.BEFORE), "", ""]
        label = ""
    for number, wave in enumerate(waves(stage, entry), start=1):
        yield [label, f"wave {number}", words.named(wave, at_most=NAMED_AT_MOST), _now(draft, wave)]
        label = ""
    for task in stage.after_stage_tasks:
        yield [label, KINDS[task.type].label(task, GateSide.AFTER), "", ""]


def _removal(cluster: str) -> Sequence[str]:
    return ["(removes)", "", cluster, ""]


def _now(draft: Draft, clusters: Sequence[str]) -> str:
    """Return the indexes of the snapshots that these clusters have, each once."""
    found = dict.fromkeys(draft.present.has_now.get(each, "") or "nothing" for each in clusters)
    return ", ".join(found)


def remedy(draft: Draft, scope: Scope, namespace: str) -> str:
    """Return the cause of the problem, and what to do about it."""
    spec = draft.spec
    behind = failures.explain(
        draft.problem,
        scope=scope,
        placement=spec.placement_name,
        strategy=spec.staged_rollout_strategy_name,
        namespace=namespace,
    )
    return "\n".join([behind.cause, behind.fix, *behind.commands, "Nothing was written."])


def problem(draft: Draft) -> str:
    """Return why a run could not be initialized, without the prefixes that the object has."""
    return failures.reason(draft.problem)
