"""The errors that end a capture early, and the line of the captured file that caused them."""

import linecache
import re
import sys

from .languages import LANGUAGES

COLOUR = re.compile(r"\x1b\[[0-9;]*[A-Za-z]")  # what a terminal reads as a colour or a movement


def register():
    """Returns the functions that know the file that is being captured and the first CaptureStop since begin().

    A candidate can catch a CaptureStop and change it, or its class. So what counts is kept here, as a tuple, where no
    attribute leads to."""
    path, first = "", None

    def begin(new_path):
        nonlocal path, first
        path, first = new_path, None

    def captured_path():
        return path

    def note(error_class, message, line):
        nonlocal first
        first = first or (str(error_class), str(message), line)

    def first_stop():
        """Returns the first CaptureStop, or None."""
        return CaptureStop(*first) if first else None

    def forget_stop():
        nonlocal first
        first = None
    return begin, captured_path, note, first_stop, forget_stop


begin, captured_path, note, first_stop, forget_stop = register()


class CaptureStop(BaseException):
    """Ends a capture with an error class.

    It does not derive from `Exception`: a candidate's `try: ... except Exception:` must not hide that something cannot be
    captured. The first one counts even if a bare `except:` catches it or another thread raises it.
    """

    def __init__(self, error_class, message, line=None):
        super().__init__(message)
        self.error_class, self.message = error_class, message
        self.line = line_in(captured_path()) if line is None else line
        note(error_class, message, self.line)


def line_in(path, frame=None):
    """Returns the line of the innermost running frame that belongs to the file `path`, or 0 if there is none."""
    frame = frame or sys._getframe(1)
    while frame is not None:
        if frame.f_code.co_filename == path:
            return frame.f_lineno
        frame = frame.f_back
    return 0


def line_of(error, path):
    """Returns the line of the deepest frame of the file `path` that the exception passed through, or 0 if there is none."""
    line, trace = 0, error.__traceback__
    while trace is not None:
        if trace.tb_frame.f_code.co_filename == path:
            line = trace.tb_lineno
        trace = trace.tb_next
    return line


def describe(error_class, message, path, line):
    """Returns the error of an answer, with the text of its line."""
    return {"class": error_class, "message": COLOUR.sub("", message)[:4000], "line": line,
            "excerpt": linecache.getline(path, line).strip()[:400] if line else ""}


def describe_exception(error, path, where):
    """Turns any exception that left the captured code into the error of an answer."""
    if isinstance(error, CaptureStop):
        return describe(error.error_class, error.message, path, error.line or line_of(error, path))
    if isinstance(error, SyntaxError) and error.filename == path:
        return describe("syntax_error", f"{type(error).__name__}: {error.msg}", path, error.lineno or 0)
    for language in LANGUAGES:
        if language.is_own_error(error):
            message, line = language.message_and_line(error, path)
            return describe("compile_error", message, path, line)
    if isinstance(error, ImportError) and where == "import":
        return describe("import_error", f"{type(error).__name__}: {text_of(error)}", path, line_of(error, path))
    name = type(error).__name__
    return describe("exception", f"{name} in {where}: {text_of(error)}", path, line_of(error, path))


def text_of(error):
    """Returns an exception's text. This can fail: the class may be the candidate's own, and fake tensors do not print."""
    try:
        return str(error)
    except BaseException:
        return "(its message cannot be shown)"
