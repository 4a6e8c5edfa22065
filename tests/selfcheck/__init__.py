"""The self-check: software, configuration, and what a running service makes of them."""
