"""The history has each write once, from whichever source it comes first."""

import json

import pytest

from hub import Json
from tests.soak.history import History, Write, audited

ADDRESS = ("clusterresourcebindings", "", "app-member1")


def audit_line(revision: int, *, code: int = 200, agent: str = "fleetgate") -> str:
    """Return a line of an audit log."""
    body: Json = {"metadata": {"name": "app-member1", "resourceVersion": str(revision)}}
    if code >= 300:
        body = {"kind": "Status", "metadata": {}, "code": code}
    return json.dumps(
        {
            "verb": "patch",
            "userAgent": agent,
            "objectRef": {"resource": "clusterresourcebindings", "name": "app-member1"},
            "responseStatus": {"code": code},
            "responseObject": body,
            "requestReceivedTimestamp": "2026-01-01T00:00:00.000001Z",
        }
    )


def stored(revision: int) -> Write:
    """Return the same write as recorded in etcd."""
    return Write(address=ADDRESS, revision=revision, body={"spec": {"state": "Bound"}})


@pytest.mark.parametrize("line", [audit_line(7, code=409), '{"verb": "pat', ""])
def test_a_line_that_records_no_change_is_ignored(line: str) -> None:
    assert audited(line) is None


@pytest.mark.parametrize("audit_first", [True, False])
def test_a_write_from_both_sources_is_kept_once_with_the_whole_object_and_its_writer(
    audit_first: bool,
) -> None:
    history = History()
    if audit_first:
        history.tell(audit_line(7))
    history.store(stored(7))
    if not audit_first:
        history.tell(audit_line(7))
    (write,) = history.of([ADDRESS])
    assert (write.revision, write.agent) == (7, "fleetgate")
    assert write.body == {"spec": {"state": "Bound"}}, "etcd has the whole object"
    assert write.at is not None
    assert history.repeated == 0


def test_a_write_missing_in_the_audit_log_is_known_from_etcd() -> None:
    history = History()
    history.tell(audit_line(7))
    history.store(stored(9))
    history.tell(audit_line(11))
    assert [each.revision for each in history.of([ADDRESS])] == [7, 9, 11]
    assert history.latest == {ADDRESS: 9}


def test_a_repeated_write_that_changes_nothing_is_counted() -> None:
    history = History()
    history.tell(audit_line(7))
    history.tell(audit_line(7))
    assert [each.revision for each in history.of([ADDRESS])] == [7]
    assert history.repeated == 1


def test_only_older_writes_are_forgotten() -> None:
    history = History()
    for revision in (7, 8, 9):
        history.store(stored(revision))
    history.forget([ADDRESS], before=9)
    assert [each.revision for each in history.of([ADDRESS])] == [9]
