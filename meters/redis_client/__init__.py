"""Redis clients: connections, search for the primary, and waits for replicas."""
