"""Events and commands about approvals that count, and about those that do not."""

import json
import shlex
from functools import partial
from typing import Any

import pytest

from api.approvals import BaseApprovalRequest
from api.kinds import APPROVAL_REQUEST, CLUSTER_APPROVAL_REQUEST, Kind
from planning import signatures
from planning.runs.approval_events import Given, given, uncounted
from planning.runs.gates import approve_command
from tests.planning.run_samples import NOW
from tests.support import conditions

TASK_TYPE = "kubernetes-fleet.io/taskType"


condition = partial(conditions.condition, reason="testPassed", at=NOW)
approved = partial(condition, "Approved", message="lgtm")


def asked(
    *conditions: dict[str, Any], namespace: str = "", side: str = "beforeStage", **meta: Any
) -> BaseApprovalRequest:
    """Return an approval request with conditions; its own generation is 1."""
    kind = APPROVAL_REQUEST if namespace else CLUSTER_APPROVAL_REQUEST
    metadata = {"name": "v2-before-prod", "generation": 1, "labels": {TASK_TYPE: side}}
    return BaseApprovalRequest.from_wire(
        {
            "apiVersion": kind.api_version,
            "kind": kind.kind,
            "metadata": metadata | ({"namespace": namespace} if namespace else {}) | meta,
            "spec": {"parentStageRollout": "v2", "targetStage": "prod"},
            "status": {"conditions": list(conditions)},
        }
    )


def warned(request: BaseApprovalRequest, kind: Kind = CLUSTER_APPROVAL_REQUEST) -> str:
    found = uncounted(request, kind=kind, now=NOW)
    assert found is not None
    event, _ = found
    assert (event.type, event.reason, event.at) == ("Warning", "ApprovalNotCounted", NOW)
    return event.message


def key_of(request: BaseApprovalRequest) -> str:
    found = uncounted(request, kind=CLUSTER_APPROVAL_REQUEST, now=NOW)
    assert found is not None
    return found[1]


# -- approvals that do not count ---------------------------------------------------------------


@pytest.mark.parametrize(
    ("generation", "what"),
    [(7, "has observedGeneration 7"), (0, "has no observedGeneration")],
)
def test_the_warning_says_which_generation_is_wrong(generation: int, what: str) -> None:
    why = warned(asked(approved(generation=generation))).partition(". To fix it: ")[0]
    assert why == (
        f"The approval does not count: its condition Approved {what}, "
        "but the generation of the request is 1"
    )


@pytest.mark.parametrize(
    "conditions",
    [
        [],
        [approved()],
        [approved(status="False", generation=7)],
        [condition("ApprovalAccepted"), approved(generation=7)],
    ],
    ids=["none", "right", "rejection", "accepted"],
)
def test_an_approval_that_counts_gets_no_warning(conditions: list[dict[str, Any]]) -> None:
    assert uncounted(asked(*conditions), kind=CLUSTER_APPROVAL_REQUEST, now=NOW) is None


@pytest.mark.parametrize("others", [0, 1])
def test_the_suggested_patch_corrects_only_the_generation(others: int) -> None:
    wrong = approved(generation=7)
    request = asked(*[condition("Other")] * others, wrong, generation=3)
    typed = warned(request).partition("To fix it: ")[2].partition(" or: ")[0]
    *words, patch = shlex.split(typed)
    assert words == [
        *("kubectl", "patch", "clusterapprovalrequests", "v2-before-prod"),
        *("--subresource=status", "--type=json", "-p"),
    ]
    path = f"/status/conditions/{others}/observedGeneration"
    assert json.loads(patch) == [{"op": "add", "path": path, "value": 3}]


@pytest.mark.parametrize(
    ("namespace", "kind", "words"),
    [
        ("", CLUSTER_APPROVAL_REQUEST, ["clusterapprovalrequests", "v2-before-prod"]),
        ("team", APPROVAL_REQUEST, ["approvalrequests", "v2-before-prod", "-n", "team"]),
    ],
)
def test_commands_name_kind_and_namespace(namespace: str, kind: Kind, words: list[str]) -> None:
    message = warned(asked(approved(generation=7), namespace=namespace), kind)
    typed, _, command = message.partition("To fix it: ")[2].partition(" or: ")
    assert shlex.split(typed)[2 : 2 + len(words)] == words
    flag = f" -n {namespace}" if namespace else ""
    assert command == f"fleetgate approve v2 prod --before{flag}"


@pytest.mark.parametrize(
    ("side", "flag"), [("beforeStage", " --before"), ("afterStage", " --after"), ("", "")]
)
def test_the_command_names_the_side_if_the_request_does(side: str, flag: str) -> None:
    message = warned(asked(approved(generation=7), side=side))
    assert message.endswith(f" or: fleetgate approve v2 prod{flag}")


def test_the_same_approval_is_warned_about_once_and_another_one_again() -> None:
    seven, eight = (approved(generation=each) for each in (7, 8))
    assert key_of(asked(seven)) == key_of(asked(seven, resourceVersion="9"))
    assert key_of(asked(seven)) != key_of(asked(eight))
    assert key_of(asked(seven)) != key_of(asked(seven | {"message": "really"}))


def test_the_whole_warning_fits_even_with_the_longest_names() -> None:
    name = "v" * 63 + "-before-" + "s" * 63
    request = asked(approved(generation=7), namespace="n" * 63, name=name, generation=10**18)
    assert len(warned(request, APPROVAL_REQUEST)) < 1024


def test_a_command_leaves_out_unknown_parts() -> None:
    command = approve_command(run="v2", stage="prod", side="", namespace="")
    assert command == "fleetgate approve v2 prod"


# -- approvals that count ----------------------------------------------------------------------


def wrote(manager: str, time: str, *kinds: str) -> dict[str, Any]:
    """Return a managed fields entry, as the API server keeps for a writer."""
    owned: dict[str, Any] = {f'k:{{"type":"{kind}"}}': {".": {}} for kind in kinds}
    fields = {"f:status": {"f:conditions": owned}}
    return {"manager": manager, "operation": "Update", "time": time, "fieldsV1": fields}


KUBECTL = wrote("kubectl-patch", "2026-01-02T03:04:05Z", "Approved")


@pytest.mark.parametrize(
    ("writers", "tool"),
    [
        ([], ""),
        ([KUBECTL], "kubectl-patch"),
        ([wrote("fleetgate-engine-approved", "2026-01-02T03:04:05Z", "Approved")], ""),
        (
            [wrote("other", "2026-01-02T09:00:00Z", "ApprovalAccepted"), KUBECTL],
            "kubectl-patch",
        ),
        ([wrote("portal", "2026-01-02T09:00:00Z", "Approved"), KUBECTL], "portal"),
        ([{"manager": "odd"}], ""),
    ],
    ids=["unknown", "kubectl", "own", "not its condition", "the last one", "without fields"],
)
def test_an_approval_names_the_tool_it_was_given_with(
    writers: list[dict[str, Any]], tool: str
) -> None:
    found = given(asked(approved(), managedFields=writers))
    assert found == Given(tool=tool, message="lgtm")


def test_an_approval_without_a_message_shows_its_reason() -> None:
    assert given(asked(approved(message=""))).message == "testPassed"


def test_long_messages_are_cut() -> None:
    assert given(asked(approved(message="x" * 5000))).message == "x" * signatures.MAX_SAID


def test_an_approval_removed_after_its_acceptance_names_no_giver() -> None:
    assert given(asked(condition("ApprovalAccepted"))) == Given()
