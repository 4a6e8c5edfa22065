"""The public MQTT contract, held against a real service by a client that is not ours."""
