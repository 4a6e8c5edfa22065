"""The submission of a floor to the regulator: games, links, odds and digests as JSON and PDF."""
