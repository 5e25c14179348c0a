"""A page for each kind of object, generated from its CRD."""

from api.base import KubernetesObject
from api.crds import MODELS, definition
from api.kinds import Kind
from api.markers import Column, Resource, Schema
from docs.generator import fields
from docs.generator.markdown import Pages, literal, navigation, page, plain, table

_FAMILIES = (
    ("Update runs", ("ClusterStagedUpdateRun", "StagedUpdateRun")),
    ("Strategies", ("ClusterStagedUpdateStrategy", "StagedUpdateStrategy")),
    ("Approvals", ("ClusterApprovalRequest", "ApprovalRequest")),
    (
        "Placements",
        ("ClusterResourcePlacement", "ResourcePlacement", "ClusterResourcePlacementStatus"),
    ),
    ("Members", ("MemberCluster",)),
    ("Overrides", ("ClusterResourceOverride", "ResourceOverride")),
    ("Envelopes", ("ClusterResourceEnvelope", "ResourceEnvelope")),
)
"""The kinds that people write, most used first; only fleetgate writes all other kinds."""
_OWN = "Written by fleetgate"
_OWN_TEXT = "You can read these, but do not change them: fleetgate and its agents write them."


def pages() -> Pages:
    """Return one page per kind, and one that lists them."""
    made = {f"objects/{_file(model)}.md": kind_page(model) for model in MODELS}
    return {"objects/index.md": _index(), **made}


def kind_page(model: type[KubernetesObject]) -> str:
    """Return the page of a kind, with everything that is in its CRD."""
    described = definition(model)
    schema: Schema = described["spec"]["versions"][-1]["schema"]["openAPIV3Schema"]
    return page(
        model.resource.kind.kind,
        plain(schema["description"]),
        _facts(model.resource),
        _twin(model.resource.kind),
        _columns(model.resource.columns),
        fields.sections(schema),
    )


def _index() -> str:
    by_name = {model.resource.kind.kind: model for model in MODELS}
    parts: list[str] = []
    for title, names in (*_FAMILIES, (_OWN, _rest(by_name))):
        parts += [f"## {title}", _OWN_TEXT * (title == _OWN)]
        parts.append(table(("kind", "what it is"), [_listed(by_name[name]) for name in names]))
        parts.append(navigation(*(name.lower() for name in names)))
    intro = (
        "Every kind that fleetgate serves or reads, with its fields, defaults, limits and "
        "validation messages. `kubectl explain` shows the same."
    )
    return page("Objects", intro, *parts)


def _rest(names: dict[str, type[KubernetesObject]]) -> tuple[str, ...]:
    grouped = {name for _, group in _FAMILIES for name in group}
    return tuple(name for name in names if name not in grouped)


def _listed(model: type[KubernetesObject]) -> tuple[str, str]:
    summary = definition(model)["spec"]["versions"][-1]["schema"]["openAPIV3Schema"]["description"]
    return f"[{model.resource.kind.kind}]({_file(model)}.md)", plain(summary)


def _file(model: type[KubernetesObject]) -> str:
    return model.resource.kind.kind.lower()


def _facts(resource: Resource) -> str:
    kind = resource.kind
    versions = ", ".join(literal(each) for each in (kind.version, *resource.other_versions))
    names = [kind.plural, *resource.short_names]
    return table(
        ("", ""),
        [
            ("API group", literal(kind.group)),
            ("Versions", versions),
            ("Names in kubectl", ", ".join(literal(name) for name in names)),
            ("Scope", "namespaced" if kind.namespaced else "cluster-scoped"),
        ],
    )


def _twin(kind: Kind) -> str:
    """Return a link to the same kind in the other scope, or an empty text if there is none."""
    kinds = {model.resource.kind.kind for model in MODELS}
    name = kind.kind.removeprefix("Cluster") if not kind.namespaced else f"Cluster{kind.kind}"
    if name == kind.kind or name not in kinds:
        return ""
    scope = "cluster-scoped" if kind.namespaced else "namespaced"
    return f"The {scope} counterpart: [{name}]({name.lower()}.md)."


def _columns(columns: tuple[Column, ...]) -> str:
    if not columns:
        return ""
    rows = [
        (column.name.upper(), literal(column.json_path), "with `-o wide`" * bool(column.priority))
        for column in columns
    ]
    return f"## Columns of kubectl get\n\n{table(('column', 'what it shows', ''), rows)}"
