"""How every command of scripts/ begins and ends: its name and options, an exit status of errors.py with a sentence, never a
traceback.

Each has two names: scripts/sass_check is installed by pip as tenon-sass-check. Its --help and its sentences have the one by
which it was started.
"""

import argparse
import errno
import functools
import os
import re
import signal
import sys

from . import __version__
from .errors import BAD_INPUT, NO_TOOL, BadInput, NoTool


def started_as(name):
    """The name of the installed command if that was started, else the given one."""
    program = os.path.basename(sys.argv[0])
    return program if program.startswith("tenon-") else name


class _Parser(argparse.ArgumentParser):
    def error(self, message):
        if re.search(r"required: [A-Z]|arguments FILE .* is required", message):
            message += "; put it before the options, of which some take every word that follows"
        super().error(message)


def argument_parser(name, words, description, examples):
    """The parser of a command, with --version. words: what follows the name in the usage. Each example begins with the name."""
    prog = started_as(name)
    longer = len(prog) - len(name)  # taken from the gap before an explanation, so that these stay below each other
    line = rf"^  {re.escape(name)}( .*?)(?: {{{longer}}}(?=  )|$)"
    parser = _Parser(
        prog=prog,
        usage=f"{prog} {words}",
        description=description,
        epilog=re.sub(line, lambda match: f"  {prog}{match[1]}", examples, flags=re.MULTILINE),
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--version", action="version", version=f"{prog} {__version__}")
    return parser


def command(name):
    """Decorates a main(): turns an exception into an exit status and a sentence that begins with the command's name."""

    def decorate(main):
        @functools.wraps(main)
        def ended(*arguments):
            called = started_as(name)
            if hasattr(sys.stdout, "reconfigure"):
                sys.stdout.reconfigure(errors="backslashreplace")  # file names need not be UTF-8
            try:
                try:
                    return main(*arguments)
                finally:
                    _flush()  # now: when the interpreter ends, a full disk could no longer be reported
            except (BadInput, NoTool) as error:
                return _say(called, error, error.status)
            except MemoryError:
                return _say(called, "this machine has not enough memory", NO_TOOL)
            except BrokenPipeError:  # end as silently as a program killed by the signal: the reader has closed the pipe
                _forget_output()
                return 128 + signal.SIGPIPE
            except OSError as error:
                return _say(called, *_told(error))

        return ended

    return decorate


def _told(error):
    """(sentence, exit status) of an OSError."""
    if error.filename is not None:
        return f"{os.fsdecode(error.filename)}: {error.strerror}", BAD_INPUT
    if error.errno in (errno.EAGAIN, errno.ENOMEM, errno.EMFILE, errno.ENFILE):  # no process or file can be opened
        return f"this machine cannot: {error.strerror}", NO_TOOL
    _forget_output()
    return f"standard output cannot be written: {error.strerror}", NO_TOOL


def _say(name, sentence, status):
    try:
        print(f"{name}: {sentence}", file=sys.stderr)
    except OSError:
        pass  # the exit status remains
    return status


def _flush():
    if sys.stdout:  # None if the caller closed it
        sys.stdout.flush()


def _forget_output():
    """Discards the buffer, so that the interpreter does not fail to flush it at exit."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, sys.stdout.fileno())
    os.close(nowhere)
