"""Claims: validation, rejection and payment of wins by people."""
