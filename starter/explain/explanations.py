"""The explanation of a run: where it is, its clusters, what comes next, what to type. Pure."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import Final

from api.kinds import Kind
from planning.policies.reporting import Move
from planning.runs.phases import ENDED, Phase
from planning.runs.views import ClusterRow, RunView
from starter import words
from starter.explain import prospects, situations, troubles
from starter.explain.looks import (
    NOBODY_ACTS,
    ClusterEvidence,
    Look,
    Situation,
    clusters_at_work,
    failed_clusters,
    stuck_clusters,
)
from starter.explain.troubles import OnMember, Trouble


@dataclass(frozen=True, slots=True)
class ClusterReport:
    """One cluster that the run is updating or removing, or failed at."""

    row: ClusterRow
    is_stuck: bool
    step: str
    """Where it is by its binding, such as `Available is False`; empty if unknown."""
    troubles: tuple[Trouble, ...]

    @property
    def state(self) -> str:
        """The state of the cluster in one word."""
        if self.is_stuck:
            return "stuck"
        return str(self.row.progress)


@dataclass(frozen=True, slots=True)
class Explanation:
    """The explanation of a run for a person on call."""

    view: RunView
    kind: Kind
    situation: Situation
    clusters: tuple[ClusterReport, ...]
    others: tuple[str, ...]
    """Step of each other cluster in flight, such as `Available is False`; empty if unknown."""
    moves: Mapping[str, Move]
    """Clusters that left or joined the run, by name."""
    then: tuple[str, ...]
    commands: tuple[str, ...]
    unread: tuple[str, ...]
    """Plurals of kinds that the user may not read."""


_AGES: Final = datetime.max.replace(tzinfo=UTC)


def urgency(found: Explanation) -> tuple[int, bool, datetime]:
    """Return a sort key: runs that need a person first, among them stuck ones, then by age."""
    situation = found.situation
    calm = found.view.phase is not Phase.STUCK
    return situation.attention, calm, situation.since or _AGES


def looked_at(view: RunView) -> list[ClusterRow]:
    """Return the clusters to look at: those that failed, then those in flight, longest first."""
    return [*failed_clusters(view), *clusters_at_work(view)]


def of(look: Look, *, on_member: OnMember) -> Explanation:
    """Put together the explanation of a run."""
    rows = looked_at(look.view)
    named = rows[: words.NAMED_AT_MOST]
    reports = tuple(_report(look, each, on_member) for each in named)
    situation = _with_troubles(situations.of(look), reports)
    over = look.view.phase in ENDED
    return Explanation(
        view=look.view,
        kind=look.scope.run,
        situation=situation,
        clusters=reports,
        others=look.evidence.steps,
        moves=look.evidence.moves,
        then=() if over else prospects.of(look.run, look.view),
        commands=_commands(situation, reports),
        unread=look.evidence.unread,
    )


def _with_troubles(situation: Situation, reports: Sequence[ClusterReport]) -> Situation:
    """Point out troubles on clusters if no action is needed; they may pass, or get worse."""
    if situation.acts == NOBODY_ACTS and any(each.troubles for each in reports):
        acts = "No action is needed yet: the problems below may resolve themselves."
        return replace(situation, acts=acts)
    return situation


def _report(look: Look, row: ClusterRow, on_member: OnMember) -> ClusterReport:
    evidence = look.evidence.clusters.get(row.name, ClusterEvidence())
    found: Sequence[Trouble] = ()
    if look.evidence.may_read(look.scope.binding):
        found = _troubles(look, row, evidence, on_member)
    return ClusterReport(
        row=row,
        is_stuck=row in stuck_clusters(look.view, now=look.now),
        step=troubles.step_text(evidence.binding),
        troubles=tuple(found),
    )


def _troubles(
    look: Look, row: ClusterRow, evidence: ClusterEvidence, on_member: OnMember
) -> Sequence[Trouble]:
    if row in failed_clusters(look.view) and not row.timed_out:
        return list(troubles.of_taken(look.view.name, evidence, at=look.decided))
    if look.view.phase in ENDED and troubles.taker(evidence.binding, but=look.view.name):
        return []  # whatever another run has done to the cluster since is not about this run
    if any(stage.deletes and row in stage.clusters for stage in look.view.stages):
        return list(troubles.of_removal(row.name, evidence, now=look.now))
    return list(troubles.of_update(row.name, evidence, on_member=on_member, now=look.now))


def _commands(situation: Situation, reports: Sequence[ClusterReport]) -> tuple[str, ...]:
    """Return the commands: first those that inspect, then those that act; each once."""
    looks = [each for report in reports for one in report.troubles for each in one.commands]
    return tuple(dict.fromkeys([*looks, *situation.commands]))
