"""Ends every command of scripts/ with an exit status of errors.py and a sentence, never with a traceback."""

import errno
import functools
import os
import signal
import sys

from .errors import BAD_INPUT, NO_TOOL, BadInput, NoTool


def command(name):
    """Decorates a main(): turns an exception into an exit status and a sentence that begins with the command's name."""

    def decorate(main):
        @functools.wraps(main)
        def ended(*arguments):
            if hasattr(sys.stdout, "reconfigure"):
                sys.stdout.reconfigure(errors="backslashreplace")  # file names need not be UTF-8
            try:
                try:
                    return main(*arguments)
                finally:
                    _flush()  # now: when the interpreter ends, a full disk could no longer be reported
            except (BadInput, NoTool) as error:
                return _say(name, error, error.status)
            except MemoryError:
                return _say(name, "this machine has not enough memory", NO_TOOL)
            except BrokenPipeError:  # end as silently as a program killed by the signal: the reader has closed the pipe
                _forget_output()
                return 128 + signal.SIGPIPE
            except OSError as error:
                return _say(name, *_told(error))

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
