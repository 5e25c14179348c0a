"""Why runs fail, by the texts that they end with: what is behind each, and what to do.

The texts stay in the objects as the contract has them; this is said beside them.

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
        "There is no {placement_kind} {placement}{where}, or it is being deleted.",
        "Create the placement or name another one. A ClusterStagedUpdateRun is about a "
        "ClusterResourcePlacement, a StagedUpdateRun about a ResourcePlacement of its namespace.",
        "kubectl get {placements}{flag}",
    ),
    Pattern.of(
        r"does not have an external rollout strategy, current strategy: (?P<type>\w*)",
        "The placement {placement} rolls itself out: its strategy is of type {type}.",
        "Set its spec.strategy.type to External, so that runs roll it out. That cannot be taken "
        "back.",
        "kubectl patch {placements} {placement}{flag} --type merge"
        ' -p \'{{"spec":{{"strategy":{{"type":"External"}}}}}}\'',
    ),
    Pattern.of(
        r"no latest policy snapshot found",
        "Nobody has picked clusters for the placement {placement} yet.",
        "See that placement is running (a worker with the room placement, or KubeFleet's hub "
        "agent), and wait until the placement says Scheduled.",
        _SHOW_PLACEMENT,
    ),
    Pattern.of(
        r"multiple active policy snapshots",
        "Two policy snapshots of the placement {placement} are marked as the latest. Whoever "
        "writes them stopped half way, or somebody labelled one by hand.",
        "Take the label kubernetes-fleet.io/is-latest-snapshot off the older one.",
        _SHOW_POLICIES,
    ),
    Pattern.of(
        r"policy snapshot `(?P<snapshot>[^`]*)` (?:does not have a policy index label"
        r"|doesn't have valid cluster count annotation)",
        "The policy snapshot {snapshot} lacks a label or annotation that a run reads, or has a "
        "wrong one: somebody changed it by hand.",
        "Give it the right value again, or change the placement's policy, which makes a new one.",
        _SHOW_POLICIES,
    ),
    Pattern.of(
        r"policy snapshot `(?P<snapshot>[^`]*)` not fully scheduled yet",
        "The policy of the placement {placement} wants more clusters than can be picked.",
        "Register more clusters, mend those that are not eligible, or ask for fewer. The "
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
        "The policy picked {wanted} clusters, but {found} of them have a binding: whoever "
        "schedules had not finished.",
        "Wait until the placement says Scheduled for all of them.",
        _SHOW_BINDINGS,
    ),
    Pattern.of(
        r"no matches for kind \"(?P<kind>[^\"]*)\" in version \"(?P<version>[^\"]*)\"",
        "The placement {placement} selects objects of kind {kind} ({version}), which the hub does "
        "not serve.",
        "Correct group, version and kind in spec.resourceSelectors, or install the kind's "
        "definition on the hub.",
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
        "The resource selectors of the placement {placement} cannot be followed: the message "
        "names what is wrong.",
        "Correct spec.resourceSelectors.",
        _SHOW_PLACEMENT,
    ),
)

_STRATEGY: Final = (
    Pattern.of(
        r"referenced updateStrategy not found",
        "There is no {strategy_kind} {strategy}{where}.",
        "Create the strategy or name another one. A StagedUpdateRun uses a StagedUpdateStrategy "
        "of its own namespace.",
        "kubectl get {strategies}{flag}",
    ),
    Pattern.of(
        r"the (?P<side>before|after) stage tasks are invalid, .*stage: (?P<stage>\S+), "
        r"err: (?P<why>.*)",
        "The gates {side} stage {stage} of the strategy {strategy} are not possible: {why}.",
        "Correct {side}StageTasks of the stage: before it at most one Approval; after it at most "
        "one Approval and one TimedWait, whose waitTime is longer than 0s.",
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
        "The labels of cluster {cluster} fit two stages of the strategy {strategy}.",
        "Let the labelSelectors of the stages exclude each other, or correct the cluster's labels.",
        "kubectl get membercluster {cluster} --show-labels",
        _SHOW_STRATEGY,
    ),
    Pattern.of(
        r"the sorting label `(?P<key>[^:`]*):(?P<value>[^`]*)` on cluster `(?P<cluster>[^`]*)`",
        "The stage sorts its clusters by the label {key}, and cluster {cluster} has no whole "
        'number there: "{value}".',
        "Give every cluster of the stage a whole number in that label.",
        "kubectl label membercluster {cluster} --overwrite {key}=1",
    ),
    Pattern.of(
        r"some clusters are not placed in any stage, total (?P<total>\d+), "
        r"showing up to 10: (?P<clusters>.*)",
        "The placement picks clusters that no stage of the strategy {strategy} selects, {total} "
        "in all: {clusters}.",
        "Label the clusters so that a stage selects them, or add a stage for them: a run has to "
        "reach every picked cluster.",
        _SHOW_LABELS,
        _SHOW_STRATEGY,
    ),
    Pattern.of(
        r"the name of placement `(?P<long>[^`]*)` has (?P<number>\d+) characters",
        "The placement has too long a name: what belongs to it is found by a label, whose value "
        "has 63 characters at most.",
        "Make a placement with a shorter name for the same resources.",
        _SHOW_PLACEMENT,
    ),
    Pattern.of(
        r"the run is too large: (?P<why>[^:]*): (?P<cure>.*)",
        "The run would not fit into its object or its workflow: {why}.",
        "To mend it, {cure}.",
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
        'resourceSnapshotIndex of the run is "{index}", which is no version.',
        "Name the index of a version that is there, or none for the hub's content as it is now.",
        _SHOW_SNAPSHOTS,
    ),
    Pattern.of(
        r"no resourceSnapshots with index `(?P<index>[^`]*)` found",
        "The placement {placement} has no version {index}: it was never taken, or is pruned by "
        "now.",
        "Name the index of a version that is there, or none for the hub's content as it is now.",
        _SHOW_SNAPSHOTS,
    ),
    Pattern.of(
        r"no master resourceSnapshot found|has an invalid snapshot count|"
        r"not all resource snapshot in the same index group are created",
        "Parts of the version are missing: somebody deleted or changed a resource snapshot, or "
        "it was still being written.",
        "Name another index, or none for the hub's content as it is now.",
        _SHOW_SNAPSHOTS,
    ),
    Pattern.of(
        r"invalid cluster label selector of (?P<kind>\w+)Snapshot `(?P<name>[^`]*)`: (?P<why>.*)",
        "The override behind the {kind}Snapshot {name} selects clusters by labels in a way that "
        "is not valid: {why}.",
        "Correct the override's clusterSelector; the new snapshot of it counts at once.",
        "kubectl get {kind} -A",
    ),
    Pattern.of(
        r"(?P<kind>\w+) `(?P<name>[^`]*)` holds what is no object: (?P<why>.*)",
        "The {kind} {name} on the hub holds something that is no Kubernetes object: {why}.",
        "Correct its data: each entry is a whole object with apiVersion, kind and metadata.",
        "kubectl get {kind} -A",
    ),
    Pattern.of(
        r'MemberCluster\.\S+ "(?P<cluster>[^"]*)" not found',
        "Cluster {cluster} left the fleet while the run was being planned.",
        "Wait until the placement has taken note of it.",
        "kubectl get memberclusters",
    ),
)

_LOST: Final = (
    Pattern.of(
        r"restored from a backup that is older than this run's end \(Temporal: (?P<ended>[^)]*)\)",
        "The hub was put back to a moment at which the run was still under way; for Temporal it "
        "was over ({ended}). Clusters whose bindings were put back have the earlier version again.",
        "Look which version each cluster has, and make a new run for the one that they shall have.",
        _SHOW_BINDINGS,
        _SHOW_SNAPSHOTS,
    ),
    Pattern.of(
        r"restored from a backup that is older than what this run has done: .*\((?P<back>[^)]*)\)",
        "The hub was put back to a moment before the run had updated {back}: their bindings, and "
        "so the clusters, have the earlier version again.",
        "Look which version each cluster has, and make a new run for the one that they shall have.",
        _SHOW_BINDINGS,
        _SHOW_SNAPSHOTS,
    ),
    Pattern.of(
        r"the run's workflow was ended in Temporal \((?P<ended>[^)]*)\)",
        "Somebody ended the run's workflow in Temporal ({ended}) while the run was under way.",
        "Make a new run. To halt one, use `fleetgate run stop` and leave its workflow alone.",
        _RUNS,
    ),
    Pattern.of(
        r"its status cannot be gone on from",
        "Temporal lost what it knew of the run, and the status on the hub is not as fleetgate "
        "writes it: parts are missing, or somebody changed it by hand.",
        "Make a new run; clusters that have its version already are not changed by it.",
        _RUNS,
        _SHOW_BINDINGS,
    ),
)

_CHANGED: Final = (
    Pattern.of(
        r"the applyStrategy in the updateRun is outdated",
        "Somebody changed the apply strategy of the placement {placement} while the run was under "
        "way. Half of the clusters would have been applied in one way and half in the other.",
        "Make a new run; it takes the apply strategy as it is now.",
        _SHOW_PLACEMENT,
    ),
    Pattern.of(
        r"the policy snapshot index used in the updateRun is outdated, latest: (?P<latest>\S*), "
        r"recorded: (?P<recorded>\S*)",
        "Somebody changed the policy of the placement {placement} while the run was under way "
        "(policy snapshot {recorded}, now {latest}). The run's plan may miss clusters.",
        "Make a new run; it plans with the clusters that are picked now.",
        _SHOW_PLACEMENT,
    ),
    Pattern.of(
        r"the cluster count initialized in the updateRun is outdated, latest: (?P<latest>\d+), "
        r"recorded: (?P<recorded>\d+)",
        "The placement {placement} picks {latest} clusters now, and picked {recorded} when the "
        "run was planned.",
        "Make a new run; it plans with the clusters that are picked now.",
        _SHOW_PLACEMENT,
    ),
    Pattern.of(
        r"the number of clusters in index `(?P<stage>\d+)` stage has changed, new: (?P<new>\d+), "
        r"existing: (?P<existing>\d+)",
        "A stage has {new} clusters now, and had {existing} when the run was planned: clusters "
        "joined, left or were relabelled.",
        "Make a new run; it plans with the clusters and labels of now.",
        _SHOW_LABELS,
    ),
    Pattern.of(
        r"the `\d+` cluster in the `\d+` stage has changed, new: (?P<new>[\w.-]+), "
        r"existing: (?P<existing>[\w.-]+)",
        "Cluster {new} stands now where {existing} stood when the run was planned: clusters were "
        "relabelled, or one came for another.",
        "Make a new run; it plans with the clusters and labels of now.",
        _SHOW_LABELS,
    ),
    Pattern.of(
        r"cluster `(?P<cluster>[^`]*)` to be deleted is not in the delete stage",
        "The placement {placement} stopped picking cluster {cluster} while the run was under way.",
        "Make a new run; it removes what is on that cluster.",
        _SHOW_PLACEMENT,
    ),
    Pattern.of(
        r"(?:deleted )?cluster `(?P<cluster>[^`]*)` in the deleting stage",
        "The placement {placement} picked cluster {cluster} anew while the run was removing it.",
        "Make a new run; it plans with the clusters that are picked now.",
        _SHOW_BINDINGS,
    ),
    Pattern.of(
        r"the updateRun has nil \w+|the number of stages in the updateRun has changed"
        r"|stage name in the updateRun has changed",
        "Somebody changed the status of the run by hand, and its plan with it.",
        "Make a new run, and leave the status of runs to fleetgate.",
        _RUNS,
    ),
    Pattern.of(
        r"the approval request task `(?P<request>[^`]*)` is targeting",
        "An approval request of the name {request} was there already, and is about another run or "
        "stage.",
        "Delete it, then make a new run.",
        "kubectl get {approvals}{flag}",
    ),
    Pattern.of(
        r"the binding of the updating cluster `(?P<cluster>[^`]*)` in the stage "
        r"`(?P<stage>[^`]*)` is not up-to-date",
        "Somebody else, most often another run of the placement {placement}, changed the binding "
        "of cluster {cluster} while this run was updating it. The last writer has the cluster.",
        "Let the other run finish, or make a new one when there is no other.",
        _RUNS,
        _SHOW_BINDINGS,
    ),
    Pattern.of(
        r"the workflow was cancelled in Temporal",
        "Somebody cancelled the run's workflow in Temporal, by hand or with a tool.",
        "Make a new run. To halt one, use `fleetgate run stop` and not Temporal's cancellation.",
        _RUNS,
    ),
)

_REST: Final = (
    Pattern.of(
        UNEXPECTED,
        "The hub holds what should not occur: objects were changed by hand, or this is a defect.",
        "Look at the objects that the message names, mend them and make a new run.",
        _SHOW_PLACEMENT,
    ),
    Pattern.of(
        r"",
        "Something that the run needs is not as it has to be; the message names it.",
        "Mend what the message names and make a new run.",
        _SHOW_PLACEMENT,
    ),
)
"""For texts that nobody knows."""

PATTERNS: Final = (*_LOST, *_PLACEMENT, *_STRATEGY, *_VERSION, *_CHANGED)
"""Every text with which a run can fail, the narrower before the wider ones."""


def explain(
    text: str, *, scope: Scope, placement: str, strategy: str, namespace: str = ""
) -> Meaning:
    """What is behind the text of a failed run: the message of Initialized or Succeeded False.

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
