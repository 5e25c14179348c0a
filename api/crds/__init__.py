"""The generator of the CRD files in `deploy/crds/`.

`python -m api.crds deploy/crds` writes one file per kind. Reads the models and the markers of
their fields. At run time only agents use it, to install missing CRDs on their members.
"""

from api.crds.definitions import MODELS, definition, file_name, render

__all__ = ["MODELS", "definition", "file_name", "render"]
