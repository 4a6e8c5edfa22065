"""Intake of table events: each event is decoded, validated, applied in a batch, and answered."""
