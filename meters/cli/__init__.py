"""The `pitlink` command. Each subcommand has a module; `main` is the entry point."""
