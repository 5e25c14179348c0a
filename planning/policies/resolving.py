"""Combining all policies that apply to a run into one set of rules.

Fields are taken one by one. A policy that names the stage wins over one that does not, then one
that targets the strategy wins over one that targets the placement. Two policies of equal rank that
set the same field to different values are a mistake that only a person can resolve.

policies: 2.1
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import Final

from api.base import ObjectMeta
from api.kinds import Scope
from api.rollout_policies import BaseRolloutPolicy, OnUnassigned, PolicyTarget
from api.rollout_reports import PolicyField
from planning import durations, failures, selectors
from planning.runs.rules import RunRules, StageRules

Value = int | str
"""Value of a field as it is on the wire."""

_RUN_FIELDS: Final = {
    "concurrentRuns": "concurrent_runs",
    "membership.unassigned": "unassigned",
    "membership.unassignedMost": "unassigned_most",
    "membership.removed": "removed",
    "membership.added": "added",
    "failures.mostInRun": "most_in_run",
}
"""Fields of a policy that apply to the run as a whole, with where `RunRules` keeps each."""
_STAGE_FIELDS: Final = {
    "clusters.timeout": "timeout",
    "clusters.retries": "retries",
    "clusters.retryAfter": "retry_after",
    "failures.most": "most",
    "failures.action": "action",
    "rollback.order": "order",
    "rollback.maxConcurrency": "max_concurrency",
    "rollback.gates": "gates",
}
"""Fields of a policy that apply to each stage, with where `StageRules` keeps each."""
_DURATIONS: Final = frozenset({"clusters.timeout", "clusters.retryAfter"})
_NEEDS: Final = {
    "clusters.retries": "clusters.timeout",
    "clusters.retryAfter": "clusters.retries",
}
"""Fields that mean nothing without another one."""


@dataclass(frozen=True, slots=True)
class PolicySubject:
    """What policies are matched against: a strategy and a placement."""

    scope: Scope
    strategy: ObjectMeta | None
    placement: ObjectMeta | None
    """None if only what applies to the other one is wanted."""
    stages: Sequence[str]
    """Names of the strategy's stages."""


@dataclass(frozen=True, slots=True, order=True)
class _Rank:
    """How specific a policy is; the greater one wins."""

    names_stage: bool
    targets_strategy: bool


@dataclass(frozen=True, slots=True)
class _Setting:
    """The value that one policy gives a field."""

    rank: _Rank
    policy: str
    generation: int
    value: Value


def resolve(policies: Iterable[BaseRolloutPolicy], subject: PolicySubject) -> RunRules:
    """Combine the policies that apply to runs of the strategy and placement.

    Raises:
        InitializationError: two policies contradict each other, a field needs another one that is
            not set, or a policy names a stage that the strategy does not have.
    """
    found = sorted(policies, key=lambda each: each.metadata.name)
    for policy in found:
        _check_stages(policy, subject)
    sources: list[PolicyField] = []
    for_run = _combined(_RUN_FIELDS, found, subject, stage="", sources=sources)
    default = _combined(_STAGE_FIELDS, found, subject, stage="", sources=sources)
    stages: dict[str, StageRules] = {}
    for name in subject.stages:
        of_stage: list[PolicyField] = []
        values = _combined(_STAGE_FIELDS, found, subject, stage=name, sources=of_stage)
        if values != default:
            stages[name] = StageRules.model_validate(values)
        sources += [each for each in of_stage if not _is_same_everywhere(each, sources)]
    _check_needs(sources)
    return RunRules.model_validate(
        {**for_run, "default": default, "stages": stages, "fields": sources}
    )


def _is_same_everywhere(field: PolicyField, sources: Sequence[PolicyField]) -> bool:
    """Return whether a field of a stage has the source that it has for all stages."""
    return field.model_copy(update={"stage": ""}) in sources


def _combined(
    fields: Mapping[str, str],
    policies: Sequence[BaseRolloutPolicy],
    subject: PolicySubject,
    *,
    stage: str,
    sources: list[PolicyField],
) -> dict[str, Value | timedelta]:
    """Return the values of the fields that some policy sets, and note their sources."""
    values: dict[str, Value | timedelta] = {}
    for path, name in fields.items():
        settings = list(_settings(path, policies, subject, stage=stage))
        if not settings:
            continue
        chosen = _chosen(settings, path=path, stage=stage)
        values[name] = _read(path, chosen.value)
        sources.append(
            PolicyField(
                name=path,
                stage=stage,
                value=chosen.value,
                policy=chosen.policy,
                generation=chosen.generation,
            )
        )
    return values


def _settings(
    path: str, policies: Sequence[BaseRolloutPolicy], subject: PolicySubject, *, stage: str
) -> Iterator[_Setting]:
    for policy in policies:
        value = _value(policy, path)
        if value is None:
            continue
        ranks = [
            _Rank(names_stage=bool(ref.stages), targets_strategy=_is_strategy(ref, subject))
            for ref in policy.spec.target_refs
            if _matches(ref, subject) and (not ref.stages or stage in ref.stages)
        ]
        if ranks:
            metadata = policy.metadata
            yield _Setting(max(ranks), metadata.name, metadata.generation, value)


def _value(policy: BaseRolloutPolicy, path: str) -> Value | None:
    """Return the value of a field as it is on the wire; None if the policy does not set it."""
    *sections, name = path.split(".")
    section = policy.spec.to_wire()
    for each in sections:
        section = section.get(each, {})
    value: Value | None = section.get(name)
    return value


def _chosen(settings: Sequence[_Setting], *, path: str, stage: str) -> _Setting:
    best = max(each.rank for each in settings)
    first, *others = [each for each in settings if each.rank == best]
    for other in others:
        if other.value != first.value:
            raise failures.POLICIES_DISAGREE.error(
                first=first.policy,
                second=other.policy,
                among=_among(stage),
                field=path,
                one=first.value,
                other=other.value,
            )
    return first


def _read(path: str, value: Value) -> Value | timedelta:
    return durations.parse(str(value)) if path in _DURATIONS else value


def _matches(ref: PolicyTarget, subject: PolicySubject) -> bool:
    target = subject.strategy if _is_strategy(ref, subject) else subject.placement
    if target is None or ref.kind not in (
        subject.scope.strategy.kind,
        subject.scope.placement.kind,
    ):
        return False
    if ref.name is not None:
        return ref.name == target.name
    return selectors.matches(ref.selector, target.labels)


def _is_strategy(ref: PolicyTarget, subject: PolicySubject) -> bool:
    return ref.kind == subject.scope.strategy.kind


def recorded(fields: Sequence[PolicyField], *, rolls_back: str = "") -> RunRules:
    """Return the rules whose sources a run's report has recorded.

    `rolls_back` names the run that this one rolls back, if it does.
    """
    for_run = {
        name: each.value for each in fields if (name := _RUN_FIELDS.get(each.name)) is not None
    }
    of_all: dict[str, Value | timedelta] = {}
    stages: dict[str, dict[str, Value | timedelta]] = {}
    for each in fields:
        if name := _STAGE_FIELDS.get(each.name):
            values = stages.setdefault(each.stage, {}) if each.stage else of_all
            values[name] = _read(each.name, each.value)
    return RunRules.model_validate(
        {
            **for_run,
            "default": of_all,
            "stages": {name: of_all | values for name, values in stages.items()},
            "rolls_back": rolls_back,
            "fields": list(fields),
        }
    )


# -- what cannot be followed ---------------------------------------------------------------


def _check_stages(policy: BaseRolloutPolicy, subject: PolicySubject) -> None:
    """Refuse stages that the strategy does not have; other targets may have them."""
    for ref in policy.spec.target_refs:
        if problem := selectors.problem(ref.selector):
            raise failures.POLICY_SELECTOR_NOT_VALID.error(policy=policy.metadata.name, why=problem)
        unknown = [each for each in ref.stages or [] if each not in subject.stages]
        if unknown and ref.name and _is_strategy(ref, subject) and _matches(ref, subject):
            raise failures.POLICY_STAGE_UNKNOWN.error(
                policy=policy.metadata.name,
                stage=unknown[0],
                named=ref.name,
                known=", ".join(subject.stages),
            )


def _check_needs(sources: Sequence[PolicyField]) -> None:
    """Refuse fields that would be without effect."""
    known = {(each.name, each.stage): each for each in sources}
    for (name, stage), field in known.items():
        needed = _NEEDS.get(name)
        if needed and not {(needed, stage), (needed, "")} & known.keys():
            raise failures.POLICY_FIELD_ALONE.error(
                policy=field.policy, field=name + _among(stage), needed=needed
            )
    if most := known.get(("membership.unassignedMost", "")):
        unassigned = known.get(("membership.unassigned", ""))
        if unassigned is None or unassigned.value != OnUnassigned.IGNORE:
            raise failures.POLICY_LIMITS_NOTHING.error(policy=most.policy)


def _among(stage: str) -> str:
    return f" for stage `{stage}`" if stage else ""
