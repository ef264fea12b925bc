"""How a capture ends early, and where in the candidate's file it happened."""

import linecache
import re
import sys


class CaptureStop(BaseException):
    """A typed end of a capture.

    It is no `Exception`: a candidate's `try: ... except Exception:` must not turn "this cannot be captured" into
    another path. The recorder remembers the first one besides, should a bare `except:` swallow it.
    """

    def __init__(self, error_class, message, line=None):
        super().__init__(message)
        self.error_class, self.message, self.line = error_class, message, line


def line_in(path, frame=None):
    """The line of the innermost running frame that belongs to the file `path`; 0 when there is none."""
    frame = frame or sys._getframe(1)
    while frame is not None:
        if frame.f_code.co_filename == path:
            return frame.f_lineno
        frame = frame.f_back
    return 0


def line_of(error, path):
    """The line of the deepest frame of the file `path` that the exception passed through; 0 when there is none."""
    line, trace = 0, error.__traceback__
    while trace is not None:
        if trace.tb_frame.f_code.co_filename == path:
            line = trace.tb_lineno
        trace = trace.tb_next
    return line


def describe(error_class, message, path, line):
    """The error of an answer, with the text of its line."""
    return {"class": error_class, "message": message[:4000], "line": line,
            "excerpt": linecache.getline(path, line).strip()[:400] if line else ""}


def describe_exception(error, path, where):
    """Any exception that left the candidate's code, as the error of an answer."""
    if isinstance(error, CaptureStop):
        line = error.line if error.line is not None else line_of(error, path)
        return describe(error.error_class, error.message, path, line)
    if isinstance(error, SyntaxError) and error.filename == path:
        return describe("syntax_error", f"{type(error).__name__}: {error.msg}", path, error.lineno or 0)
    if is_triton_error(error):
        return describe_triton_error(error, path)
    if isinstance(error, ImportError) and where == "import":
        return describe("import_error", f"{type(error).__name__}: {error}", path, line_of(error, path))
    name = type(error).__name__
    return describe("exception", f"{name} in {where}: {error}", path, line_of(error, path))


def is_triton_error(error):
    from triton.compiler.errors import CompilationError
    return isinstance(error, CompilationError)


def describe_triton_error(error, path):
    """Triton nests one CompilationError for each call between jit functions; the deepest in our file tells most."""
    source = "".join(linecache.getlines(path))
    line, chain = 0, error
    while chain is not None:
        if is_triton_error(chain) and (found := line_of_node(chain, source)):
            line = found
        if chain.__cause__ is None:
            break
        chain = chain.__cause__
    message = getattr(chain, "error_message", None) or str(chain)
    return describe("compile_error", f"{type(chain).__name__}: {message}", path, line)


def line_of_node(error, source):
    """Triton counts lines from the function's `def`; the file's line is found through the function's name."""
    name = re.match(r"def\s+(\w+)", error.src or "")
    if name is None or not hasattr(error.node, "lineno"):
        return 0
    found = re.search(rf"^[ \t]*def\s+{name.group(1)}\s*\(", source, re.MULTILINE)
    return source.count("\n", 0, found.start()) + error.node.lineno if found else 0
