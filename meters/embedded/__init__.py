"""A broker and a Redis beside the service, for a floor file that names none."""
