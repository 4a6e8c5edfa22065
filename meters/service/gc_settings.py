"""How often the garbage collector looks at a service that takes thousands of events a second."""

import gc


def tune_collection() -> None:
    """Have the garbage collector look less often, and never at what stays for good.

    Each message makes many short-lived objects, none of them in a cycle: at the usual thresholds
    the collector took a sixth of the service's time.
    """
    gc.collect()
    gc.freeze()
    gc.set_threshold(50_000, 50, 100)
