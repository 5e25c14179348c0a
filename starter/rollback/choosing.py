"""Choosing what a rollback rolls out, from the options and from earlier runs. Pure."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import datetime

from api.runs import RunState, UpdateRun, UpdateRunSpec
from planning.runs import rollback, views
from planning.runs.rollback import RollbackError
from starter import words
from starter.failures import Failure
from starter.records import Record

NAME_AT_MOST = 63
"""Maximum length of a run's name (contract: update-runs 1)."""


@dataclass(frozen=True, slots=True)
class Asked:
    """The options of the command; empty ones are derived from earlier runs."""

    placement: str
    to: str = ""
    strategy: str = ""
    name: str = ""


def spec(asked: Asked, known: Record) -> tuple[UpdateRunSpec, list[str]]:
    """Return the spec of the run, and lines that say why it uses that snapshot.

    Raises Failure if there is nothing to roll back to, no such snapshot, or no known strategy.
    """
    index, why = _asked_for(asked.to, known) if asked.to else _before(known)
    chosen = UpdateRunSpec(
        placement_name=asked.placement,
        staged_rollout_strategy_name=asked.strategy or _strategy(known.runs),
        resource_snapshot_index=index,
        state=RunState.RUN,
    )
    return chosen, why


def name(asked: Asked, index: str, taken: Collection[str]) -> str:
    """Return the name of the run: the given one, or else the first free one."""
    if asked.name:
        return asked.name
    number, ending = 1, f"-rollback-{index}"
    while (found := _cut(asked.placement, ending)) in taken:
        number += 1
        ending = f"-rollback-{index}-{number}"
    return found


def beside(active: Sequence[UpdateRun], now: datetime) -> Failure:
    """Make the failure that other runs are active, with what to do about it."""
    seen = [views.of(each) for each in active]
    doing = "; ".join(f"run {each.name}: {words.sentence(each, now)}" for each in seen)
    stop = ", ".join(f"fleetgate run stop {each.name}{words.namespace_flag(each)}" for each in seen)
    return Failure(
        f"the placement is being rolled out by another run; {doing}",
        advice=f"stop it first: {stop}; or add --stop-active",
    )


def _asked_for(index: str, known: Record) -> tuple[str, list[str]]:
    return known.version(index).index, []


def _before(known: Record) -> tuple[str, list[str]]:
    stored = known.versions.stored
    whole = [index for index, each in stored.items() if not each.missing]
    on_clusters = set(known.versions.has_now.values())
    try:
        found = rollback.way(known.runs, stored=whole, on_clusters=on_clusters)
    except RollbackError as error:
        raise Failure(
            f"there is nothing to roll back to: {error}",
            advice=f"specify a snapshot with --to; available: {', '.join(whole) or 'none'}",
        ) from error
    rolled_out = found.last.status.resource_snapshot_index_used
    undone = f"run {found.last.metadata.name} rolled out snapshot {rolled_out}"
    why = [f"{undone}; snapshot {found.index} is {found.why}"]
    if found.left_out:
        left_out = ", ".join(found.left_out)
        why.append(f"skipped: {left_out}, because less is known about them; --to selects one")
    return found.index, why


def _strategy(runs: Sequence[UpdateRun]) -> str:
    try:
        return rollback.strategy(runs)
    except RollbackError as error:
        raise Failure(str(error), advice="specify one with --strategy") from error


def _cut(placement: str, ending: str) -> str:
    # A truncated name must still end with a letter or digit before the suffix is added.
    return placement[: NAME_AT_MOST - len(ending)].rstrip("-.") + ending
