"""Explanations of the messages that runs fail with."""

import pytest

from api.kinds import CLUSTER_SCOPE, NAMESPACED_SCOPE, POD, Scope
from api.texts import Text
from planning import failures
from planning.errors import ABORTED, USER_ERROR, InitializationError, RunAborted, RunError
from planning.failures import Meaning, RunFailure
from planning.overrides.matching import UnreadableError
from planning.placements.selecting import Selecting, SelectionError
from planning.runs import initialization, restored
from planning.runs.restored import Ended
from tests.planning.run_samples import NOW
from tests.planning.runs import test_initialization, test_validation

SCOPES = pytest.mark.parametrize(
    ("scope", "namespace"),
    [(CLUSTER_SCOPE, ""), (NAMESPACED_SCOPE, "team")],
    ids=["cluster", "namespaced"],
)
SELECTING = Selecting(namespace="", name="web")


def explained(text: str, scope: Scope = CLUSTER_SCOPE, namespace: str = "") -> Meaning:
    return failures.explain(
        text, scope=scope, placement="web", strategy="slow", namespace=namespace
    )


def refused(error: SelectionError) -> str:
    return str(error.of_run)


def not_readable(why: str) -> str:
    failure = failures.ENVELOPE_NOT_READABLE
    return str(UnreadableError(failure, kind="ResourceEnvelope", name="a/b", why=why))


UNKNOWN = explained("a message that no pattern matches")

PREEMPTED = failures.CLUSTER_PREEMPTED.error(cluster="c", stage="prod", binding="web-c-1")

TEXTS = {
    **{name: text for name, (_, text) in test_initialization.TEXTS.items()},
    **{name: text for name, (_, text) in test_validation.OUTDATED.items()},
    **{name: test_validation.ABORT + text for name, (_, text) in test_validation.MEDDLED.items()},
    "bad index": test_initialization.USER
    + "invalid resource snapshot index `x` provided, expected an integer >= 0",
    "pruned snapshot": str(initialization.snapshot_missing("7", placement="/web")),
    "no master": str(initialization.master_missing(placement="/web")),
    "unknown kind": refused(SELECTING.unknown_kind("Nonsense", "v1")),
    "wrong scope": refused(SELECTING.wrong_scope(POD)),
    "bad labels": refused(SELECTING.bad_labels("x")),
    "closed namespace": refused(SELECTING.closed_namespace("kube-system")),
    "no namespace": refused(SELECTING.no_namespace()),
    "twice": refused(SelectionError(failures.SELECTED_TWICE, twice="/v1, Kind=ConfigMap, a/b")),
    "envelope": not_readable("data.x: no"),
    "override": str(
        UnreadableError(
            failures.OVERRIDE_SELECTOR_NOT_VALID, kind="ResourceOverride", name="a/b-0", why="no"
        )
    ),
    "preempted": str(PREEMPTED),
    "cancelled": f"{ABORTED}: {USER_ERROR}: the workflow was cancelled in Temporal: tidying",
    "long name": test_initialization.USER
    + "the name of placement `/web` has 64 characters, but must fit a label value, which has at "
    "most 63; create a placement with a shorter name",
    "too many clusters": test_initialization.USER
    + "the run is too large: its status would grow to 2 bytes with 9 clusters, and etcd accepts at "
    "most 1 per object: divide the placement, so that a run has at most about 4 clusters like "
    "these",
    "too many labels": test_initialization.USER
    + "the run is too large: its status would grow to 2 bytes, and etcd accepts at most 1 per "
    "object; most of that is the copy of the strategy: give the strategy fewer or shorter "
    "selectors",
    "over in Temporal": restored.ended_text(Ended(how="succeeded", at=NOW)),
    "ended in Temporal": restored.ended_text(Ended(how="terminated", at=NOW, by_itself=False)),
    "restored": f"{ABORTED}: the hub was restored from a backup that is older than what this run "
    "has done: 1 updated cluster(s) have earlier content again (a); nothing was rolled out again; "
    "create a new run for the snapshot that the clusters should have",
    "cannot be resumed": str(
        failures.NOT_RESUMABLE.error(problem="the updateRun has nil deletionStageStatus")
    ),
    "two at once": f"[{ABORTED}: x, {PREEMPTED}]",
}


@pytest.mark.parametrize(
    ("failure", "kind", "prefix"),
    [
        (
            failures.STRATEGY_TOO_LARGE,
            InitializationError,
            "cannot continue the updateRun: failed to validate the updateRun: failed to process ",
        ),
        (failures.CLUSTER_PREEMPTED, RunAborted, "cannot continue the updateRun: "),
    ],
)
def test_an_error_says_whether_the_run_could_start_and_who_can_fix_it(
    failure: RunFailure, kind: type[RunError], prefix: str
) -> None:
    error = failure.error(**dict.fromkeys(failure.text.parameters, "x"))
    assert type(error) is kind
    assert str(error).startswith(prefix)


@SCOPES
@pytest.mark.parametrize("text", TEXTS.values(), ids=list(TEXTS))
def test_every_message_that_a_run_fails_with_is_explained(
    text: str, scope: Scope, namespace: str
) -> None:
    found = explained(text.format(ns=namespace), scope, namespace)
    assert found.cause != UNKNOWN.cause
    assert found.fix != UNKNOWN.fix
    assert found.commands


@SCOPES
@pytest.mark.parametrize("text", TEXTS.values(), ids=list(TEXTS))
def test_commands_can_be_pasted_into_a_shell(text: str, scope: Scope, namespace: str) -> None:
    kinds = (scope.placement, scope.strategy, scope.binding, scope.policy_snapshot)
    for command in explained(text.format(ns=namespace), scope, namespace).commands:
        assert not set(command) & {"`", "<", ">"}
        if any(kind.plural in command for kind in kinds):
            assert (" -n team" in command) == bool(namespace)


@pytest.mark.parametrize(
    ("name", "part"),
    [
        ("7.1 no placement", "ClusterResourcePlacement web does not exist,"),
        ("7.1 another strategy", "of type RollingUpdate"),
        ("pruned snapshot", "no snapshot with index 7"),
        ("unknown kind", "of kind Nonsense (v1)"),
        ("closed namespace", "the namespace kube-system,"),
        ("envelope", "The ResourceEnvelope a/b on the hub"),
        ("override", "behind the ResourceOverrideSnapshot a/b-0 "),
        ("preempted", "The binding of cluster c was changed"),
        ("over in Temporal", "it had ended (succeeded at 2026-01-02T03:04:05Z)"),
        ("restored", "before the run had updated a:"),
        ("cannot be resumed", "Temporal lost the run's workflow"),
        ("two at once", "The binding of cluster c was changed"),
        ("a cluster is to be deleted", "stopped picking cluster c "),
    ],
)
def test_the_cause_repeats_the_names_from_the_message(name: str, part: str) -> None:
    assert part in explained(TEXTS[name].format(ns="")).cause


def test_braces_in_a_message_are_shown_unchanged() -> None:
    assert "{x} and {}" in explained(not_readable("{x} and {}")).cause


def test_an_unknown_message_is_explained_by_who_can_fix_it() -> None:
    defect = explained(f"{ABORTED}: unexpected behavior which cannot be handled by the controller")
    assert "or this is a bug" in defect.cause
    assert UNKNOWN.commands == ("kubectl describe clusterresourceplacements web",)


RUN = {
    *("placement", "strategy", "flag", "where", "placement_kind", "strategy_kind"),
    *("placements", "strategies", "bindings", "policies", "snapshots", "approvals"),
}
"""Names that `explain` knows of any run."""


@pytest.mark.parametrize("failure", failures.ALL, ids=lambda each: each.text.template[:40])
def test_explanations_use_only_known_names_in_braces(failure: RunFailure) -> None:
    whole = "".join((failure.cause, failure.fix, *failure.commands))
    wanted = set(Text(whole).parameters)
    assert wanted <= {*failure.text.parameters, *RUN}
    assert not set(failure.text.parameters) & RUN


@pytest.mark.parametrize("failure", failures.ALL, ids=lambda each: each.text.template[:40])
def test_what_an_error_says_is_recognised(failure: RunFailure) -> None:
    given = {name: f"{number}-x" for number, name in enumerate(failure.text.parameters)}
    assert failures.recognise(str(failure.error(**given))) == (failure, given)
    joined = f"[{failure.error(**given)}, {PREEMPTED}]"
    found = failures.recognise(joined)
    assert found is not None
    assert found[0] is failure


def test_names_of_failures_are_unique() -> None:
    templates = [each.text.template for each in failures.ALL]
    assert len(set(templates)) == len(templates)
