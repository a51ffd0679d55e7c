"""The patterns by which `tenon doctor --binary` selects kernels: those of every other command (name_pattern.hpp).

* stands for any characters, ? for one, | separates alternatives, and everything else for itself. An alternative matches a
whole name. No regular expression: re takes exponential time on nested ones. A match here takes at most the length of the
pattern times the length of the name steps.
"""

from .errors import BadInput

LONGEST = 256
SYNTAX = "* stands for any characters, ? for one, | separates alternatives"
_OF_REGULAR_EXPRESSIONS = "()[]{}^$+\\"


class NamePattern:
    def __init__(self, text):
        quoted = f"'{text}'" if len(text) <= 60 else f"'{text[:60]}...'"
        if len(text) > LONGEST:
            raise BadInput(f"--kernel is {quoted} of {len(text)} characters but a pattern must have at most {LONGEST}")
        for character in text:
            if character in _OF_REGULAR_EXPRESSIONS:
                raise BadInput(
                    f"--kernel is {quoted} and has '{character}' but must be a pattern of whole names: {SYNTAX}"
                )
        self._alternatives = text.split("|")

    def matches(self, name):
        return any(_matches(alternative, name) for alternative in self._alternatives)


def _matches(pattern, name):
    """Where the text after a * does not match, the * takes one character more. Only the last * has to: a shorter match of
    an earlier one leaves the later ones all that a longer one would."""
    p = n = taken = 0
    after_star = None
    while n < len(name):
        if p < len(pattern) and pattern[p] == "*":
            p += 1
            after_star, taken = p, n
        elif p < len(pattern) and pattern[p] in ("?", name[n]):
            p += 1
            n += 1
        elif after_star is not None:
            taken += 1
            p, n = after_star, taken
        else:
            return False
    return not pattern[p:].strip("*")
