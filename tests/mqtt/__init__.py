"""Tests of the public MQTT contract: a real service, and a client that is not ours."""
