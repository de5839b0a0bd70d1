"""How heldout fails: exit statuses, ERROR codes, and the one way a program ends.

Exit statuses (the same for every program): 0 done; 1 what the program exists to find (a failed check,
a regression, a broken seal); 2 everything that could not be done or decided, a crash included, so that
a crash never looks like a failed check.
"""

import os
import signal
import sys
from collections.abc import Callable
from functools import wraps
from pathlib import Path
from typing import Any, NoReturn

DONE, FOUND, COULD_NOT = 0, 1, 2

# The closed list of ERROR codes: faults of the harness or the infrastructure, never of the behaviour.
CODES = (
    "no-transcript",
    "empty-transcript",
    "unreadable-transcript",
    "no-result",
    "api-error",
    "killed",
    "limit",
    "model-mismatch",
    "plugin-not-loaded",
    "hook-not-delivered",
    "stub-not-applied",
    "env-leak",
    "abandoned-subagent",
    "fixture-changed",
    "judge-missing",
    "judge-error",
    "check-error",
    "sandbox-error",
)


class Refusal(Exception):
    """The program cannot do what it was asked; `message` names the subject, `mend` what to do about it."""

    def __init__(self, message: str, mend: str = "") -> None:
        super().__init__(message)
        self.message, self.mend = message, mend

    def __str__(self) -> str:
        return f"{self.message}; {self.mend}" if self.mend else self.message


class Fault(Exception):
    """A cell could not be measured or decided; `code` is one of CODES, `detail` says what was seen."""

    def __init__(self, code: str, detail: str = "") -> None:
        assert code in CODES, code
        super().__init__(code, detail)
        self.code, self.detail = code, detail

    def __str__(self) -> str:
        return f"{self.code}: {self.detail}" if self.detail else self.code


class Interrupted(BaseException):
    """A signal ends the program; `number` says which. No KeyboardInterrupt: typer would end with its status, unsaid."""

    def __init__(self, number: int) -> None:
        super().__init__(number)
        self.number = number


def program_name() -> str:
    return Path(sys.argv[0]).name


def say(message: object) -> None:
    """One line for people, on stderr, with the program's name in front."""
    print(f"{program_name()}: {printable(str(message))}", file=sys.stderr, flush=True)


def told(error: Exception) -> str:
    """What a message says of an exception; HELDOUT_DEBUG=1 prints the traceback of one that no program foresees."""
    if isinstance(error, (Refusal, Fault)):
        return str(error)
    if isinstance(error, OSError):
        why = str(error.strerror or error)
        return f"{why}: '{error.filename}'" if error.filename else why
    if os.environ.get("HELDOUT_DEBUG"):
        import traceback

        traceback.print_exception(error)
    where = error.__traceback__
    while where and where.tb_next:
        where = where.tb_next
    place = f"{Path(where.tb_frame.f_code.co_filename).name}:{where.tb_lineno}" if where else "?"
    return f"internal error at {place}: {type(error).__name__}: {error} (HELDOUT_DEBUG=1 shows the traceback)"


def printable(text: str) -> str:
    """Text of one line: what does not print, as a newline in a file's name or a byte that is no UTF-8, is escaped."""
    return "".join(letter if letter.isprintable() else _escape(letter) for letter in text)


def _escape(letter: str) -> str:
    # A byte of a name that does not decode stands as a surrogate from U+DC80 on.
    byte = "\udc80" <= letter <= "\udcff"
    return f"\\x{ord(letter) & 0xFF:02x}" if byte else letter.encode("unicode_escape").decode()


def program(main: Callable[..., Any]) -> NoReturn:
    """Run `main` as a typer command and end the process with its status.

    `main` returns the exit status (None is 0). Refusals, faults and usage errors become one line on stderr and status
    2, and so does any other exception (HELDOUT_DEBUG=1 shows its traceback). A closed stdout ends the process by
    SIGPIPE (141), as Unix tools do; not by the signal's default from the start, since that would also end a program
    that writes to a judge which does not read. SIGTERM and SIGHUP end it as SIGINT does.
    """
    import typer

    _interruptible()
    if sys.stdout is None:  # pyright: ignore[reportUnnecessaryComparison]
        say("stdout is closed; redirect it to /dev/null")
        sys.exit(COULD_NOT)
    # typer carries its own copy of click since 0.26; the class is reached through what it exports.
    usage_error: Any = typer.BadParameter.__base__

    app = typer.Typer(add_completion=False, pretty_exceptions_enable=False, rich_markup_mode=None)
    app.command(context_settings={"help_option_names": ["-h", "--help"]})(_ended_by_a_closed_pipe(main))
    status: Any = COULD_NOT
    try:
        status = app(standalone_mode=False) or DONE
    except usage_error as error:
        text = error.format_message().rstrip(".")
        say(f"{text[:1].lower()}{text[1:]}; see '{program_name()} --help'")
    except Interrupted as error:
        say("interrupted")
        status = 128 + error.number
    except SystemExit as error:  # of typer itself: it ends with 1, the status of a failed check, at a closed pipe
        if error.code == 1:
            _end_by_pipe()
        status = error.code
    except Exception as error:
        say(told(error))
    sys.exit(status)


def _interruptible() -> None:
    """Let each signal that asks a program to end be an exception, so that what it started is ended and tidied up.

    The first one counts alone: another would cut the tidying short. One that is ignored, as under nohup, stays so.
    """

    def interrupt(number: int, _: object) -> NoReturn:
        for each in _ENDING:
            signal.signal(each, signal.SIG_IGN)
        raise Interrupted(number)

    for each in _ENDING:
        if signal.getsignal(each) != signal.SIG_IGN:
            signal.signal(each, interrupt)


_ENDING = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


def _ended_by_a_closed_pipe(main: Callable[..., Any]) -> Callable[..., Any]:
    """`main` that ends by SIGPIPE where typer would end with 1, the status of a failed check."""

    @wraps(main)
    def guarded(*given: Any, **named: Any) -> Any:
        try:
            status = main(*given, **named)
            sys.stdout.flush()
        except BrokenPipeError:
            _end_by_pipe()
        else:
            return status

    return guarded


def _end_by_pipe() -> None:
    signal.signal(signal.SIGPIPE, signal.SIG_DFL)
    os.kill(os.getpid(), signal.SIGPIPE)
