"""What is under deploy/: accepted by the tools that read it, and running."""
