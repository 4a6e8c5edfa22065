"""The program between a table's devices and the service, whose heartbeat it watches."""
