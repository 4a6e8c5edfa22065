"""The table side: table states, devices, the agent with its outbox, the panel, bots, the demo."""
