"""A name in a path cannot lead to another path."""

from urllib.parse import unquote

import pytest
from hypothesis import given
from hypothesis import strategies as st

from api.kinds import CLUSTER_STAGED_UPDATE_RUN, STAGED_UPDATE_RUN
from hub import NotFound
from hub.requests import collection_path, item_path

CLUSTER = "/apis/placement.kubernetes-fleet.io/v1beta1/clusterstagedupdateruns/"


@given(st.one_of(st.text(max_size=30), st.sampled_from(["..", ".", "a/b", "a%2fb", "x" * 254])))
def test_a_name_stays_one_part_of_a_path_or_is_not_found(name: str) -> None:
    try:
        path = item_path(CLUSTER_STAGED_UPDATE_RUN, name)
    except NotFound as error:
        assert str(error).endswith("not found: no object can have this name")  # noqa: PT017
        return
    assert path.startswith(CLUSTER)
    last = path.removeprefix(CLUSTER)
    assert "/" not in last
    assert unquote(last) == name not in ("", ".", "..")


@pytest.mark.parametrize("name", ["", "..", "a/b", "\udcff", "x" * 254])
def test_impossible_names_are_not_found_in_a_namespace(name: str) -> None:
    with pytest.raises(NotFound):
        item_path(STAGED_UPDATE_RUN, name, namespace="team")


@pytest.mark.parametrize("namespace", ["..", "a/b", "\udcff", "x" * 254])
def test_impossible_namespaces_are_not_found(namespace: str) -> None:
    with pytest.raises(NotFound, match=r"^Namespace "):
        collection_path(STAGED_UPDATE_RUN, namespace=namespace)
