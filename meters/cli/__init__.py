"""The `pitlink` command: one module for each command, and one entry point."""
