"""A store that was lost is made again."""
