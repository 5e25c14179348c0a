import pytest

from api.kinds import CONFIG_MAP, CUSTOM_RESOURCE_DEFINITION, NAMESPACE, SECRET, Kind
from planning.members.apply_waves import LAST_WAVE, wave_of, waves


def kind(group: str, plural: str) -> Kind:
    return Kind(group, "v1", plural, plural, namespaced=True)


@pytest.mark.parametrize(
    ("group", "plural", "wave"),
    [
        ("", "namespaces", 0),
        ("scheduling.k8s.io", "priorityclasses", 0),
        ("", "configmaps", 1),
        ("apiextensions.k8s.io", "customresourcedefinitions", 1),
        ("policy", "poddisruptionbudgets", 1),
        ("rbac.authorization.k8s.io", "clusterroles", 2),
        ("rbac.authorization.k8s.io", "rolebindings", 3),
        ("apps", "deployments", 4),
        ("", "services", 4),
        ("batch", "cronjobs", 4),
        ("networking.k8s.io", "ingresses", 4),
        ("apiregistration.k8s.io", "apiservices", 5),
        ("admissionregistration.k8s.io", "mutatingwebhookconfigurations", 5),
        ("apps", "controllerrevisions", LAST_WAVE),
        ("example.com", "services", LAST_WAVE),
    ],
)
def test_a_kind_is_applied_in_its_wave(group: str, plural: str, wave: int) -> None:
    assert wave_of(kind(group, plural)) == wave


def test_an_unserved_kind_comes_last() -> None:
    assert wave_of(None) == LAST_WAVE


def test_waves_keep_the_order_of_their_items_and_empty_waves_are_left_out() -> None:
    kinds = [SECRET, NAMESPACE, CONFIG_MAP, kind("example.com", "things"), kind("", "pods")]
    grouped = waves(kinds, kind_of=lambda each: each)
    assert grouped == [[NAMESPACE], [SECRET, CONFIG_MAP], [kinds[4]], [kinds[3]]]


def test_a_crd_comes_before_its_objects() -> None:
    thing = kind("example.com", "things")
    grouped = waves([thing, CUSTOM_RESOURCE_DEFINITION], kind_of=lambda each: each)
    assert grouped == [[CUSTOM_RESOURCE_DEFINITION], [thing]]
