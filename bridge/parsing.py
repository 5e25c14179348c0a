"""Incremental parsing of runs: only the clusters that changed are parsed again.

A run's object holds every cluster of its stages, and each write of its status sends all of it.
"""

from api.runs import ClusterStatus, StageStatus, UpdateRun
from hub import Json


class ParsedRun:
    """One version of a run, in wire format and as a model."""

    def __init__(self, body: Json, *, before: "ParsedRun | None" = None) -> None:
        """Parse `body`; clusters that have not changed since `before` are shared with it."""
        self._body = body
        self.run = UpdateRun.from_wire(_prepared(body, before) if before else body)

    def is_of(self, body: Json) -> bool:
        """Return whether this is the parsed form of exactly this object."""
        return self._body is body

    def clusters(self, stage: int) -> tuple[list[Json], list[ClusterStatus]]:
        """Return a stage's clusters, in wire format and parsed; empty if it does not exist."""
        parsed: list[StageStatus] = self.run.status.stages_status
        if stage >= len(parsed):
            return [], []
        return self._body["status"]["stagesStatus"][stage]["clusters"], parsed[stage].clusters


def _prepared(body: Json, before: ParsedRun) -> Json:
    """Return the body with models in place of clusters that are already known."""
    stages = body.get("status", {}).get("stagesStatus", [])
    prepared = [
        stage | {"clusters": _shared(stage["clusters"], *before.clusters(index))}
        for index, stage in enumerate(stages)
    ]
    if not prepared:
        return body
    return body | {"status": body["status"] | {"stagesStatus": prepared}}


def _shared(
    clusters: list[Json], before: list[Json], parsed: list[ClusterStatus]
) -> list[Json | ClusterStatus]:
    known = list(zip(before, parsed, strict=True))
    shared: list[Json | ClusterStatus] = [
        model if cluster == wire else cluster
        for cluster, (wire, model) in zip(clusters, known, strict=False)
    ]
    return shared + clusters[len(known) :]
