from typing import Final

from jinja2 import Environment, PackageLoader, StrictUndefined, Template
from markupsafe import Markup

from meters.http.headers import GUARD

_GUARD_ELEMENT: Final = Markup(f"<script>{GUARD}</script>")  # noqa: S704  (our own file)


def load_template(package: str, name: str) -> Template:
    """Return a template of a package. Values are escaped, and a missing value is an error.

    The value `guard` is a script that loads a page again if one of its files cannot be loaded.

    Raises:
        jinja2.TemplateNotFound: the package has no such file.
    """
    environment = Environment(
        loader=PackageLoader(package, ""),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    environment.globals["guard"] = _GUARD_ELEMENT
    return environment.get_template(name)
