"""The generator of the CRD files in `deploy/crds/`.

`python -m api.crds deploy/crds` writes one file a kind. Reads the models and the markers at
their fields. At run time only an agent needs it, which installs what it lacks on its member.
"""

from api.crds.definitions import MODELS, definition, file_name, render

__all__ = ["MODELS", "definition", "file_name", "render"]
