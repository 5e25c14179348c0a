"""The Temporal dev server of the fleet, with its UI, on a SQLite file."""

from pathlib import Path

from deploy.local.ports import LOOPBACK
from deploy.local.services import Service, answers
from deploy.local.state import TEMPORAL
from workflows.search_attribute_names import Name


def temporal(binary: Path, *, database: Path, port: int, ui_port: int) -> Service:
    """Return the dev server; its history survives a restart in `database`."""
    ui = f"http://{LOOPBACK}:{ui_port}"
    return Service(
        name=TEMPORAL,
        argv=(
            str(binary),
            "server",
            "start-dev",
            # A person's own profile of the same program must not reach into the fleet.
            "--disable-config-file",
            "--disable-config-env",
            f"--ip={LOOPBACK}",
            f"--port={port}",
            f"--ui-port={ui_port}",
            f"--db-filename={database}",
            # As it comes the server does about 30 activities a second; with a write-ahead log
            # 100 to 130, and with eager activities as well up to 200.
            "--sqlite-pragma=journal_mode=wal",
            "--sqlite-pragma=synchronous=normal",
            "--dynamic-config-value=system.enableActivityEagerExecution=true",
            *(f"--search-attribute={name}=Keyword" for name in Name),
        ),
        address=f"{LOOPBACK}:{port}",
        # The UI asks the server itself, so both are there and the namespace as well.
        ready=lambda: answers(f"{ui}/api/v1/namespaces/default"),
    )
