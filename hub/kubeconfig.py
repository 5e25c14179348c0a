"""Where the API server is and who we are there: a kubeconfig, or the pod we run in."""

import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml
from kubernetes.aio import config
from kubernetes.aio.client import Configuration

from hub import credentials, impersonation
from hub.errors import BadConfiguration

HOME_KUBECONFIG = "~/.kube/config"
POD_NAMESPACE = Path("/var/run/secrets/kubernetes.io/serviceaccount/namespace")
"""Comes with the token of a pod's service account."""


@dataclass(frozen=True, slots=True)
class Entry:
    """A named cluster, user or context, and the folder that its relative paths start from."""

    content: dict[str, Any]
    folder: Path


class Files:
    """The kubeconfig files of a path list, merged as kubectl does: the first entry counts."""

    def __init__(self, paths: str) -> None:
        self.paths = paths
        files = [Path(part).expanduser() for part in paths.split(os.pathsep) if part]
        self._documents = [(_read(file), file.parent) for file in files if file.exists()]
        if not self._documents:
            raise BadConfiguration(
                f"no kubeconfig at {paths}: name one with --kubeconfig or KUBECONFIG, "
                "or start a local fleet with `fleetgate local up`"
            )

    def entries(self, section: str) -> dict[str, Entry]:
        """Entries of `contexts`, `users` or `clusters` by name; of `users` the `user` part."""
        found: dict[str, Entry] = {}
        for document, folder in self._documents:
            for entry in document.get(section) or []:
                content = entry.get(section.removesuffix("s")) or {}
                found.setdefault(str(entry.get("name")), Entry(content, folder))
        return found

    def context(self, name: str | None) -> str:
        """The context to use: the one asked for or the current one. It exists."""
        contexts = self.entries("contexts")
        have = f"it has: {', '.join(sorted(contexts)) or 'none'}"
        name = name or self._current_context()
        if not name:
            raise BadConfiguration(
                f"kubeconfig {self.paths} has no current-context: "
                f"choose one with --context ({have})"
            )
        if name not in contexts:
            raise BadConfiguration(f"kubeconfig {self.paths} has no context {name!r} ({have})")
        return name

    def user(self, context: str) -> Entry:
        """The user of a context; empty when it names none."""
        name = self.entries("contexts")[context].content.get("user", "")
        return self.entries("users").get(name) or Entry({}, Path())

    def _current_context(self) -> str:
        # The library takes the last one where kubectl takes the first; name it to the library.
        named = (document.get("current-context") for document, _ in self._documents)
        return next((str(name) for name in named if name), "")


def contexts(path: Path | None, environment: Mapping[str, str] = os.environ) -> list[str]:
    """Names of the contexts of the files that `load` would read. Raises BadConfiguration."""
    paths = str(path) if path else environment.get("KUBECONFIG", "")
    return sorted(Files(paths or HOME_KUBECONFIG).entries("contexts"))


async def load(
    path: Path | None, *, context: str | None = None, environment: Mapping[str, str] = os.environ
) -> Configuration:
    """Read the way to an API server.

    The first of: `path`; the environment's KUBECONFIG (several paths joined as for kubectl);
    the service account when running in a pod; `~/.kube/config`. Raises BadConfiguration.
    """
    if _uses_pod(path, context, environment):
        return _in_cluster()
    paths = str(path) if path else environment.get("KUBECONFIG", "")
    return await _from_files(Files(paths or HOME_KUBECONFIG), context)


def own_namespace(
    path: Path | None,
    *,
    context: str | None = None,
    environment: Mapping[str, str] = os.environ,
    file: Path = POD_NAMESPACE,
) -> str:
    """Namespace of the pod that this process runs in; empty when `load` reads a kubeconfig."""
    if not _uses_pod(path, context, environment):
        return ""
    try:
        return file.read_text().strip()
    except OSError:
        return ""


def _uses_pod(path: Path | None, context: str | None, environment: Mapping[str, str]) -> bool:
    paths = str(path) if path else environment.get("KUBECONFIG", "")
    return not paths and not context and "KUBERNETES_SERVICE_HOST" in environment


def _in_cluster() -> Configuration:
    configuration = Configuration()
    try:
        config.load_incluster_config(configuration)  # type: ignore[no-untyped-call]
    except (config.ConfigException, OSError) as error:
        raise BadConfiguration(
            f"this looks like a pod, but its service account cannot be used: {error}; "
            "mount a service account token, or set KUBECONFIG"
        ) from error
    return configuration


async def _from_files(files: Files, context: str | None) -> Configuration:
    configuration = Configuration()
    context = files.context(context)
    try:
        loader = await config.load_kube_config(  # type: ignore[no-untyped-call]
            config_file=files.paths,
            context=context,
            client_configuration=configuration,
            persist_config=False,
        )
    except (config.ConfigException, OSError, ValueError, TypeError, AttributeError) as error:
        raise BadConfiguration(f"kubeconfig {files.paths} cannot be used: {error}") from error
    user = files.user(context)
    _keep_fresh(configuration, loader, user)
    impersonation.put(configuration, user.content)
    return configuration


def _keep_fresh(configuration: Configuration, loader: credentials.ExecLoader, user: Entry) -> None:
    """See to tokens that expire, and to plugins that gave none."""
    plugin = (user.content.get("exec") or {}).get("command")
    if plugin and not (configuration.api_key or configuration.cert_file):
        # The library has logged the plugin's own words, and would go on without credentials.
        raise BadConfiguration(
            f"the kubeconfig's credential plugin {plugin!r} gave no credentials: "
            "run it by hand to see why"
        )
    if plugin and hasattr(loader, "exec_plugin_expiry"):
        renewal = credentials.from_plugin(loader)
    elif user.content.get("tokenFile") and not user.content.get("token"):
        file = user.folder / user.content["tokenFile"]
        configuration.api_key["BearerToken"] = f"Bearer {credentials.read_token(file)}"
        renewal = credentials.from_file(file)
    else:
        return
    configuration.refresh_api_key_hook = renewal  # type: ignore[assignment] # declared as None


def _read(file: Path) -> dict[str, Any]:
    try:
        document = yaml.safe_load(file.read_text())
    except (OSError, UnicodeDecodeError) as error:
        raise BadConfiguration(f"kubeconfig {file} cannot be read: {error}") from error
    except yaml.YAMLError as error:
        raise BadConfiguration(f"kubeconfig {file} is not YAML") from error
    if not isinstance(document, dict):
        raise BadConfiguration(f"kubeconfig {file} is empty or no kubeconfig")
    return document
