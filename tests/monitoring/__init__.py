"""What Prometheus reads, what it warns of, and what is drawn from it."""
