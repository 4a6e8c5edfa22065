"""The `pitlink` command. Each subcommand has a module here. `main` is the entry point."""
