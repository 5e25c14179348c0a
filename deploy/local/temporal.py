"""The Temporal dev server of the fleet, with its UI, on a SQLite file."""

from pathlib import Path

from deploy.local.ports import LOOPBACK
from deploy.local.services import Service, answers
from deploy.local.state import TEMPORAL
from workflows.search_attribute_names import Name


def temporal(binary: Path, *, database: Path, port: int, ui_port: int) -> Service:
    """Return the dev server; its data is in `database` and survives a restart."""
    ui = f"http://{LOOPBACK}:{ui_port}"
    return Service(
        name=TEMPORAL,
        argv=(
            str(binary),
            "server",
            "start-dev",
            # The user's own Temporal profile must not affect the fleet.
            "--disable-config-file",
            "--disable-config-env",
            f"--ip={LOOPBACK}",
            f"--port={port}",
            f"--ui-port={ui_port}",
            f"--db-filename={database}",
            # By default the server handles about 30 activities per second; with a write-ahead
            # log 100 to 130, and with eager activities as well up to 200.
            "--sqlite-pragma=journal_mode=wal",
            "--sqlite-pragma=synchronous=normal",
            "--dynamic-config-value=system.enableActivityEagerExecution=true",
            *(f"--search-attribute={name}=Keyword" for name in Name),
        ),
        address=f"{LOOPBACK}:{port}",
        # The UI queries the server, so this checks both, and that the namespace exists.
        ready=lambda: answers(f"{ui}/api/v1/namespaces/default"),
    )
