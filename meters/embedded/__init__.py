"""A broker and a Redis that run with the service, for a floor file that names none."""
