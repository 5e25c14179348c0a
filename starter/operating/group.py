"""The group `fleetgate temporal`."""

import click

from starter.lazy import LazyGroup

COMMANDS = {
    "setup": (
        "starter.operating.setup:setup",
        "See to namespace, retention and search attributes.",
    ),
    "set-current": (
        "starter.operating.current_build:set_current",
        "Give the runs to one build of the workers.",
    ),
    "codec-server": (
        "starter.operating.codec_server:codec_server",
        "Decrypt payloads for the Temporal UI.",
    ),
}


@click.group(name="temporal", cls=LazyGroup, commands_at=COMMANDS)
def temporal() -> None:
    """Prepare Temporal for fleetgate, and keep it in step with the workers.

    Temporal is found by its own settings: TEMPORAL_ADDRESS, TEMPORAL_NAMESPACE, TEMPORAL_API_KEY,
    TEMPORAL_TLS, TEMPORAL_PROFILE and so on.
    """
