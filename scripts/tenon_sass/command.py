"""How every command of scripts/ begins and ends: its name and options, an exit status of errors.py with a sentence, never a
traceback. With --json a failure also prints {"error": {"code", "message"}}, as those of the program `tenon` do.

Each has two names: scripts/sass_check is installed by pip as tenon-sass-check. Its --help and its sentences have the one by
which it was started.
"""

import argparse
import errno
import functools
import json
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


class BadUsage(BadInput):
    """What argparse says about the options, after the usage."""

    def __init__(self, parser, message):
        super().__init__(message)
        self.parser = parser


class Parser(argparse.ArgumentParser):
    """For commands: what is wrong with the options is an exception, which command() tells."""

    def error(self, message):
        raise BadUsage(self, message)


class _FilesFirst(Parser):
    def error(self, message):
        if re.search(r"required: [A-Z]|arguments FILE .* is required", message):
            message += "; put it before the options, of which some take every word that follows"
        super().error(message)


def argument_parser(name, words, description, examples):
    """The parser of a command, with --version. words: what follows the name in the usage. Each example begins with the name."""
    prog = started_as(name)
    longer = len(prog) - len(name)  # taken from the gap before an explanation, so that these stay below each other
    line = rf"^  {re.escape(name)}( .*?)(?: {{{longer}}}(?=  )|$)"
    parser = _FilesFirst(
        prog=prog,
        usage=f"{prog} {words}",
        description=description,
        epilog=re.sub(line, lambda match: f"  {prog}{match[1]}", examples, flags=re.MULTILINE),
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--version", action="version", version=f"{prog} {__version__}")
    return parser


def command(name, json_is_a_flag=True):
    """Decorates a main(): turns an exception into an exit status and a sentence that begins with the command's name.
    json_is_a_flag: whether --json asks for an answer on standard output, and not for a file."""

    def decorate(main):
        @functools.wraps(main)
        def ended(*arguments):
            called = started_as(name)
            wants_json = json_is_a_flag and _has_json(*arguments)
            if hasattr(sys.stdout, "reconfigure"):
                sys.stdout.reconfigure(errors="backslashreplace")  # file names need not be UTF-8
            try:
                try:
                    return main(*arguments)
                except (BadInput, NoTool) as error:
                    return _fail(called, error, error.status, wants_json)
                except MemoryError:
                    return _fail(called, "this machine has not enough memory", NO_TOOL, wants_json)
                finally:
                    _flush()  # now: when the interpreter ends, a full disk could no longer be reported
            except KeyboardInterrupt:
                return 128 + signal.SIGINT
            except BrokenPipeError:  # end as silently as a program killed by the signal: the reader has closed the pipe
                _forget_output()
                return 128 + signal.SIGPIPE
            except OSError as error:
                return _fail(called, *_told(error), wants_json)

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


def _has_json(words=None):
    """Whether --json stands among a command's options. What follows -- are those of another program."""
    words = [str(word) for word in (sys.argv[1:] if words is None else words)]
    return "--json" in words[: words.index("--") if "--" in words else len(words)]


def _fail(name, error, status, wants_json):
    """Tells why a command fails; returns the exit status."""
    try:
        if isinstance(error, BadUsage):
            error.parser.print_usage(sys.stderr)
            name = f"{error.parser.prog}: error"
        print(f"{name}: {error}", file=sys.stderr)
        if wants_json:
            code = "bad_input" if status == BAD_INPUT else "machine_cannot"
            print(json.dumps({"error": {"code": code, "message": str(error)}}, indent=2))
            _flush()
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
