"""The two errors of this package's commands; each carries a sentence for the user."""

OK, FAILED, BAD_INPUT, NO_TOOL = 0, 1, 2, 3  # exit statuses of every command


class BadInput(Exception):
    """The file or the request is wrong: exit status 2."""

    status = BAD_INPUT


class NoTool(Exception):
    """A required program or library is missing on this machine, or does not answer: exit status 3."""

    status = NO_TOOL
