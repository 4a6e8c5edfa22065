"""The public contract between tables and service (messages, topics, times), and the MQTT client."""
