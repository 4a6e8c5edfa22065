"""The table side: a table's states, its devices, its outbox, its agent, and dealer bots."""
