"""Tests of the embedded parts and the demonstration."""
