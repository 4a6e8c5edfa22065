"""How large a floor becomes, measured: `pitlink bench --sizing`."""
