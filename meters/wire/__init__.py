"""The public contract between tables and service (messages, topics), and the MQTT client."""
