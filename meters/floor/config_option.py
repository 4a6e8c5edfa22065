from pathlib import Path
from typing import Annotated

import typer

ConfigOption = Annotated[
    Path, typer.Option("--config", help="The floor file, a TOML text.", metavar="FLOOR.toml")
]
