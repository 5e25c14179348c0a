"""Parsing a run again and again as it changes, at the cost of what has changed.

A run's object holds every cluster of its stages, and each write of its status sends it anew.
"""

from api.runs import ClusterStatus, StageStatus, UpdateRun
from hub import Json


class ParsedRun:
    """One version of a run, as it is on the wire and as the model has it."""

    def __init__(self, body: Json, *, before: "ParsedRun | None" = None) -> None:
        """Parse `body`; clusters that are as they were `before` are shared with it."""
        self._body = body
        self.run = UpdateRun.from_wire(_prepared(body, before) if before else body)

    def is_of(self, body: Json) -> bool:
        """Whether this is the parsed form of just this object."""
        return self._body is body

    def clusters(self, stage: int) -> tuple[list[Json], list[ClusterStatus]]:
        """The clusters of a stage, on the wire and parsed; none if there is no such stage."""
        parsed: list[StageStatus] = self.run.status.stages_status
        if stage >= len(parsed):
            return [], []
        return self._body["status"]["stagesStatus"][stage]["clusters"], parsed[stage].clusters


def _prepared(body: Json, before: ParsedRun) -> Json:
    """The body with models in the place of clusters that are known already."""
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
