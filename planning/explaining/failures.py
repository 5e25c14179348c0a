"""Why runs fail: the cause behind each final message, and what to do about it.

The messages stay in the objects as the contract has them; these explanations are shown next to
them.

contract: update-runs 7, 8.4 to 8.6, 8.8, 9 and 10.1, placement 2.1
"""

from typing import Final

from api.kinds import Scope
from planning.errors import UNEXPECTED
from planning.explaining.patterns import Meaning, Pattern, meaning

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

_PLACEMENT: Final = (
    Pattern.of(
        r"parent placement not found",
        "{placement_kind} {placement} does not exist{where}, or is being deleted.",
        "Create the placement or name another one. A ClusterStagedUpdateRun rolls out a "
        "ClusterResourcePlacement, a StagedUpdateRun a ResourcePlacement in its own namespace.",
        "kubectl get {placements}{flag}",
    ),
    Pattern.of(
        r"does not have an external rollout strategy, current strategy: (?P<type>\w*)",
        "The placement {placement} rolls out without update runs: its strategy is of type {type}.",
        "Set its spec.strategy.type to External, so that runs roll it out. This cannot be undone.",
        "kubectl patch {placements} {placement}{flag} --type merge"
        ' -p \'{{"spec":{{"strategy":{{"type":"External"}}}}}}\'',
    ),
    Pattern.of(
        r"no latest policy snapshot found",
        "No clusters have been picked for the placement {placement} yet.",
        "Check that a worker with the role placement, or KubeFleet's hub agent, is running, and "
        "wait until the placement's condition Scheduled is True.",
        _SHOW_PLACEMENT,
    ),
    Pattern.of(
        r"multiple active policy snapshots",
        "Two policy snapshots of the placement {placement} are marked as the latest: their writer "
        "stopped halfway, or one was labelled by hand.",
        "Remove the label kubernetes-fleet.io/is-latest-snapshot from the older one.",
        _SHOW_POLICIES,
    ),
    Pattern.of(
        r"policy snapshot `(?P<snapshot>[^`]*)` (?:does not have a policy index label"
        r"|doesn't have valid cluster count annotation)",
        "The policy snapshot {snapshot} lacks a label or annotation that a run reads, or has an "
        "invalid value there: it was changed by hand.",
        "Restore the value, or change the placement's policy, which creates a new policy snapshot.",
        _SHOW_POLICIES,
    ),
    Pattern.of(
        r"policy snapshot `(?P<snapshot>[^`]*)` not fully scheduled yet",
        "The policy of the placement {placement} asks for more clusters than can be picked.",
        "Register more clusters, fix those that are not eligible, or ask for fewer. The "
        "placement's conditions say why each cluster was not picked.",
        _SHOW_PLACEMENT,
        "kubectl get memberclusters",
    ),
    Pattern.of(
        r"no scheduled or to-be-deleted bindings found",
        "The placement {placement} picks no cluster, so there is nothing to roll out to.",
        "Register clusters, or correct the placement's policy so that it picks some.",
        _SHOW_PLACEMENT,
        "kubectl get memberclusters",
    ),
    Pattern.of(
        r"number of selected bindings (?P<found>\d+) is not equal to the observed cluster count "
        r"(?P<wanted>\d+)",
        "The policy picked {wanted} clusters, but only {found} of them have a binding: scheduling "
        "had not finished.",
        "Wait until the placement reports Scheduled for all of them.",
        _SHOW_BINDINGS,
    ),
    Pattern.of(
        r"no matches for kind \"(?P<kind>[^\"]*)\" in version \"(?P<version>[^\"]*)\"",
        "The placement {placement} selects objects of kind {kind} ({version}), which the hub does "
        "not serve.",
        "Correct group, version and kind in spec.resourceSelectors, or install the CRD on the hub.",
        "kubectl api-resources | grep -i {kind}",
    ),
    Pattern.of(
        r"namespace (?P<closed>\S+) is not allowed to propagate",
        "The placement {placement} selects the namespace {closed}, which belongs to Kubernetes or "
        "to the fleet and is never placed.",
        "Select a namespace of your own.",
        _SHOW_PLACEMENT,
    ),
    Pattern.of(
        r"invalid (?:placement|cluster\w*Placement) [^:,]*[:,] ?(?P<why>.*)|"
        r"found duplicate resource (?P<twice>.*)",
        "The resource selectors of the placement {placement} are not valid: the message says "
        "what is wrong.",
        "Correct spec.resourceSelectors.",
        _SHOW_PLACEMENT,
    ),
)

_STRATEGY: Final = (
    Pattern.of(
        r"referenced updateStrategy not found",
        "{strategy_kind} {strategy} does not exist{where}.",
        "Create the strategy or name another one. A StagedUpdateRun uses a StagedUpdateStrategy "
        "in its own namespace.",
        "kubectl get {strategies}{flag}",
    ),
    Pattern.of(
        r"the (?P<side>before|after) stage tasks are invalid, .*stage: (?P<stage>\S+), "
        r"err: (?P<why>.*)",
        "The {side}-stage tasks of stage {stage} of the strategy {strategy} are not valid: {why}.",
        "Correct {side}StageTasks of the stage. Allowed before a stage: at most one Approval. "
        "Allowed after it: at most one Approval and one TimedWait with a waitTime above 0s.",
        _SHOW_STRATEGY,
    ),
    Pattern.of(
        r"the stage label selector is invalid, .*stage: (?P<stage>\S+), err: (?P<why>.*)",
        "The labelSelector of stage {stage} of the strategy {strategy} is not valid: {why}.",
        "Correct the stage's labelSelector.",
        _SHOW_STRATEGY,
    ),
    Pattern.of(
        r"cluster `(?P<cluster>[^`]*)` appears in more than one stages",
        "The labels of cluster {cluster} match two stages of the strategy {strategy}.",
        "Make the labelSelectors of the stages mutually exclusive, or correct the cluster's "
        "labels.",
        "kubectl get membercluster {cluster} --show-labels",
        _SHOW_STRATEGY,
    ),
    Pattern.of(
        r"the sorting label `(?P<key>[^:`]*):(?P<value>[^`]*)` on cluster `(?P<cluster>[^`]*)`",
        "The stage sorts its clusters by the label {key}, and its value on cluster {cluster} is "
        'not a whole number: "{value}".',
        "Set that label to a whole number on every cluster of the stage.",
        "kubectl label membercluster {cluster} --overwrite {key}=1",
    ),
    Pattern.of(
        r"some clusters are not placed in any stage, total (?P<total>\d+), "
        r"showing up to 10: (?P<clusters>.*)",
        "The placement picks clusters that no stage of the strategy {strategy} selects, {total} "
        "in total: {clusters}.",
        "Label the clusters so that a stage selects them, or add a stage for them: a run must "
        "cover every picked cluster.",
        _SHOW_LABELS,
        _SHOW_STRATEGY,
    ),
    Pattern.of(
        r"the name of placement `(?P<long>[^`]*)` has (?P<number>\d+) characters",
        "The name of the placement is too long: the objects that belong to it carry it as a "
        "label, and label values have at most 63 characters.",
        "Create a placement with a shorter name for the same resources.",
        _SHOW_PLACEMENT,
    ),
    Pattern.of(
        r"the run is too large: (?P<why>[^:]*): (?P<cure>.*)",
        "The run would not fit into its object or its workflow: {why}.",
        "To fix it, {cure}.",
        _SHOW_STRATEGY,
    ),
    Pattern.of(
        r"the run is too large: (?P<why>[^;]*); most of that is the copy of the strategy",
        "The run would not fit into its object: {why}, most of it the strategy {strategy}.",
        "Give the strategy fewer or shorter selectors.",
        _SHOW_STRATEGY,
    ),
    Pattern.of(
        r"invalid value for IntOrString",
        "maxConcurrency of a stage is neither a number nor a percentage.",
        "Correct maxConcurrency in the strategy: a number such as 3, or a percentage such as 25%.",
        _SHOW_STRATEGY,
    ),
)

_VERSION: Final = (
    Pattern.of(
        r"invalid resource snapshot index `(?P<index>[^`]*)`",
        'resourceSnapshotIndex of the run is "{index}", which is not a snapshot index.',
        "Use the index of an existing snapshot, or leave it out to roll out the hub's current "
        "content.",
        _SHOW_SNAPSHOTS,
    ),
    Pattern.of(
        r"no resourceSnapshots with index `(?P<index>[^`]*)` found",
        "The placement {placement} has no snapshot with index {index}: it was never taken, or has "
        "been pruned.",
        "Use the index of an existing snapshot, or leave it out to roll out the hub's current "
        "content.",
        _SHOW_SNAPSHOTS,
    ),
    Pattern.of(
        r"no master resourceSnapshot found|has an invalid snapshot count|"
        r"not all resource snapshot in the same index group are created",
        "Parts of the snapshot are missing: a resource snapshot was deleted or changed, or was "
        "still being written.",
        "Use another index, or leave it out to roll out the hub's current content.",
        _SHOW_SNAPSHOTS,
    ),
    Pattern.of(
        r"invalid cluster label selector of (?P<kind>\w+)Snapshot `(?P<name>[^`]*)`: (?P<why>.*)",
        "The override behind the {kind}Snapshot {name} has an invalid cluster label selector: "
        "{why}.",
        "Correct the override's clusterSelector; its new snapshot takes effect at once.",
        "kubectl get {kind} -A",
    ),
    Pattern.of(
        r"(?P<kind>\w+) `(?P<name>[^`]*)` holds an entry that is not an object: (?P<why>.*)",
        "The {kind} {name} on the hub holds an entry that is not a Kubernetes object: {why}.",
        "Correct its data: each entry must be a complete object with apiVersion, kind and "
        "metadata.",
        "kubectl get {kind} -A",
    ),
    Pattern.of(
        r'MemberCluster\.\S+ "(?P<cluster>[^"]*)" not found',
        "Cluster {cluster} left the fleet while the run was being planned.",
        "Wait until the placement has rescheduled, then create a new run.",
        "kubectl get memberclusters",
    ),
)

_LOST: Final = (
    Pattern.of(
        r"restored from a backup that is older than this run's end \(Temporal: (?P<ended>[^)]*)\)",
        "The hub was restored to a time at which the run was still in progress, but in Temporal "
        "it had ended ({ended}). Clusters whose bindings were restored have the earlier snapshot "
        "again.",
        "Check which snapshot each cluster has, and create a new run for the one they should have.",
        _SHOW_BINDINGS,
        _SHOW_SNAPSHOTS,
    ),
    Pattern.of(
        r"restored from a backup that is older than what this run has done: .*\((?P<back>[^)]*)\)",
        "The hub was restored to a time before the run had updated {back}: their bindings, and "
        "so the clusters, have the earlier snapshot again.",
        "Check which snapshot each cluster has, and create a new run for the one they should have.",
        _SHOW_BINDINGS,
        _SHOW_SNAPSHOTS,
    ),
    Pattern.of(
        r"the run's workflow was ended in Temporal \((?P<ended>[^)]*)\)",
        "The run's workflow was ended in Temporal ({ended}) while the run was in progress.",
        "Create a new run. To halt a run, use `fleetgate run stop` and leave its workflow alone.",
        _RUNS,
    ),
    Pattern.of(
        r"its status cannot be resumed",
        "Temporal lost the run's workflow, and the run's status on the hub cannot replace it: "
        "parts are missing, or it was changed by hand.",
        "Create a new run; clusters that already have its snapshot are not changed by it.",
        _RUNS,
        _SHOW_BINDINGS,
    ),
)

_CHANGED: Final = (
    Pattern.of(
        r"the applyStrategy in the updateRun is outdated",
        "The apply strategy of the placement {placement} was changed while the run was in "
        "progress. Some clusters would have been updated with the old one and some with the new.",
        "Create a new run; it uses the current apply strategy.",
        _SHOW_PLACEMENT,
    ),
    Pattern.of(
        r"the policy snapshot index used in the updateRun is outdated, latest: (?P<latest>\S*), "
        r"recorded: (?P<recorded>\S*)",
        "The policy of the placement {placement} was changed while the run was in progress "
        "(policy snapshot {recorded}, now {latest}). The run's plan may miss clusters.",
        "Create a new run; it is planned with the clusters that are picked now.",
        _SHOW_PLACEMENT,
    ),
    Pattern.of(
        r"the cluster count initialized in the updateRun is outdated, latest: (?P<latest>\d+), "
        r"recorded: (?P<recorded>\d+)",
        "The placement {placement} picks {latest} clusters now, but picked {recorded} when the "
        "run was planned.",
        "Create a new run; it is planned with the clusters that are picked now.",
        _SHOW_PLACEMENT,
    ),
    Pattern.of(
        r"the number of clusters in index `(?P<stage>\d+)` stage has changed, new: (?P<new>\d+), "
        r"existing: (?P<existing>\d+)",
        "A stage has {new} clusters now, but had {existing} when the run was planned: clusters "
        "joined, left or were relabelled.",
        "Create a new run; it is planned with the current clusters and labels.",
        _SHOW_LABELS,
    ),
    Pattern.of(
        r"the `\d+` cluster in the `\d+` stage has changed, new: (?P<new>[\w.-]+), "
        r"existing: (?P<existing>[\w.-]+)",
        "Cluster {new} now has the place in its stage that {existing} had when the run was "
        "planned: clusters were relabelled, or one replaced another.",
        "Create a new run; it is planned with the current clusters and labels.",
        _SHOW_LABELS,
    ),
    Pattern.of(
        r"cluster `(?P<cluster>[^`]*)` to be deleted is not in the delete stage",
        "The placement {placement} stopped picking cluster {cluster} while the run was in "
        "progress.",
        "Create a new run; it removes the objects from that cluster.",
        _SHOW_PLACEMENT,
    ),
    Pattern.of(
        r"(?:deleted )?cluster `(?P<cluster>[^`]*)` in the deleting stage",
        "The placement {placement} picked cluster {cluster} again while the run was removing its "
        "objects.",
        "Create a new run; it is planned with the clusters that are picked now.",
        _SHOW_BINDINGS,
    ),
    Pattern.of(
        r"the updateRun has nil \w+|the number of stages in the updateRun has changed"
        r"|stage name in the updateRun has changed",
        "The status of the run, which holds its plan, was changed by hand.",
        "Create a new run, and leave the status of runs to fleetgate.",
        _RUNS,
    ),
    Pattern.of(
        r"the approval request task `(?P<request>[^`]*)` is targeting",
        "An approval request named {request} already exists and belongs to another run or stage.",
        "Delete it, then create a new run.",
        "kubectl get {approvals}{flag}",
    ),
    Pattern.of(
        r"the binding of the updating cluster `(?P<cluster>[^`]*)` in the stage "
        r"`(?P<stage>[^`]*)` is not up-to-date",
        "The binding of cluster {cluster} was changed, most likely by another run of the placement "
        "{placement}, while this run was updating it. The last writer wins.",
        "Let the other run finish. If there is none, create a new run.",
        _RUNS,
        _SHOW_BINDINGS,
    ),
    Pattern.of(
        r"the workflow was cancelled in Temporal",
        "The run's workflow was cancelled in Temporal, by hand or with a tool.",
        "Create a new run. To halt a run, use `fleetgate run stop`, not Temporal's cancellation.",
        _RUNS,
    ),
)

_REST: Final = (
    Pattern.of(
        UNEXPECTED,
        "The hub is in a state that should not occur: objects were changed by hand, or this is a "
        "bug.",
        "Check the objects that the message names, fix them and create a new run.",
        _SHOW_PLACEMENT,
    ),
    Pattern.of(
        r"",
        "Something that the run needs is missing or not valid; the message names it.",
        "Fix what the message names and create a new run.",
        _SHOW_PLACEMENT,
    ),
)
"""For texts that no other pattern matches."""

PATTERNS: Final = (*_LOST, *_PLACEMENT, *_STRATEGY, *_VERSION, *_CHANGED)
"""Every message that a run can fail with; narrower patterns come before wider ones."""


def explain(
    text: str, *, scope: Scope, placement: str, strategy: str, namespace: str = ""
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
    found = meaning(text, (*PATTERNS, *_REST), names)
    assert found is not None, "the last pattern fits any text"
    return found
