"""The table panel: what a dealer sees of one table, and touches. It has the agent's own door."""
