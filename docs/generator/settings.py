"""The page of the worker's settings, generated from their model."""

from datetime import timedelta
from pathlib import Path

from api.crds.descriptions import describe_fields
from docs.generator.markdown import Pages, literal, page, table
from planning import durations
from wiring import Role, Settings

_TEMPORAL = (
    ("TEMPORAL_ADDRESS", "host:port of Temporal's frontend; default `localhost:7233`"),
    ("TEMPORAL_NAMESPACE", "Temporal namespace; default `default`"),
    ("TEMPORAL_API_KEY", "key for Temporal Cloud or another server that requires one"),
    ("TEMPORAL_TLS", "`true` to use TLS; implied by an API key or a certificate"),
    ("TEMPORAL_TLS_CLIENT_CERT_PATH", "client certificate, for mutual TLS"),
    ("TEMPORAL_TLS_CLIENT_KEY_PATH", "its key"),
    ("TEMPORAL_TLS_SERVER_CA_CERT_PATH", "authority that signed the server's certificate"),
    ("TEMPORAL_TLS_SERVER_NAME", "name in the server's certificate, if not that of the address"),
    ("TEMPORAL_PROFILE", "profile to use in the file that `TEMPORAL_CONFIG_FILE` names"),
)


def pages() -> Pages:
    """Return the page."""
    texts = describe_fields(Settings)
    rows = [
        (
            literal(f"FLEETGATE_{name.upper()}"),
            literal(f"--{name.replace('_', '-')}"),
            written(info.get_default(call_default_factory=True)),
            texts[name],
        )
        for name, info in Settings.model_fields.items()
    ]
    text = page(
        "Settings",
        "Settings of `fleetgate worker`. Each is an environment variable and a flag; the flag "
        "takes precedence. The worker reads them once at startup and reports wrong ones then. "
        "Durations are written as in Go: `90s`, `5m`, `1h30m`.",
        table(("variable", "flag", "default", "what it sets"), rows),
        "`KUBECONFIG` names the hub's kubeconfig if neither `FLEETGATE_KUBECONFIG` nor "
        "`--kubeconfig` does.",
        "## Temporal",
        "The connection to Temporal uses the settings of Temporal's own SDK, in the worker and in "
        "the commands that query or update a workflow:",
        table(("variable", "what it sets"), [(literal(name), text) for name, text in _TEMPORAL]),
    )
    return {"settings.md": text}


def written(value: object) -> str:
    """Return a default as a user would type it; empty if there is none."""
    match value:
        case None | "" | {}:
            return ""
        case frozenset() if not value:
            return ""
        case frozenset():
            return literal(",".join(str(role) for role in Role if role in value))
        case timedelta():
            return literal(durations.short(value))
        case bool():
            return literal(str(value).lower())
        case str() | int() | Path():
            return literal(str(value))
    raise TypeError(f"no text for the default {value!r}: add its type to docs.generator.settings")
