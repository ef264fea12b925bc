"""What a guest runs for a solution that a data set holds: one request, one answer, as pair.py. The source is the solution's."""

from . import pair


def preload(bytecode_folder):
    pair.preload(bytecode_folder, ["torch"])


def warm():
    from . import given  # noqa: F401  (each guest has it then)


def capture(request):
    """Returns the answer. It never raises."""
    from . import given
    try:
        return {"plan": {"code": given.plain(request["source"])}}
    except (SyntaxError, ValueError) as error:
        return {"plan": {"reason": "unknown_code", "message": pair.message_of(error)}}
    except BaseException as error:  # the text is foreign: it may be too deep, for one
        reason = pair.reason_of(error)
        return {"plan": {"reason": reason, "message": pair.message_of(error)}}
