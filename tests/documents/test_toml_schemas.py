"""The schemas with which an editor completes and checks game files and floor files."""

import tomllib
from pathlib import Path
from typing import Final

import pytest
from jsonschema import Draft202012Validator

from tests.documents.json_schemas import json_schema
from tests.games.naive import HOUSE

ROOT: Final = Path(__file__).parents[2]
GAMES: Final = [
    *(ROOT / "bonus" / "law" / "chapters").glob("*.toml"),
    *(ROOT / "controllers" / "demo" / "games").glob("*.toml"),
    *HOUSE.glob("*.toml"),
]
FLOORS: Final = [*(ROOT / "deploy").glob("floor*.toml")]
FILES: Final = [
    *(("game-file", path) for path in GAMES),
    *(("floor-file", path) for path in FLOORS),
]


@pytest.mark.parametrize(("schema", "path"), FILES, ids=[path.name for _, path in FILES])
def test_a_file_fits_its_schema_and_a_misspelled_key_does_not(schema: str, path: Path) -> None:
    validator = Draft202012Validator(json_schema(schema))
    found = tomllib.loads(path.read_text())
    assert [error.message for error in validator.iter_errors(found)] == []
    assert not validator.is_valid({**found, "titel": "misspelled"})


def test_the_schemas_themselves_are_valid() -> None:
    for name in ("game-file", "floor-file"):
        Draft202012Validator.check_schema(json_schema(name))
    assert len(FILES) > 10
