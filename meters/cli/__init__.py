"""The `pitlink` command: a module for each subcommand, and `main`, the entry point."""
