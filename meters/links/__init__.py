"""Links and meters: opening, closing, and changes that two people confirm."""
