"""The `pitlink` command: `main`, and the subcommands of this package."""
