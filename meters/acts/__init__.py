"""What people do with wins and links, and what they see of both, now and in the past."""
