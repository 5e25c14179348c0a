"""Every way in which a run fails: its text, as the contract has it, and what is behind it.

One definition makes the text of an error and recognises it in a condition on the hub, from which
commands explain it. To add a failure, add a definition here and raise its error.

contract: update-runs 5, 7, 8.4 to 8.6, 8.8, 9, 10.1 and 11, placement 2.1
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import reduce
from typing import Final, Self

from api.kinds import Scope
from api.texts import Text
from planning.errors import (
    ABORTED,
    NOT_VALID,
    UNEXPECTED,
    USER_ERROR,
    InitializationError,
    RunAborted,
    RunError,
    StageAborted,
    Superseded,
)

_PREFIX: Final[dict[type[RunError], str]] = {
    InitializationError: NOT_VALID,
    RunAborted: ABORTED,
    StageAborted: ABORTED,
    Superseded: ABORTED,
}


@dataclass(frozen=True, slots=True)
class Meaning:
    """Explanation of a text: its cause, and what to do about it."""

    cause: str
    fix: str
    commands: tuple[str, ...] = ()
    """Commands that show the problem or fix it."""

    def fill(self, names: Mapping[str, str]) -> Self:
        """Return the explanation with the names that it has in braces filled in."""
        return type(self)(
            cause=self.cause.format_map(names),
            fix=self.fix.format_map(names),
            commands=tuple(each.format_map(names) for each in self.commands),
        )


@dataclass(frozen=True, slots=True)
class RunFailure:
    """One way in which a run fails."""

    text: Text
    """What the message says, without the prefixes that all messages share."""
    cause: str
    """What happened, in whole sentences; parameters of the text and of the run in braces."""
    fix: str
    commands: tuple[str, ...]
    """Commands that show or fix the problem."""
    ends: type[RunError] = RunAborted
    """Which error it is: whether the run cannot start, or cannot continue."""
    fault: str = ""
    """Prefix that says who can fix it: `USER_ERROR`, `UNEXPECTED`, or none."""
    separator: str = ": "
    """Between the prefix of the error and the rest; one text of the contract has a comma."""

    def words(self, **parameters: object) -> str:
        """Return the message without the prefix of a run's error."""
        text = self.text.fill(**parameters)
        return f"{self.fault}: {text}" if self.fault else text

    def error(self, **parameters: object) -> RunError:
        """Return the error to raise."""
        return self.ends(f"{_PREFIX[self.ends]}{self.separator}{self.words(**parameters)}")


_SHOW_PLACEMENT: Final = "kubectl describe {placements} {placement}{flag}"
_SHOW_STRATEGY: Final = "kubectl get {strategies} {strategy}{flag} -o yaml"
_SHOW_LABELS: Final = "kubectl get memberclusters --show-labels"
_SHOW_BINDINGS: Final = "kubectl get {bindings}{flag} -l kubernetes-fleet.io/parent-CRP={placement}"
_SHOW_POLICIES: Final = (
    "kubectl get {policies}{flag} -l kubernetes-fleet.io/parent-CRP={placement} --show-labels"
)
_SHOW_SNAPSHOTS: Final = (
    "kubectl get {snapshots}{flag} -l kubernetes-fleet.io/parent-CRP={placement}"
    " -L kubernetes-fleet.io/resource-index"
)
_RUNS: Final = "fleetgate run list{flag}"
_LIST_RULES: Final = "fleetgate policy list{flag}"
_SHOW_RULES: Final = "fleetgate policy show {strategy} --placement {placement}{flag}"


def _at_planning(
    text: str, cause: str, fix: str, *commands: str, fault: str = "", separator: str = ": "
) -> RunFailure:
    return RunFailure(Text(text), cause, fix, commands, InitializationError, fault, separator)


def _in_progress(
    text: str,
    cause: str,
    fix: str,
    *commands: str,
    fault: str = "",
    ends: type[RunError] = RunAborted,
) -> RunFailure:
    return RunFailure(Text(text), cause, fix, commands, ends, fault)


# -- the placement -------------------------------------------------------------------------

PLACEMENT_MISSING: Final = _at_planning(
    "parent placement not found",
    "{placement_kind} {placement} does not exist{where}, or is being deleted.",
    "Create the placement or name another one. A ClusterStagedUpdateRun rolls out a "
    "ClusterResourcePlacement, a StagedUpdateRun a ResourcePlacement in its own namespace.",
    "kubectl get {placements}{flag}",
    fault=USER_ERROR,
)
PLACEMENT_NOT_EXTERNAL: Final = _at_planning(
    "parent placement does not have an external rollout strategy, current strategy: {type}",
    "The placement {placement} rolls out without update runs: its strategy is of type {type}.",
    "Set its spec.strategy.type to External, so that runs roll it out. This cannot be undone.",
    "kubectl patch {placements} {placement}{flag} --type merge"
    ' -p \'{{"spec":{{"strategy":{{"type":"External"}}}}}}\'',
    fault=USER_ERROR,
)
PLACEMENT_NAME_TOO_LONG: Final = _at_planning(
    "the name of placement `{key}` has {length} characters, but must fit a label value, which has "
    "at most 63; create a placement with a shorter name",
    "The name of the placement is too long: the objects that belong to it carry it as a label, and "
    "label values have at most 63 characters.",
    "Create a placement with a shorter name for the same resources.",
    _SHOW_PLACEMENT,
    fault=USER_ERROR,
)
POLICY_MISSING: Final = _at_planning(
    "no latest policy snapshot found for placement {key}",
    "No clusters have been picked for the placement {placement} yet.",
    "Check that a worker with the role placement, or KubeFleet's hub agent, is running, and wait "
    "until the placement's condition Scheduled is True.",
    _SHOW_PLACEMENT,
)
SEVERAL_POLICIES: Final = _at_planning(
    "multiple active policy snapshots found for placement {key}: got {found}, want 1",
    "Two policy snapshots of the placement {placement} are marked as the latest: their writer "
    "stopped halfway, or one was labelled by hand.",
    "Remove the label kubernetes-fleet.io/is-latest-snapshot from the older one.",
    _SHOW_POLICIES,
    fault=UNEXPECTED,
)
_POLICY_EDITED: Final = (
    "The policy snapshot {snapshot} was edited by hand: a label or annotation is missing or wrong.",
    "Restore the value, or change the placement's policy, which creates a new policy snapshot.",
    _SHOW_POLICIES,
)
POLICY_WITHOUT_INDEX: Final = _at_planning(
    "policy snapshot `{snapshot}` does not have a policy index label",
    *_POLICY_EDITED,
    fault=UNEXPECTED,
)
POLICY_WITHOUT_COUNT: Final = _at_planning(
    "{fault}: the policy snapshot `{snapshot}` doesn't have valid cluster count annotation",
    *_POLICY_EDITED,
    fault=UNEXPECTED,
    separator=", ",
)
POLICY_NOT_SCHEDULED: Final = _at_planning(
    "policy snapshot `{snapshot}` not fully scheduled yet",
    "The policy of the placement {placement} asks for more clusters than can be picked.",
    "Register more clusters, fix those that are not eligible, or ask for fewer. The placement's "
    "conditions say why each cluster was not picked.",
    _SHOW_PLACEMENT,
    "kubectl get memberclusters",
)
NO_BINDINGS: Final = _at_planning(
    "no scheduled or to-be-deleted bindings found for the latest policy snapshot {snapshot}",
    "The placement {placement} picks no cluster, so there is nothing to roll out to.",
    "Register clusters, or correct the placement's policy so that it picks some.",
    _SHOW_PLACEMENT,
    "kubectl get memberclusters",
)
BINDINGS_MISSING: Final = _at_planning(
    "the number of selected bindings {found} is not equal to the observed cluster count {wanted}",
    "The policy picked {wanted} clusters, but only {found} of them have a binding: scheduling had "
    "not finished.",
    "Wait until the placement reports Scheduled for all of them.",
    _SHOW_BINDINGS,
    fault=UNEXPECTED,
)
UNKNOWN_KIND: Final = _at_planning(
    "invalid placement {key}, failed to get GVR of the selector: "
    'no matches for kind "{kind}" in version "{version}"',
    "The placement {placement} selects objects of kind {kind} ({version}), which the hub does not "
    "serve.",
    "Correct group, version and kind in spec.resourceSelectors, or install the CRD on the hub.",
    "kubectl api-resources | grep -i {kind}",
    fault=USER_ERROR,
)
CLOSED_NAMESPACE: Final = _at_planning(
    # "clusterRresourcePlacement" is KubeFleet's spelling.
    "invalid clusterRresourcePlacement {name}: namespace {closed} is not allowed to propagate",
    "The placement {placement} selects the namespace {closed}, which belongs to Kubernetes or to "
    "the fleet and is never placed.",
    "Select a namespace of your own.",
    _SHOW_PLACEMENT,
    fault=USER_ERROR,
)
_SELECTORS_NOT_VALID: Final = (
    "The resource selectors of the placement {placement} are not valid: the message says why.",
    "Correct spec.resourceSelectors.",
    _SHOW_PLACEMENT,
)
NO_NAMESPACE: Final = _at_planning(
    "invalid clusterResourcePlacement {name}: NamespaceWithResourceSelectors mode requires exactly "
    "one namespace, but no namespaces were selected",
    *_SELECTORS_NOT_VALID,
    fault=USER_ERROR,
)
INVALID_SELECTOR: Final = _at_planning(
    "invalid placement {key}: {why}", *_SELECTORS_NOT_VALID, fault=USER_ERROR
)
SELECTED_TWICE: Final = _at_planning(
    "found duplicate resource {twice}", *_SELECTORS_NOT_VALID, fault=USER_ERROR
)

# -- the strategy --------------------------------------------------------------------------

STRATEGY_MISSING: Final = _at_planning(
    "referenced updateStrategy not found: `{key}`",
    "{strategy_kind} {strategy} does not exist{where}.",
    "Create the strategy or name another one. A StagedUpdateRun uses a StagedUpdateStrategy in its "
    "own namespace.",
    "kubectl get {strategies}{flag}",
    fault=USER_ERROR,
)
TASKS_NOT_VALID: Final = _at_planning(
    "the {side} stage tasks are invalid, updateStrategy: `{key}`, stage: {stage}, err: {why}",
    "The {side}-stage tasks of stage {stage} of the strategy {strategy} are not valid: {why}.",
    "Correct {side}StageTasks of the stage. Allowed before a stage: at most one Approval. Allowed "
    "after it: at most one Approval and one TimedWait with a waitTime above 0s.",
    _SHOW_STRATEGY,
    fault=USER_ERROR,
)
SELECTOR_NOT_VALID: Final = _at_planning(
    "the stage label selector is invalid, updateStrategy: `{key}`, stage: {stage}, err: {why}",
    "The labelSelector of stage {stage} of the strategy {strategy} is not valid: {why}.",
    "Correct the stage's labelSelector.",
    _SHOW_STRATEGY,
    fault=USER_ERROR,
)
CLUSTER_IN_TWO_STAGES: Final = _at_planning(
    "cluster `{cluster}` appears in more than one stages",
    "The labels of cluster {cluster} match two stages of the strategy {strategy}.",
    "Make the labelSelectors of the stages mutually exclusive, or correct the cluster's labels.",
    "kubectl get membercluster {cluster} --show-labels",
    _SHOW_STRATEGY,
    fault=USER_ERROR,
)
SORTING_LABEL_NOT_VALID: Final = _at_planning(
    "the sorting label `{key}:{value}` on cluster `{cluster}` is not valid: {why}",
    "The stage sorts its clusters by the label {key}, and its value on cluster {cluster} is not a "
    'whole number: "{value}".',
    "Set that label to a whole number on every cluster of the stage.",
    "kubectl label membercluster {cluster} --overwrite {key}=1",
    fault=USER_ERROR,
)
CLUSTERS_WITHOUT_STAGE: Final = _at_planning(
    "some clusters are not placed in any stage, total {total}, showing up to {shown}: {clusters}",
    "The placement picks clusters that no stage of the strategy {strategy} selects, {total} in "
    "total: {clusters}.",
    "Label the clusters so that a stage selects them, or add a stage for them: a run must cover "
    "every picked cluster.",
    _SHOW_LABELS,
    _SHOW_STRATEGY,
    fault=USER_ERROR,
)
TOO_MANY_WITHOUT_STAGE: Final = _at_planning(
    "{total} of the {of} picked clusters are not placed in any stage, and the rollout policy "
    "ignores {most} at most (membership.unassignedMost): {clusters}",
    "The placement picks more clusters that no stage of the strategy {strategy} selects than the "
    "rollout policy lets a run leave out: {clusters}.",
    "Label the clusters so that a stage selects them, or raise membership.unassignedMost.",
    _SHOW_LABELS,
    _SHOW_RULES,
    fault=USER_ERROR,
)
POLICIES_DISAGREE: Final = _at_planning(
    "rollout policies `{first}` and `{second}` contradict each other{among}: {field} is {one} in "
    "the one and {other} in the other",
    "Rollout policies {first} and {second} both apply to the run, neither is more specific than "
    "the other, and they set {field} to different values.",
    "Set {field} in one of them only, or let one be more specific: a policy that names the stage "
    "wins over one that does not, then one that targets the strategy over one that targets the "
    "placement.",
    _SHOW_RULES,
    fault=USER_ERROR,
)
POLICY_SELECTOR_NOT_VALID: Final = _at_planning(
    "rollout policy `{policy}` has an invalid selector in targetRefs: {why}",
    "Rollout policy {policy} selects its targets by labels, and the API server does not accept the "
    "selector: {why}.",
    "Fix the selector in the targetRefs of the policy.",
    _LIST_RULES,
    fault=USER_ERROR,
)
POLICY_STAGE_UNKNOWN: Final = _at_planning(
    "rollout policy `{policy}` names stage `{stage}`, which strategy `{named}` does not have; its "
    "stages are {known}",
    "Rollout policy {policy} is for stage {stage} of strategy {named}, which has only {known}.",
    "Fix the name of the stage in the policy's targetRefs, or in the strategy.",
    _SHOW_RULES,
    _SHOW_STRATEGY,
    fault=USER_ERROR,
)
POLICY_FIELD_ALONE: Final = _at_planning(
    "rollout policy `{policy}` sets {field}, which has no effect without {needed}: set that too",
    "Rollout policy {policy} sets {field}, but no policy that applies to the run sets {needed}, "
    "without which it would be ignored.",
    "Set {needed} too, or remove {field}.",
    _SHOW_RULES,
    fault=USER_ERROR,
)
POLICY_LIMITS_NOTHING: Final = _at_planning(
    "rollout policy `{policy}` sets membership.unassignedMost, which has no effect unless "
    "membership.unassigned is Ignore",
    "Rollout policy {policy} limits how many clusters may be left out of the stages, but no policy "
    "that applies to the run lets it leave out any.",
    "Set membership.unassigned to Ignore too, or remove membership.unassignedMost.",
    _SHOW_RULES,
    fault=USER_ERROR,
)
STRATEGY_TOO_LARGE: Final = _at_planning(
    "the run is too large: its status would grow to {size} bytes, and etcd accepts at most {most} "
    "per object; most of that is the copy of the strategy: give the strategy fewer or shorter "
    "selectors",
    "The run would not fit into its object: its status would grow to {size} bytes, and etcd "
    "accepts at most {most} per object, most of it the strategy {strategy}.",
    "Give the strategy fewer or shorter selectors.",
    _SHOW_STRATEGY,
    fault=USER_ERROR,
)
RUN_TOO_LARGE: Final = _at_planning(
    "the run is too large: {why}: {remedy}",
    "The run would not fit into its object or its workflow: {why}.",
    "To fix it, {remedy}.",
    _SHOW_STRATEGY,
    fault=USER_ERROR,
)
CONCURRENCY_NOT_VALID: Final = _in_progress(
    'invalid value for IntOrString: invalid value "{value}"',
    "maxConcurrency of a stage is neither a number nor a percentage.",
    "Correct maxConcurrency in the strategy: a number such as 3, or a percentage such as 25%.",
    _SHOW_STRATEGY,
)

# -- the snapshot --------------------------------------------------------------------------

_OTHER_INDEX: Final = (
    "Use the index of an existing snapshot, or leave it out to roll out the hub's current content."
)
INDEX_NOT_VALID: Final = _at_planning(
    "invalid resource snapshot index `{index}` provided, expected an integer >= 0",
    'resourceSnapshotIndex of the run is "{index}", which is not a snapshot index.',
    _OTHER_INDEX,
    _SHOW_SNAPSHOTS,
    fault=USER_ERROR,
)
SNAPSHOT_MISSING: Final = _at_planning(
    "no resourceSnapshots with index `{index}` found for placement `{key}`",
    "The placement {placement} has no snapshot with index {index}: it was never taken, or has been "
    "pruned.",
    _OTHER_INDEX,
    _SHOW_SNAPSHOTS,
    fault=USER_ERROR,
)
_PARTS_MISSING: Final = (
    "Parts of the snapshot are missing: one was deleted, changed, or was still being written.",
    "Use another index, or leave it out to roll out the hub's current content.",
    _SHOW_SNAPSHOTS,
)
MASTER_MISSING: Final = _at_planning(
    "no master resourceSnapshot found for placement {key}", *_PARTS_MISSING, fault=UNEXPECTED
)
MASTER_WITHOUT_COUNT: Final = _at_planning(
    "master resource snapshot `{master}` has an invalid snapshot count `{count}` in annotation "
    "{annotation}",
    *_PARTS_MISSING,
    fault=UNEXPECTED,
)
PARTS_MISSING: Final = _at_planning(
    "not all resource snapshot in the same index group are created: resource snapshots are still "
    "being created for the masterResourceSnapshot {master}, total snapshot in the index group = "
    "{size}, num Of existing snapshot in the group= {found}, placement = {key}",
    *_PARTS_MISSING,
)
OVERRIDE_SELECTOR_NOT_VALID: Final = _at_planning(
    "invalid cluster label selector of {kind}Snapshot `{name}`: {why}",
    "The override behind the {kind}Snapshot {name} has an invalid cluster label selector: {why}.",
    "Correct the override's clusterSelector; its new snapshot takes effect at once.",
    "kubectl get {kind} -A",
    fault=UNEXPECTED,
)
ENVELOPE_NOT_READABLE: Final = _at_planning(
    "{kind} `{name}` holds an entry that is not an object: {why}",
    "The {kind} {name} on the hub holds an entry that is not a Kubernetes object: {why}.",
    "Correct its data: each entry must be a complete object with apiVersion, kind and metadata.",
    "kubectl get {kind} -A",
    fault=UNEXPECTED,
)
CLUSTER_LEFT: Final = _at_planning(
    '{kind} "{cluster}" not found',
    "Cluster {cluster} left the fleet while the run was being planned.",
    "Wait until the placement has rescheduled, then create a new run.",
    "kubectl get memberclusters",
)

# -- Temporal and the hub have lost something ----------------------------------------------

_CHECK_SNAPSHOTS: Final = (
    "Check which snapshot each cluster has, and create a new run for the one they should have.",
    _SHOW_BINDINGS,
    _SHOW_SNAPSHOTS,
)
_NOTHING_AGAIN: Final = (
    "nothing was rolled out again; create a new run for the snapshot that the clusters should have"
)
END_RESTORED: Final = _in_progress(
    "the hub was restored from a backup that is older than this run's end (Temporal: {ended}); "
    + _NOTHING_AGAIN,
    "The hub was restored to a time at which the run was still in progress, but in Temporal it had "
    "ended ({ended}). Clusters whose bindings were restored have the earlier snapshot again.",
    *_CHECK_SNAPSHOTS,
)
WORK_RESTORED: Final = _in_progress(
    "the hub was restored from a backup that is older than what this run has done: {count} updated "
    "cluster(s) have earlier content again ({back}); " + _NOTHING_AGAIN,
    "The hub was restored to a time before the run had updated {back}: their bindings, and so the "
    "clusters, have the earlier snapshot again.",
    *_CHECK_SNAPSHOTS,
)
ENDED_IN_TEMPORAL: Final = _in_progress(
    "the run's workflow was ended in Temporal ({ended}); " + _NOTHING_AGAIN,
    "The run's workflow was ended in Temporal ({ended}) while the run was in progress.",
    "Create a new run. To halt a run, use `fleetgate run stop` and leave its workflow alone.",
    _RUNS,
)
CANCELLED_IN_TEMPORAL: Final = _in_progress(
    "the workflow was cancelled in Temporal{reason}",
    "The run's workflow was cancelled in Temporal, by hand or with a tool.",
    "Create a new run. To halt a run, use `fleetgate run stop`, not Temporal's cancellation.",
    _RUNS,
    fault=USER_ERROR,
)
NOT_RESUMABLE: Final = _in_progress(
    "{problem}; Temporal does not know this run any more, and its status cannot be resumed; "
    "nothing more was rolled out; create a new run",
    "Temporal lost the run's workflow, and the run's status on the hub cannot replace it: parts "
    "are missing, or it was changed by hand.",
    "Create a new run; clusters that already have its snapshot are not changed by it.",
    _RUNS,
    _SHOW_BINDINGS,
    fault=UNEXPECTED,
)
STAGE_HAD_FAILED: Final = _in_progress(
    "the stage `{stage}` has failed, err: {error}",
    "Stage {stage} had failed before Temporal lost the run's workflow: {error}.",
    "Fix what that message names and create a new run.",
    _RUNS,
)
CLUSTER_HAD_FAILED: Final = _in_progress(
    "the cluster `{cluster}` in the stage {stage} has failed",
    "The update of cluster {cluster} had failed before Temporal lost the run's workflow.",
    "Create a new run; clusters that already have its snapshot are not changed by it.",
    _RUNS,
)

# -- something that the run depends on has changed -----------------------------------------

_WITH_CURRENT_CLUSTERS: Final = (
    "Create a new run; it is planned with the clusters that are picked now."
)
_WITH_CURRENT_LABELS: Final = (
    "Create a new run; it is planned with the current clusters and labels."
)
APPLY_STRATEGY_CHANGED: Final = _in_progress(
    "the applyStrategy in the updateRun is outdated, latest: {latest}, recorded: {recorded}",
    "The apply strategy of the placement {placement} was changed while the run was in progress. "
    "Some clusters would have been updated with the old one and some with the new.",
    "Create a new run; it uses the current apply strategy.",
    _SHOW_PLACEMENT,
    fault=USER_ERROR,
)
POLICY_CHANGED: Final = _in_progress(
    "the policy snapshot index used in the updateRun is outdated, latest: {latest}, recorded: "
    "{recorded}",
    "The policy of the placement {placement} was changed while the run was in progress (policy "
    "snapshot {recorded}, now {latest}). The run's plan may miss clusters.",
    _WITH_CURRENT_CLUSTERS,
    _SHOW_PLACEMENT,
)
CLUSTER_COUNT_CHANGED: Final = _in_progress(
    "the cluster count initialized in the updateRun is outdated, latest: {latest}, recorded: "
    "{recorded}",
    "The placement {placement} picks {latest} clusters now, but picked {recorded} when the run was "
    "planned.",
    _WITH_CURRENT_CLUSTERS,
    _SHOW_PLACEMENT,
)
STAGE_SIZE_CHANGED: Final = _in_progress(
    "the number of clusters in index `{stage}` stage has changed, new: {new}, existing: {existing}",
    "A stage has {new} clusters now, but had {existing} when the run was planned: clusters joined, "
    "left or were relabelled.",
    _WITH_CURRENT_LABELS,
    _SHOW_LABELS,
)
CLUSTER_REPLACED: Final = _in_progress(
    "the `{position}` cluster in the `{stage}` stage has changed, new: {new}, existing: {existing}",
    "Cluster {new} now has the place in its stage that {existing} had when the run was planned: "
    "clusters were relabelled, or one replaced another.",
    _WITH_CURRENT_LABELS,
    _SHOW_LABELS,
)
CLUSTER_NOT_PICKED: Final = _in_progress(
    "the cluster `{cluster}` to be deleted is not in the delete stage",
    "The placement {placement} stopped picking cluster {cluster} while the run was in progress.",
    "Create a new run; it removes the objects from that cluster.",
    _SHOW_PLACEMENT,
    fault=UNEXPECTED,
)
_PICKED_AGAIN: Final = (
    "The placement {placement} picked cluster {cluster} again while the run was removing it.",
    _WITH_CURRENT_CLUSTERS,
    _SHOW_BINDINGS,
)
DELETED_CLUSTER_BOUND: Final = _in_progress(
    "the deleted cluster `{cluster}` in the deleting stage still has a binding",
    *_PICKED_AGAIN,
    fault=UNEXPECTED,
    ends=StageAborted,
)
BINDING_NOT_DELETING: Final = _in_progress(
    "the cluster `{cluster}` in the deleting stage is marked as deleting but its corresponding "
    "binding is not deleting",
    *_PICKED_AGAIN,
    fault=UNEXPECTED,
    ends=StageAborted,
)
_STATUS_EDITED: Final = (
    "The status of the run, which holds its plan, was changed by hand.",
    "Create a new run, and leave the status of runs to fleetgate.",
    _RUNS,
)
STATUS_WITHOUT_PART: Final = _in_progress(
    "the updateRun has nil {part}", *_STATUS_EDITED, fault=UNEXPECTED
)
STAGE_COUNT_CHANGED: Final = _in_progress(
    "the number of stages in the updateRun has changed, new: {new}, existing: {existing}",
    *_STATUS_EDITED,
)
STAGE_NAME_CHANGED: Final = _in_progress(
    "index `{index}` stage name in the updateRun has changed, new: {new}, existing: {existing}",
    *_STATUS_EDITED,
)
APPROVAL_OF_ANOTHER: Final = _in_progress(
    # The backtick that is missing after the wanted run is missing in the contract too.
    "the approval request task `{request}` is targeting update run `{run}` and stage `{stage}`, "
    "want target update run `{wanted_run} and stage `{wanted_stage}`",
    "An approval request named {request} already exists and belongs to another run or stage.",
    "Delete it, then create a new run.",
    "kubectl get {approvals}{flag}",
    fault=UNEXPECTED,
)
CLUSTER_PREEMPTED: Final = _in_progress(
    "the binding of the updating cluster `{cluster}` in the stage `{stage}` is not up-to-date with "
    "the desired status, please check the status of binding `{binding}` and see if there is a "
    "concurrent updateRun referencing the same placement and updating the same cluster",
    "The binding of cluster {cluster} was changed, most likely by another run of the placement "
    "{placement}, while this run was updating it. The last writer wins.",
    "Let the other run finish. If there is none, create a new run.",
    _RUNS,
    _SHOW_BINDINGS,
    fault=USER_ERROR,
)

TAKES_BACK: Final = Text("run {rollback} takes {back} back to snapshot {index}")
"""What the run does that rolls back another one."""
ROLLED_BACK: Final = _in_progress(
    "{failed} of the {clusters} clusters {among} failed and {limit}: {names}; "
    + TAKES_BACK.template,
    "More clusters failed than the rollout policy allows, and the policy rolls the run back then.",
    "Watch run {rollback}, and find out why the clusters failed.",
    "fleetgate run watch {rollback}{flag}",
    ends=StageAborted,
)
TOO_MANY_FAILED: Final = _in_progress(
    "{failed} of the {clusters} clusters {among} failed and {limit}: {names}",
    "More clusters failed than the rollout policy allows, and the policy ends the run then.",
    "Find out why they failed, then create a new run, or roll back.",
    "fleetgate rollback {placement}{flag}",
    ends=StageAborted,
)

NOT_ADMITTED: Final = _in_progress(
    "run {run} of the same placement is ahead, and the rollout policy refuses concurrent runs",
    "Run {run} of the placement {placement} was not over when this run was to begin, and the "
    "rollout policy lets no run begin then (concurrentRuns: Refuse). No cluster was touched.",
    "Wait for run {run} or stop and delete it, then create a new run.",
    "fleetgate run explain {run}{flag}",
    fault=USER_ERROR,
)
REPLACED: Final = _in_progress(
    "{newer} replaces this one",
    "A newer run of the placement {placement} was to begin, and the rollout policy lets it replace "
    "older runs (concurrentRuns: Supersede). Clusters in flight were waited for.",
    "Nothing: the newer run updates all clusters.",
    _RUNS,
    ends=Superseded,
)

ALL: Final = tuple(each for each in list(globals().values()) if isinstance(each, RunFailure))
"""Every failure, in the order of this module: narrower texts come before wider ones."""

_MEANINGLESS: Final = (ABORTED, NOT_VALID.removeprefix(f"{ABORTED}: "), USER_ERROR)
"""Prefixes of messages that mean nothing to a reader, the outermost first."""
_SHARED: Final = ("", *_MEANINGLESS, UNEXPECTED)
_HUB_INCONSISTENT: Final = Meaning(
    "The hub is in a state that should not occur: objects were changed by hand, or this is a bug.",
    "Check the objects that the message names, fix them and create a new run.",
    (_SHOW_PLACEMENT,),
)
_UNKNOWN: Final = Meaning(
    "Something that the run needs is missing or not valid; the message names it.",
    "Fix what the message names and create a new run.",
    (_SHOW_PLACEMENT,),
)


def recognise(message: str) -> tuple[RunFailure, dict[str, str]] | None:
    """Return the failure that makes a condition's message, with its parameters.

    Of several that came together, the first that is known. None for a text that no definition
    makes, such as an answer of the API server.
    """
    for bare in _bare(message):
        for failure in ALL:
            if (parameters := failure.text.read(bare)) is not None:
                return failure, parameters
    return None


def taken_back(message: str) -> dict[str, str] | None:
    """Return the parameters of TAKES_BACK if another run rolls back the one with this message."""
    found = next(filter(None, map(ROLLED_BACK.text.read, _bare(message))), None)
    return {name: found[name] for name in TAKES_BACK.parameters} if found else None


def reason(message: str) -> str:
    """Return a message without the prefixes that mean nothing to a reader."""
    return reduce(_without, _MEANINGLESS, message)


def _bare(message: str) -> Iterator[str]:
    """Yield the texts of a message without the prefixes that all messages share."""
    several = message.startswith("[") and message.endswith("]")
    for bare in message[1:-1].split(f", {ABORTED}") if several else [message]:
        yield reduce(_without, _SHARED, bare)


def _without(text: str, prefix: str) -> str:
    return text.removeprefix(prefix).lstrip(":, ")


def explain(
    message: str, *, scope: Scope, placement: str, strategy: str, namespace: str = ""
) -> Meaning:
    """Explain the message of a failed run, taken from its condition Initialized or Succeeded.

    `scope`, `placement`, `strategy` and `namespace` are the run's.
    """
    names = {
        "placement": placement,
        "strategy": strategy,
        "flag": f" -n {namespace}" if namespace else "",
        "where": f" in namespace {namespace}" if namespace else "",
        "placement_kind": scope.placement.kind,
        "strategy_kind": scope.strategy.kind,
        "placements": scope.placement.plural,
        "strategies": scope.strategy.plural,
        "bindings": scope.binding.plural,
        "policies": scope.policy_snapshot.plural,
        "snapshots": scope.resource_snapshot.plural,
        "approvals": scope.approval.plural,
    }
    if found := recognise(message):
        failure, parameters = found
        return Meaning(failure.cause, failure.fix, failure.commands).fill(names | parameters)
    return (_HUB_INCONSISTENT if UNEXPECTED in message else _UNKNOWN).fill(names)
