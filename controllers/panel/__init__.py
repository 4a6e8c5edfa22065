"""The table panel: a dealer's page for one table; it uses the agent directly."""
