"""Values of Secrets are never shown, whether in a Secret or in an envelope."""

import yaml

from api.kinds import CLUSTER_RESOURCE_ENVELOPE
from hub import Json
from starter import differences
from starter.differences import CHANGED, HIDDEN, hidden

SECRET: Json = {
    "apiVersion": "v1",
    "kind": "Secret",
    "metadata": {
        "name": "tls",
        "annotations": {"kubectl.kubernetes.io/last-applied-configuration": "s3cret", "own": "a"},
    },
    "data": {"pw": "s3cret", "user": "me"},
    "stringData": {"pw": "s3cret"},
}
CONFIG_MAP: Json = {
    "apiVersion": "v1",
    "kind": "ConfigMap",
    "metadata": {"name": "app"},
    "data": {"pw": "open"},
}


def envelope(**held: Json) -> Json:
    kind = CLUSTER_RESOURCE_ENVELOPE
    metadata = {"name": "box"}
    return {"apiVersion": kind.api_version, "kind": kind.kind, "metadata": metadata, "data": held}


def test_the_names_of_a_secrets_values_are_shown() -> None:
    shown = hidden(SECRET)
    assert shown["data"] == {"pw": HIDDEN, "user": HIDDEN}
    assert shown["metadata"]["annotations"]["own"] == "a"
    assert "s3cret" not in yaml.safe_dump(shown)
    assert SECRET["data"]["pw"] == "s3cret"


def test_a_config_map_is_shown_unchanged() -> None:
    assert hidden(CONFIG_MAP) == CONFIG_MAP


def test_a_secret_in_an_envelope_is_hidden_too() -> None:
    shown = hidden(envelope(tls=SECRET, app=CONFIG_MAP))
    assert shown["data"]["app"] == CONFIG_MAP
    assert "s3cret" not in yaml.safe_dump(shown)


def test_a_malformed_secret_in_an_envelope_is_hidden_too() -> None:
    without_version = {key: value for key, value in SECRET.items() if key != "apiVersion"}
    assert "s3cret" not in yaml.safe_dump(hidden(envelope(a=without_version, b={})))


def test_changed_values_are_marked() -> None:
    old = SECRET | {"data": {"pw": "0ld", "user": "me"}}
    assert hidden(SECRET, before=old)["data"] == {"pw": CHANGED, "user": HIDDEN}
    inside = hidden(envelope(tls=SECRET), before=envelope(tls=old))
    assert inside["data"]["tls"]["data"] == {"pw": CHANGED, "user": HIDDEN}


def test_a_diff_names_both_versions_and_no_value() -> None:
    old = SECRET | {"data": {"pw": "0ld", "user": "me"}}
    labels = ("snapshot 0", "snapshot 1")
    lines = differences.between([old], [SECRET, CONFIG_MAP], labels=labels)
    assert lines[:2] == ["--- snapshot 0 Secret tls", "+++ snapshot 1 Secret tls"]
    assert f"+  pw: {CHANGED}" in lines
    assert "+  pw: open" in lines
    assert not {"s3cret", "0ld"} & set(" ".join(lines).split())
