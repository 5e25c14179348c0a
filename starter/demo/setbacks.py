"""The last chapters of the tutorial: a cluster that cannot be updated, and what people decide."""

from api.kinds import CLUSTER_ROLLOUT_POLICY as POLICY
from api.kinds import CLUSTER_ROLLOUT_REPORT as REPORT
from api.kinds import CONFIG_MAP
from api.rollout_policies import BudgetAction
from api.runs import UpdateRun
from planning.runs import views
from planning.runs.phases import Phase
from starter.demo import chapters, checking, manifests, typed_commands
from starter.demo.tour import Tour
from starter.failures import CommandFailure

BROKEN = "member2"
BROKEN_NEXT = "member3"


async def limit(tour: Tour) -> None:
    """Limit what may fail, and roll out to a member that refuses the new version."""
    name = manifests.LIMITED_RUN
    tour.narrator.step(
        "Limit what may fail",
        f"A policy gives each cluster {manifests.TIMEOUT_SECONDS} s, and the first failure pauses "
        "the run.",
        f"Someone has made the ConfigMap on {BROKEN} immutable, so it cannot be updated.",
    )
    await tour.do(typed_commands.apply(POLICY, manifests.POLICY_MANIFEST))
    await tour.checks.change_on(
        BROKEN, CONFIG_MAP, manifests.CONFIG_MAP, {"immutable": True}, manifests.NAMESPACE
    )
    await tour.do(chapters.set_value("value4"))
    options = ("--placement", manifests.PLACEMENT, "--strategy", manifests.STRATEGY)
    await tour.do(typed_commands.fleetgate("run", "create", name, *options, "--state", "Run"))
    await tour.checks.until_run(name, "paused", chapters.is_in(Phase.PAUSED))
    await tour.do(typed_commands.fleetgate("run", "explain", name))
    tour.narrator.saw(f"{BROKEN} has failed, the run is paused, no other cluster has started")
    await tour.members_have(chapters.everywhere("value1"))


async def skip(tour: Tour) -> None:
    """Let the run continue without the cluster that failed."""
    name, reason = manifests.LIMITED_RUN, ("--reason", "repaired tomorrow")
    tour.narrator.step(
        "Continue without it", "A person decides, and the run keeps on record who and why."
    )
    await tour.do(typed_commands.fleetgate("run", "skip", name, BROKEN, *reason))
    await tour.do(typed_commands.fleetgate("run", "start", name, "--no-wait"))
    await tour.checks.until_run(name, "waiting for an approval", chapters.asks_for_approval)
    await tour.do(typed_commands.fleetgate("approve", name, "canary"))
    run = await tour.checks.until_run(name, "succeeded", chapters.is_in(Phase.SUCCEEDED))
    await tour.do(typed_commands.get(REPORT, name))
    await tour.do(typed_commands.fleetgate("run", "history", name))
    if "1 cluster was skipped" not in run.status.conditions[-1].message:
        raise CommandFailure(f"run {name} does not say that it skipped {BROKEN}")
    tour.narrator.saw("the run has succeeded, and says that it skipped one cluster")
    await tour.members_have(chapters.everywhere("value4") | {BROKEN: "value1"})


async def roll_back(tour: Tour) -> None:
    """Have the policy roll back a run that fails in its last stage."""
    name, back = manifests.GUARDED_RUN, manifests.GUARDED_ROLLBACK
    tour.narrator.step(
        "Have a run rolled back",
        "Now the policy rolls back a run that fails, instead of pausing it.",
        f"{BROKEN} has been repaired, but the ConfigMap on {BROKEN_NEXT} is immutable.",
    )
    where = (CONFIG_MAP, manifests.CONFIG_MAP, manifests.NAMESPACE)
    await tour.checks.recreate_on(BROKEN, *where)
    await tour.members_have(chapters.everywhere("value4"))
    await tour.checks.change_on(
        BROKEN_NEXT, CONFIG_MAP, manifests.CONFIG_MAP, {"immutable": True}, manifests.NAMESPACE
    )
    change = {"spec": {"failures": {"action": str(BudgetAction.ROLL_BACK)}}}
    await tour.do(typed_commands.patch(POLICY, manifests.POLICY, change))
    await tour.do(chapters.set_value("value5"))
    options = ("--placement", manifests.PLACEMENT, "--strategy", manifests.STRATEGY)
    await tour.do(typed_commands.fleetgate("run", "create", name, *options, "--state", "Run"))
    await tour.checks.until_run(name, "waiting for an approval", chapters.asks_for_approval)
    tour.narrator.saw("staging is updated; canary is next, with the broken member")
    await tour.members_have(chapters.everywhere("value4") | {BROKEN: "value5"})
    await tour.do(typed_commands.fleetgate("approve", name, "canary"))
    await tour.checks.until_run(name, "failed", chapters.is_in(Phase.FAILED))
    await tour.do(typed_commands.fleetgate("run", "explain", name))
    await tour.do(typed_commands.fleetgate("run", "watch", back, live=True))
    run = await tour.checks.until_run(back, "succeeded", chapters.is_in(Phase.SUCCEEDED))
    await tour.do(typed_commands.fleetgate("run", "show", back))
    await tour.do(typed_commands.fleetgate("run", "history", name))
    await tour.do(typed_commands.fleetgate("run", "list"))
    _check_rollback(run)
    tour.narrator.saw(f"{BROKEN_NEXT} and {BROKEN} went back, the last stage first")
    await tour.members_have(chapters.everywhere("value4"))


def _check_rollback(run: UpdateRun) -> None:
    stages = [(each.name, [c.name for c in each.clusters]) for each in views.of(run).stages]
    if stages != [("canary", [BROKEN_NEXT]), ("staging", [BROKEN])]:
        raise checking.not_seen(f"canary {BROKEN_NEXT}, then staging {BROKEN}; found {stages}")
