"""Translations: gettext files `LANGUAGE.po` in the folder `catalogs` of a package."""

from collections.abc import Mapping
from functools import cache
from importlib.resources import files

from babel.messages.pofile import read_po

from meters.floor.branding import Language


@cache
def translations(package: str, language: Language, context: str | None = None) -> Mapping[str, str]:
    """Return a package's translations by their English text; empty if the file is missing."""
    path = files(package).joinpath("catalogs", f"{language.replace('-', '_')}.po")
    if not path.is_file():
        return {}
    with path.open("rb") as file:
        entries = [entry for entry in read_po(file) if entry.id and entry.context == context]
    return {str(entry.id): str(entry.string) for entry in entries}
