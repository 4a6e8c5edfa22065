from tests.mqtt.conftest import stand

__all__ = ["stand"]
