"""The comparison of the documentation's outputs is neither too strict nor too lenient."""

import pytest

from tests.docs.likeness import alike
from tests.docs.pages import File, NotRun, Step, parts


@pytest.mark.parametrize(
    ("shown", "printed"),
    [
        ("NAME   AGE\nshop   5s", "NAME   AGE\nshop   3m10s"),
        ("12:00:01 1/3 waiting for 5s more", "23:59:59 1/3 waiting for 2s more"),
        ("2026-01-08T00:19:58Z approved", "2026-11-21T20:20:57Z approved"),
        ("2026-11-21 20:20…  approved", "2026-11-22 09:03:11  approved"),
        ("shop-member1-0a1b2c3d  True", "shop-member1-99999999   True"),
        ("web-5bf6d6d8b9-abcde   Running", "web-77f4c8d9c5-x2x2x   Running"),
        ("a\n...\nz", "a\nb\nc\nz"),
        ("a\n...", "a"),
        ("...\nlast", "last"),
        ("export KUBECONFIG=/home/you/.fleetgate/x", "export KUBECONFIG=/tmp/a-b/.fleetgate/x"),
        ("http://127.0.0.1:8233", "http://127.0.0.1:40001"),
        ("updated in <1s", "updated in 2s"),
        ("", "\n"),
        ("it takes 8s by now, which is\nlong", "it takes 1m20s by now, which\nis long"),
        ("1/3 waiting; left: about 4 min", "1/3 waiting"),
        ("stage canary begins: member3", "stage canary begins: member3, member1"),
    ],
)
def test_differences_between_runs_are_ignored(shown: str, printed: str) -> None:
    assert alike(shown.splitlines(), printed.splitlines())


@pytest.mark.parametrize(
    ("shown", "printed"),
    [
        ("2/3 done", "3/3 done"),
        ("stage canary begins: member3", "stage canary begins: member1, member3"),
        ("a", ""),
        ("", "error: no such run"),
        ("a\n...\nz", "a\nb"),
        ("snapshot 1", "snapshot 2"),
        ("INITIALIZED  True", "INITIALIZED  False"),
        ("a.b", "axb"),
    ],
)
def test_differences_that_a_reader_would_notice_are_reported(shown: str, printed: str) -> None:
    assert not alike(shown.splitlines(), printed.splitlines())


PAGE = """\
# A page

```yaml
# web.yaml
kind: Deployment
```

```console
$ kubectl apply -f web.yaml
created
$ cat <<EOF
$ not a command
EOF
$ kubectl get pods \\
    -n shop
NAME   READY
```

<!-- given
$ kubectl create ns shop
-->

<!-- not run: needs a cloud -->

```sh
az aks create
```

```yaml
kind: Example
```
"""


def test_a_page_is_parsed_as_its_reader_would_type_it() -> None:
    assert list(parts(PAGE)) == [
        File("web.yaml", "# web.yaml\nkind: Deployment\n"),
        Step("kubectl apply -f web.yaml", 9, ["created"]),
        Step("cat <<EOF\n$ not a command\nEOF", 11),
        Step("kubectl get pods \\\n    -n shop", 14, ["NAME   READY"]),
        Step("kubectl create ns shop", 20, [], shown=False),
        NotRun("needs a cloud", 25),
    ]


def test_commands_that_no_test_types_are_reported() -> None:
    with pytest.raises(AssertionError, match="line 1: write `console`"):
        list(parts("```sh\nkubectl get pods\n```\n"))
