"""Agent of a table: the program between the table's devices and the service.

The agent reads the devices, keeps the table's events in an outbox, delivers them to the service,
and checks the service's heartbeat.
"""
