"""How large a floor becomes, measured: `python -m tests bench --sizing`."""
