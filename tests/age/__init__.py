"""A house of many years: its data, made in minutes, and the costs of its age."""
