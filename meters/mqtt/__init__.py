"""The connection to the MQTT broker."""
