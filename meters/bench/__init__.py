"""The benchmark: real parts of its own, a load from another process, figures as one JSON object."""
