"""What the processes log, and how one event is followed through them."""
