"""The current state of a process of the fleet."""

from datetime import UTC, datetime
from enum import StrEnum

from pydantic import BaseModel, ConfigDict, Field

from deploy.local.processes import Processes


class ProcessState(StrEnum):
    """Whether a process is running."""

    RUNNING = "running"
    DIED = "died"
    """It was started and exited by itself; `up` starts it again."""
    STOPPED = "stopped"


class ProcessStatus(BaseModel):
    """One line of `fleetgate local status`."""

    model_config = ConfigDict(frozen=True)

    name: str
    state: ProcessState
    log: str
    pid: int | None = None
    address: str = ""
    uptime_seconds: int | None = Field(default=None, serialization_alias="uptimeSeconds")
    memory_bytes: int | None = Field(default=None, serialization_alias="memoryBytes")


def status_of(name: str, *, processes: Processes) -> ProcessStatus:
    """Return the status of one process."""
    log = str(processes.log(name))
    record = processes.record(name)
    if record is None:
        return ProcessStatus(name=name, state=ProcessState.STOPPED, log=log)
    running = processes.find(name)
    if running is None:
        return ProcessStatus(name=name, state=ProcessState.DIED, log=log, address=record.address)
    return ProcessStatus(
        name=name,
        state=ProcessState.RUNNING,
        log=log,
        pid=running.pid,
        address=record.address,
        uptime_seconds=int((datetime.now(UTC) - running.since).total_seconds()),
        memory_bytes=running.memory,
    )
