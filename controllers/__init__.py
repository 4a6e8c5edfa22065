"""The table side of pitlink: table states, devices, agents, panels, bots and the demonstration."""
