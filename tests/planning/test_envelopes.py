"""The content of envelopes, and what they may hold (contract: placement 10)."""

import hashlib

import pytest

from planning import envelopes
from planning.envelopes import EnvelopeError
from tests.planning.boxes import Json, envelope, wrapped

USER = "failed to process the request due to a client error: "
UNEXPECTED = "unexpected behavior which cannot be handled by the controller: "


def refusal(of: Json) -> str:
    with pytest.raises(EnvelopeError) as caught:
        envelopes.content(of)
    return str(caught.value)


def test_the_content_is_sorted_by_its_json_in_descending_order() -> None:
    names = [each["metadata"]["name"] for each in envelopes.content(envelope(x=wrapped("a")))]
    assert names == ["a"]
    box = envelope("app", one=wrapped("b", "app"), two=wrapped("c", "app"), z=wrapped("a", "app"))
    assert [each["metadata"]["name"] for each in envelopes.content(box)] == ["c", "b", "a"]


@pytest.mark.parametrize(
    ("box", "text"),
    [
        (
            envelope(key=wrapped("a", "app")),
            ("a namespaced object key (app/a) has been wrapped in a cluster resource envelope box"),
        ),
        (
            envelope("app", key=wrapped("a")),
            "a cluster scope object key (a) has been wrapped in a resource envelope app/box",
        ),
        (
            envelope("app", key=wrapped("a", "other")),
            (
                "a namespaced object key (other/a) in has been wrapped in a resource envelope"
                " from another namespace (app/box)"
            ),
        ),
    ],
)
def test_a_misplaced_object_is_named(box: Json, text: str) -> None:
    assert refusal(box) == USER + text


@pytest.mark.parametrize("lacking", ["apiVersion", "kind", "metadata"])
def test_an_invalid_entry_is_named_without_its_content(lacking: str) -> None:
    thing = wrapped("a", "app") | {"data": {"password": "s3cret"}}
    del thing[lacking]
    assert refusal(envelope("app", key=thing)) == (
        f"{UNEXPECTED}failed to parse the wrapped manifest data to a Kubernetes runtime object"
        f" (manifestKey=key,envelopeObjRef=app/box): {lacking} is missing"
    )


@pytest.mark.parametrize(
    ("home", "whole"), [("", "ClusterResourceEnvelope//box"), ("app", "ResourceEnvelope/app/box")]
)
def test_the_digest_covers_kind_namespace_and_name(home: str, whole: str) -> None:
    pointed = envelopes.identifier(envelope(home))
    assert envelopes.digest(pointed) == hashlib.sha256(whole.encode()).hexdigest()[:16]


def test_a_kinds_name_alone_does_not_make_an_envelope() -> None:
    assert not envelopes.is_envelope(wrapped("ResourceEnvelope"))
    assert envelopes.is_envelope(envelope())
