"""What people do with wins and links, and what they see of these: now, and in the past."""
