"""Every write to the objects of runs, from the hub's audit log and its etcd.

The audit log says who wrote and when. It lacks writes that an API server stored just as it was
killed; etcd's own history has those. Both identify a write by its revision, which counts all writes
of the hub.
"""

import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any, Final

from api.kinds import PLACEMENT_GROUP, SCOPES
from hub import Json

WATCHED: Final = frozenset(
    kind.plural for scope in SCOPES.values() for kind in (scope.run, scope.binding, scope.approval)
)
"""Resources whose writes are kept."""

AUDIT_POLICY: Final = f"""\
apiVersion: audit.k8s.io/v1
kind: Policy
omitStages: [RequestReceived]
omitManagedFields: true
rules:
- level: RequestResponse
  verbs: [create, update, patch, delete]
  resources:
  - group: {PLACEMENT_GROUP}
    resources: [{", ".join(f"{each}, {each}/status" for each in sorted(WATCHED))}]
- level: None
"""

Address = tuple[str, str, str]
"""Resource, namespace and name of an object."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Write:
    """One change of one object."""

    address: Address
    revision: int
    body: Json | None
    """The object afterwards; None if it was removed."""
    agent: str = ""
    """User agent of the writer; empty if only etcd has the write."""
    at: datetime | None = None
    """Time of the request; None if only etcd has the write."""

    @property
    def by(self) -> str:
        """A description of the write for people."""
        return f"revision {self.revision} by {self.agent or 'unknown'} at {self.at}"


def audited(line: bytes | str) -> Write | None:
    """Return the write that a line of the audit log records; None if it changed nothing.

    An API server that is killed leaves an incomplete line behind, which is ignored.
    """
    try:
        event: dict[str, Any] = json.loads(line)
    except ValueError:
        return None
    body, target = event.get("responseObject", {}), event.get("objectRef", {})
    metadata = body.get("metadata", {})
    if event.get("responseStatus", {}).get("code", 0) >= 300 or "resourceVersion" not in metadata:
        return None
    return Write(
        address=(target["resource"], metadata.get("namespace", ""), metadata["name"]),
        revision=int(metadata["resourceVersion"]),
        body=body,
        agent=event.get("userAgent", ""),
        at=datetime.fromisoformat(event["requestReceivedTimestamp"]),
    )


class History:
    """All writes so far, each once."""

    def __init__(self) -> None:
        self._writes: dict[tuple[Address, int], Write] = {}
        self.latest: dict[Address, int] = {}
        """The newest revision in etcd of each object, including removed ones."""
        self.repeated = 0
        """Number of writes that changed nothing, usually retried because their answer was lost."""

    def tell(self, line: bytes | str) -> None:
        """Add a line of the audit log."""
        write = audited(line)
        if write is None:
            return
        known = self._writes.get((write.address, write.revision))
        if known is not None and known.agent:
            self.repeated += 1
        elif known is not None:
            self._keep(replace(known, agent=write.agent, at=write.at))
        else:
            self._keep(write)

    def store(self, write: Write) -> None:
        """Add a write from etcd, which has the whole object; the audit log may have less."""
        self.latest[write.address] = max(write.revision, self.latest.get(write.address, 0))
        known = self._writes.get((write.address, write.revision))
        self._keep(replace(write, agent=known.agent, at=known.at) if known else write)

    def of(self, addresses: Iterable[Address]) -> Iterator[Write]:
        """Yield the writes to these objects, in order."""
        wanted = frozenset(addresses)
        found = [each for each in self._writes.values() if each.address in wanted]
        yield from sorted(found, key=lambda each: each.revision)

    def forget(self, addresses: Iterable[Address], *, before: int) -> None:
        """Drop the writes to these objects that are older than a revision, to save memory."""
        wanted = frozenset(addresses)
        for key in [key for key in self._writes if key[0] in wanted and key[1] < before]:
            del self._writes[key]

    def _keep(self, write: Write) -> None:
        self._writes[write.address, write.revision] = write
