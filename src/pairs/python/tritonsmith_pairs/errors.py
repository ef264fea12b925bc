"""The reason why a module has no pair."""


class NoPair(Exception):
    """`kind` is one word for counting, the message one sentence for people."""

    def __init__(self, kind, message):
        super().__init__(message)
        self.kind = kind
