"""The agent of one table: outbox, event delivery, heartbeat and devices."""
