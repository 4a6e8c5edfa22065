"""The `pitlink` command: one module a command, and one entry point."""
