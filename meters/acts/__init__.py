"""Acts of people: they decide wins and correction requests, and open, close and change links."""
