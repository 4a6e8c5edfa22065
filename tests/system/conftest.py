from tests.system.debian_root import debian_root

__all__ = ["debian_root"]
