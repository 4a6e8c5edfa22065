"""The commands of the table side."""
