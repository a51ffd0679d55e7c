"""The two ways in which a command of this package cannot answer; each carries a sentence for people."""

OK, FAILED, BAD_INPUT, NO_TOOL = 0, 1, 2, 3  # exit statuses of every command


class BadInput(Exception):
    """The file or the request is wrong: exit status 2."""

    status = BAD_INPUT


class NoTool(Exception):
    """This machine cannot: a program or library that the work needs is missing, or does not answer: exit status 3."""

    status = NO_TOOL
