"""The states and transitions of a table. Pure."""
