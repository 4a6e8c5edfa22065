"""Real processes, played through and killed."""
