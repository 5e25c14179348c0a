"""Strategies and runs as people may write them: mostly right, and wrong in every field."""

from random import Random

from hub import Json

SELECTORS: list[Json | None] = [
    {},
    {"matchLabels": {"env": "prod"}},
    {"matchLabels": {"env": "canary"}},
    {"matchExpressions": [{"key": "env", "operator": "Exists"}]},
    {"matchExpressions": [{"key": "env", "operator": "In", "values": ["prod", "canary"]}]},
    {"matchExpressions": [{"key": "env", "operator": "In"}]},
    {"matchExpressions": [{"key": "env", "operator": "Exists", "values": ["x"]}]},
    {"matchExpressions": [{"key": "env", "operator": "Like", "values": ["x"]}]},
    {"matchExpressions": [{"key": "", "operator": "DoesNotExist"}]},
    {"matchLabels": {"not a key": "x"}},
    {"matchLabels": {"env": "not a value!"}},
    {"matchLabels": {"k" * 40_000: "v"}},
    {"matchLabels": {"env": "v" * 64}},
    None,
]
NAMES = ["canary", "prod", "a", "7", "x" * 63, "x" * 64, "Prod", "a.b", "a b", "", "-a", "ä"]
AT_ONCE = [1, 2, 1500, 2**31 - 1, 2**40, 0, -1, "1%", "50%", "100%", "0%", "101%", "2", "x", ""]
SORTING = ["order", "odd-order", "missing", "not a key", "", "o" * 300]
WAITS = [
    *(
        "1s",
        "0.5s",
        "1m30s",
        "24h",
        "0s",
        "0.0000000001s",
        "2562047h",
        "9999999999h",
        "1d",
        "",
        "1",
    ),
    "0.5" + "0" * 600 + "s",
    "1s" * 500,
]
TYPES = ["Approval", "TimedWait", "Approval", "TimedWait", "Nothing", ""]
INDEXES = [
    "0",
    "1",
    "",
    "0",
    "+0",
    "007",
    "-1",
    "1_0",
    " 0",
    "0.0",
    "x",
    "٣",
    "9" * 30,
    "9" * 40_000,
]
STATES = ["Initialize", "Run", "Stop", "Initialize", "Run", "run", "Pause", ""]
PLACEMENTS = ["no-such", "Not/A/Name", "p" * 63, "p" * 64, "p" * 255, "p" * 256, "", "ä"]
STRATEGIES = ["no-such", "Not/A/Name", "s" * 253, "s" * 3000, "s" * 30_000, "", "ä"]


def mostly(random: Random, right: object, odd: list[object]) -> object:
    """Return the right value four times out of five, otherwise an odd one."""
    return right if random.random() < 0.8 else random.choice(odd)


def stage(random: Random, number: int) -> Json:
    """Return a stage; several stages may select the same cluster."""
    made: Json = {"name": mostly(random, f"stage-{number}", list(NAMES))}
    selector = mostly(random, {"matchLabels": {"stage": str(number)}}, list(SELECTORS))
    if selector is not None:
        made["labelSelector"] = selector
    if random.random() < 0.5:
        made["maxConcurrency"] = random.choice(AT_ONCE)
    if random.random() < 0.4:
        made["sortingLabelKey"] = random.choice(SORTING)
    if random.random() < 0.3:
        made["beforeStageTasks"] = tasks(random, most=2, right="Approval")
    if random.random() < 0.5:
        made["afterStageTasks"] = tasks(random, most=3, right="TimedWait")
    return made


def tasks(random: Random, *, most: int, right: str) -> list[Json]:
    """Return the tasks on one side of a stage."""
    return [task(random, right) for _ in range(random.randrange(most + 1))]


def task(random: Random, right: str) -> Json:
    """Return a task."""
    made: Json = {"type": mostly(random, right, list(TYPES))}
    if (made["type"] == "TimedWait") is (random.random() < 0.9):
        made["waitTime"] = random.choice(WAITS)
    return made


def stages(random: Random) -> list[Json]:
    """Return the stages of a strategy, usually two, which match the fleet unless a field is odd."""
    number = int(str(mostly(random, 2, [0, 1, 3, 31, 32])))
    return [stage(random, each) for each in range(number)]


def run_spec(random: Random, *, placement: str, strategy: str) -> Json:
    """Return the spec of a run."""
    return {
        "placementName": mostly(random, placement, list(PLACEMENTS)),
        "stagedRolloutStrategyName": mostly(random, strategy, list(STRATEGIES)),
        "resourceSnapshotIndex": random.choice(INDEXES),
        "state": random.choice(STATES),
    }
