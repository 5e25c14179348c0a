"""Helm, for the tests of the charts."""

import os

import pytest

from tests.deploy.helm.charts import Helm
from tests.deploy.helm.program import find_helm


@pytest.fixture(scope="package")
def helm(tmp_path_factory: pytest.TempPathFactory) -> Helm:
    """The first time on a machine this takes minutes: Go builds it."""
    return Helm(find_helm(dict(os.environ)), tmp_path_factory.mktemp("helm"))
