"""Configuration files that come with pitlink. The wheel has copies of the files of `deploy/`."""

from pathlib import Path
from typing import Final

_INSTALLED: Final = Path(__file__).with_name("pieces")
_CHECKOUT: Final = Path(__file__).parents[2] / "deploy"


def read_piece(name: str) -> str:
    """Return the text of a configuration file, by its path in `deploy/`."""
    home = _INSTALLED if _INSTALLED.is_dir() else _CHECKOUT
    return (home / name).read_text(encoding="utf-8")
