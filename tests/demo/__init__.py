"""The embedded parts and the demonstration."""
