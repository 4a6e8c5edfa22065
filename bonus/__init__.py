"""The rules of play, pure: cards, hands, paytables and settlement of 58 Pa. Code.

The ground floor of the house. Nothing in here reads a clock, a socket or a random source; the
commands alone read standard input and write standard output.
"""
