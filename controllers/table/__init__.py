"""A table's states and transitions. Pure."""
