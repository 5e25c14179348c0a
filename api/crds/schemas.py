"""Structural OpenAPI v3 schemas, built from the models."""

from collections.abc import Iterable
from datetime import datetime
from enum import StrEnum
from types import NoneType, UnionType
from typing import Annotated, Any, Final, Union, get_args, get_origin

from pydantic.fields import FieldInfo

from api.base import ApiModel, KubernetesObject
from api.crds.descriptions import describe_class, describe_fields
from api.markers import Defaulted, Marker, Required, Schema

_ROOT_TEXTS: Final = {
    "apiVersion": "Group and version of the schema of this object.",
    "kind": "Kind of this object.",
}
_SCALARS: Final[dict[object, Schema]] = {
    str: {"type": "string"},
    int: {"type": "integer"},
    bool: {"type": "boolean"},
    datetime: {"type": "string"},
}


def object_schema(model: type[KubernetesObject]) -> Schema:
    """Return the schema of a kind: its own fields, and those that every object has."""
    schema = _model_schema(model)
    properties = schema["properties"]
    for name, text in _ROOT_TEXTS.items():
        properties[name] = {"type": "string", "description": text}
    # The API server validates metadata itself.
    properties["metadata"] = {"type": "object"}
    for rule in model.resource.rules:
        rule.mark(schema)
    return schema


def _model_schema(model: type[ApiModel]) -> Schema:
    texts = describe_fields(model)
    fields = {info.alias or name: (name, info) for name, info in model.model_fields.items()}
    schema: Schema = {
        "description": describe_class(model),
        "type": "object",
        "properties": {
            alias: {"description": texts.get(name, "")} | _field_schema(info)
            for alias, (name, info) in sorted(fields.items())
        },
    }
    required = sorted(alias for alias, (_, info) in fields.items() if _is_required(info))
    if required:
        schema["required"] = required
    return schema


def _is_required(info: FieldInfo) -> bool:
    return info.is_required() or _has(info, Required)


def _has(info: FieldInfo, marker: type[object]) -> bool:
    return any(isinstance(each, marker) for each in info.metadata)


def _field_schema(info: FieldInfo) -> Schema:
    schema = _marked(_type_schema(info.annotation), info.metadata)
    if _has(info, Defaulted):
        schema["default"] = str(info.default) if isinstance(info.default, str) else info.default
    schema.pop("description", None)  # the field's own description replaces the type's
    return schema


def _marked(schema: Schema, metadata: Iterable[object]) -> Schema:
    for each in metadata:
        if isinstance(each, Marker):
            each.mark(schema)
    return schema


def _type_schema(annotation: object) -> Schema:
    if get_origin(annotation) is Annotated:
        inner, *metadata = get_args(annotation)
        return _marked(_type_schema(inner), metadata)
    if get_origin(annotation) in (Union, UnionType):
        return _union_schema([each for each in get_args(annotation) if each is not NoneType])
    if get_origin(annotation) is list:
        return {"type": "array", "items": _type_schema(get_args(annotation)[0])}
    if get_origin(annotation) is dict:
        return {"type": "object", "additionalProperties": _type_schema(get_args(annotation)[1])}
    return _plain_schema(annotation)


def _plain_schema(annotation: object) -> Schema:
    if annotation in _SCALARS:
        return dict(_SCALARS[annotation])
    if isinstance(annotation, type) and issubclass(annotation, ApiModel):
        return _model_schema(annotation)
    if isinstance(annotation, type) and issubclass(annotation, StrEnum):
        return {"type": "string", "enum": [str(member) for member in annotation]}
    if annotation is Any:
        return {}
    raise TypeError(f"no schema for {annotation!r}: teach api.crds.schemas about it")


def _union_schema(members: list[object]) -> Schema:
    if len(members) == 1:
        return _type_schema(members[0])
    if members == [int, str]:
        return {
            "anyOf": [{"type": "integer"}, {"type": "string"}],
            "x-kubernetes-int-or-string": True,
        }
    # An open enumeration: the API server accepts any string.
    return {"type": "string"}
