"""The settings of a worker, from flags and environment variables."""

import os
import re
from collections.abc import Mapping
from datetime import timedelta
from enum import StrEnum
from pathlib import Path
from typing import Any, Final, Self

from pydantic import BaseModel, ConfigDict, Field, ValidationError, ValidationInfo, field_validator

from planning import durations
from planning.placements.selecting import SelectionRules
from telemetry import LogFormat, Tracing
from workflows.messages import DEFAULT_STUCK_AFTER, TemporalApprovals

_NAMESPACE: Final = re.compile(r"[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?")


class Role(StrEnum):
    """A role of a worker; a process may have one, several or all of them."""

    ENGINE = "engine"
    BRIDGE = "bridge"
    PLACEMENT = "placement"
    AGENTS = "agents"


class PlacementKind(StrEnum):
    """Who makes snapshots, bindings and Works."""

    BUILTIN = "builtin"
    EXTERNAL = "external"


class Snapshots(StrEnum):
    """When the content of a placement with strategy type External is stored as a snapshot."""

    ON_CHANGE = "on-change"
    BY_RUNS = "by-runs"


class Upgrade(StrEnum):
    """When a run moves to a newer build of the worker."""

    ANY_TIME = "any-time"
    BETWEEN_STAGES = "between-stages"


class Settings(BaseModel):
    """Everything an operator can set; read once, from flags and `FLEETGATE_…` variables."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    run: frozenset[Role] = frozenset(Role)
    """Roles of this process; all by default, because one process is enough for a small fleet."""
    placement: PlacementKind = PlacementKind.BUILTIN
    """`external` leaves snapshots, bindings and Works to another system such as KubeFleet."""
    snapshots: Snapshots = Snapshots.ON_CHANGE
    """When the content of a placement for update runs becomes a resource snapshot: soon after it
    changes (`on-change`), or only when a run that names no snapshot starts (`by-runs`), as in
    KubeFleet."""
    snapshot_interval: timedelta = timedelta(seconds=5)
    """Minimum time between two snapshots of changed content of a placement: changes made meanwhile
    are stored together at its end. A placement's first snapshot, a change after a quiet period and
    a run that names no snapshot do not wait. `0s` turns it off."""
    skipped_namespaces: frozenset[str] = frozenset()
    """`NAME,…`: namespaces that may not be placed, besides `default` and those that begin with
    `kube-` or `fleet-`. Must be the same for all processes of a hub, and for its KubeFleet."""
    hub_runs_workloads: bool = False
    """Whether the hub itself runs workloads; then PersistentVolumeClaims, which its StatefulSets
    create, are not placed. Must be the same for all processes of a hub, and for its KubeFleet."""
    kubeconfig: Path | None = None
    """Kubeconfig of the hub; by default KUBECONFIG, or the pod's service account."""
    context: str | None = None
    """Context in the kubeconfig; its current one by default."""
    task_queue: str = Field(default="fleetgate", min_length=1)
    """Temporal task queue for workflows and activities."""
    stuck_after: timedelta = DEFAULT_STUCK_AFTER
    """How long a cluster may take before its run counts as stuck; 5m as in KubeFleet."""
    temporal_approvals: TemporalApprovals = TemporalApprovals.ACCEPT
    """`refuse` makes approvals count only if given on the hub, which knows its users; Temporal does
    not know them. A change applies to runs that start afterwards."""
    metrics_address: str = "127.0.0.1:9464"
    """host:port of /metrics, /healthz and /readyz; loopback, because it has no access control."""
    log_format: LogFormat | None = None
    """`text` or `json`; by default text on a terminal and JSON elsewhere."""
    tracing: Tracing = Tracing.NONE
    """`otlp` sends traces to the endpoint that OpenTelemetry's own variables name."""
    payload_keys: Path | None = None
    """File with the keys that encrypt payloads in Temporal, one line `ID: BASE64` per key; by
    default payloads are not encrypted."""
    deployment: str = Field(default="", pattern=r"^[^.:]*$")
    """Worker deployment in Temporal, of which only the current build gets work. Empty, the default,
    gives work to any worker."""
    build_id: str = Field(default="", validate_default=True)
    """Id of this build of the worker within its deployment; set together with `deployment`."""
    upgrade: Upgrade = Upgrade.ANY_TIME
    """When a run moves to a newer build that was made current: at `any-time`, or only
    `between-stages` and at gates; until then the older build has to keep running."""
    members: dict[str, Path] = {}
    """Kubeconfigs of the members whose agents run in this process: `name=path,…`."""
    member_secrets: str = ""
    """Namespace on the hub with Secrets that hold members' kubeconfigs; their agents run in this
    process too."""
    collect_namespaces: bool = False
    """Whether these agents report their members' namespaces, so that a ResourcePlacement goes only
    to members that have its namespace."""

    lease_namespace: str = ""
    """Namespace on the hub with the Leases for leader election of `bridge`, `placement` and
    `agents`, the same for all processes; by default that of the worker's pod, or `default` outside
    a cluster."""
    identity: str = ""
    """Name of this process in those Leases, unique while it runs. A pod's name is a good choice,
    because its container keeps it after a restart. By default made from the names of host and
    process."""

    @classmethod
    def load(cls, environ: Mapping[str, str] = os.environ, /, **overrides: object) -> Self:
        """Read the variables; an empty one counts as unset, and an override that is not None wins.

        Raises ValidationError, which names the field and its value.
        """
        found: dict[str, object] = {
            name: environ[variable]
            for name in cls.model_fields
            if environ.get(variable := f"FLEETGATE_{name.upper()}")
        }
        chosen = {name: value for name, value in overrides.items() if value is not None}
        return cls.model_validate(found | chosen)

    @field_validator("run", mode="before")
    @classmethod
    def _split_roles(cls, value: object) -> object:
        return [part.strip() for part in value.split(",")] if isinstance(value, str) else value

    @field_validator("members", mode="before")
    @classmethod
    def _split_members(cls, value: object) -> object:
        if not isinstance(value, str):
            return value
        pairs = [part.partition("=") for part in value.split(",") if part]
        if any(not (name and path) for name, _, path in pairs):
            raise ValueError("write name=path,name=path")
        return {name.strip(): path for name, _, path in pairs}

    @field_validator("build_id")
    @classmethod
    def _of_a_deployment(cls, value: str, info: ValidationInfo) -> str:
        if bool(value) != bool(info.data.get("deployment", value)):
            raise ValueError("deployment and build id go together: set both or none")
        return value

    @field_validator("skipped_namespaces", mode="before")
    @classmethod
    def _split_names(cls, value: object) -> object:
        if not isinstance(value, str):
            return value
        found = [part.strip() for part in value.split(",") if part.strip()]
        if not all(map(_NAMESPACE.fullmatch, found)):
            raise ValueError("write names of namespaces as NAME,NAME")
        return found

    @field_validator("stuck_after", "snapshot_interval", mode="before")
    @classmethod
    def _parse_duration(cls, value: object) -> object:
        return durations.parse(value) if isinstance(value, str) else value

    @field_validator("stuck_after")
    @classmethod
    def _longer_than_nothing(cls, value: timedelta) -> timedelta:
        if value <= timedelta(0):
            raise ValueError("write a duration longer than 0s, such as 5m")
        return value

    @property
    def rules(self) -> SelectionRules:
        """The rules for what may be placed from the hub."""
        return SelectionRules(self.skipped_namespaces, self.hub_runs_workloads)


def problems(error: ValidationError, overrides: Mapping[str, object]) -> list[str]:
    """Return a message for each invalid value, with the flag or variable that set it."""
    return [_problem(each, overrides) for each in error.errors()]


def _problem(error: Mapping[str, Any], overrides: Mapping[str, object]) -> str:
    name = str(error["loc"][0])
    by_flag = overrides.get(name) is not None
    given = f"--{name.replace('_', '-')}" if by_flag else f"FLEETGATE_{name.upper()}"
    advice = str(error["msg"]).removeprefix("Value error, ")
    return f"{given} is {error['input']!r}: {advice}"
