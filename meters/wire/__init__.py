"""The public contract: its messages, topics and times; and the MQTT client."""
