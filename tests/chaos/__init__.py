"""Real processes that are killed while tables play, and what holds afterwards."""
