"""Redis clients: connecting, primary discovery, and waiting for replicas."""
