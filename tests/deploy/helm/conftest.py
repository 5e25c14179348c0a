"""Helm, for the tests of the charts."""

import pytest

from tests.deploy.helm.charts import Helm
from tests.support.programs import HELM, here


@pytest.fixture(scope="package")
def helm(tmp_path_factory: pytest.TempPathFactory) -> Helm:
    return Helm(here(HELM), tmp_path_factory.mktemp("helm"))
