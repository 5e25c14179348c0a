"""Limiting the size of a Work's status, so that it can be stored however much differs.

contract: placement 8 (StatusTrimmed)
"""

import json
from collections.abc import Iterable, Sequence
from typing import Final

from api.outcomes import PatchDetail
from api.works import ManifestCondition

LIMIT: Final = 600 * 1024
"""Bytes for all entries: a Work's manifests may have 800 KiB, and etcd accepts 1.5 MiB."""

_OMITTED: Final = "(omitted)"


def surplus(entries: Iterable[ManifestCondition]) -> int:
    """Return by how many bytes the entries are too large; 0 or less if they are not."""
    return len(json.dumps([each.to_wire() for each in entries])) - LIMIT


def trimmed(entry: ManifestCondition) -> ManifestCondition:
    """Return the entry with one summary for all drifts and one for all diffs, without a status."""
    drift, diff = entry.drift_details, entry.diff_details
    return entry.model_copy(
        update={
            "drift_details": drift
            and drift.model_copy(update={"observed_drifts": _summary(drift.observed_drifts)}),
            "diff_details": diff
            and diff.model_copy(update={"observed_diffs": _summary(diff.observed_diffs)}),
            "back_reported_status": None,
        }
    )


def _summary(details: Sequence[PatchDetail]) -> list[PatchDetail]:
    path, more = details[0].path, len(details) - 1
    if more:
        path = f"{path} and {more} more path(s)"
    return [PatchDetail(path=path, value_in_member=_OMITTED, value_in_hub=_OMITTED)]
