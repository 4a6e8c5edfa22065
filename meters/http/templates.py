"""Templates of pages: HTML files next to the code that fills them with values."""

from jinja2 import Environment, PackageLoader, StrictUndefined, Template


def load_template(package: str, name: str) -> Template:
    """Return a template of a package. Values are escaped, and a missing value is an error.

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
    return environment.get_template(name)
