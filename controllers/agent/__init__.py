"""The program between a table's devices and the service. It watches the service's heartbeat."""
