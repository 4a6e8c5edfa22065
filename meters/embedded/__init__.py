"""A broker and a Redis that run with the service if the floor file names none."""
