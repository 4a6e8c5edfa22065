"""What passes between the parts: messages, topics and the floor file.

The one room of `meters` that the table side may enter.
"""
