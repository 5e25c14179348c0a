"""Descriptions for `kubectl explain`: the docstrings of classes and of their fields.

They are read from the source, because Python does not keep docstrings of fields, and only when
CRDs are generated, so that importing the models stays cheap.
"""

import ast
import inspect
from functools import cache
from itertools import pairwise

from pydantic import BaseModel


def describe_class(model: type[BaseModel]) -> str:
    """Return the docstring of a class in one line."""
    return " ".join((inspect.getdoc(model) or "").split())


def describe_fields(model: type[BaseModel]) -> dict[str, str]:
    """Map each documented field, including inherited ones, to its docstring in one line."""
    texts: dict[str, str] = {}
    for base in reversed(model.__mro__):
        if issubclass(base, BaseModel) and base is not BaseModel:
            texts |= _own_texts(base)
    return texts


@cache  # finding the source of a class is slow, and most classes are part of many kinds
def _own_texts(model: type[BaseModel]) -> dict[str, str]:
    tree = ast.parse(inspect.getsource(model)).body[0]
    assert isinstance(tree, ast.ClassDef)
    return {
        field.target.id: " ".join(text.value.value.split())
        for field, text in pairwise(tree.body)
        if isinstance(field, ast.AnnAssign)
        and isinstance(field.target, ast.Name)
        and isinstance(text, ast.Expr)
        and isinstance(text.value, ast.Constant)
        and isinstance(text.value.value, str)
    }
