"""The group `fleetgate temporal`."""

import click

from starter.lazy import LazyGroup

COMMANDS = {
    "setup": (
        "starter.operating.setup:setup",
        "Set up the Temporal namespace for runs.",
    ),
    "set-current": (
        "starter.operating.current_build:set_current",
        "Make one build of the workers take over all runs.",
    ),
    "codec-server": (
        "starter.operating.codec_server:codec_server",
        "Decrypt payloads for the Temporal UI.",
    ),
}


@click.group(name="temporal", cls=LazyGroup, commands_at=COMMANDS)
def temporal() -> None:
    """Set up and operate Temporal for fleetgate.

    The connection is configured with Temporal's own settings: TEMPORAL_ADDRESS, TEMPORAL_NAMESPACE,
    TEMPORAL_API_KEY, TEMPORAL_TLS, TEMPORAL_PROFILE and so on.
    """
