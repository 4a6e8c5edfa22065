"""Agent of a table: the program between the table's devices and the service.

It has an outbox, delivers the table's events, checks the heartbeat, and reads the devices.
"""
