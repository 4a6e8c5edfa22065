"""The test tools that are commands: `python -m tests NAME …`."""

import importlib
import sys
from typing import Final

_COMMANDS: Final = {
    "sim": "tests.sim.command",
}


def main() -> int:
    """Run the command that is named first."""
    if len(sys.argv) < 2 or sys.argv[1] not in _COMMANDS:
        sys.stderr.write(f"usage: python -m tests {'|'.join(_COMMANDS)} [--help]\n")
        return 2
    status: int = importlib.import_module(_COMMANDS[sys.argv[1]]).main(sys.argv[2:])
    return status


if __name__ == "__main__":
    sys.exit(main())
