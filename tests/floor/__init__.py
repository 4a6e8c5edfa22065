"""The floor file: what is refused, with its line and the reason, and the commands that take it."""
