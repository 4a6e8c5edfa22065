"""The page on which a person settles a whole round by hand, to decide a dispute.

The service and the panel of a table serve the same page. It computes nothing: it sends the round to
its server, which settles it as `pitlink settle` does. Nothing is stored.
"""
