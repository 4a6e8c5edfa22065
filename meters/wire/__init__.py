"""The public contract: messages, topics, the clock and the MQTT client."""
