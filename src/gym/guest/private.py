"""What the guest's own work is done with once a candidate's code has run in its process.

A candidate can replace any attribute of any module or class of Python's library, such as `json.dumps`. So the functions here look
nothing up when they are called: all that they use is bound when this module is imported, before any candidate runs, in cells and
in C. A cell is out of a candidate's reach (inner_objects.py).
"""

import _json
import _socket
import time


def serialiser():
    """Returns a function that turns a value into JSON. It runs no method of the value: a number or a text of a class of the
    file's is written as the number or the text that Python holds."""
    def refuse(value):
        raise TypeError("a value that JSON does not have")
    encode = _json.make_encoder(None, refuse, _json.encode_basestring, None, ": ", ", ", False, False, True)
    join = "".join
    return lambda value: join(encode(value, 0))


def sender():
    """Returns a function that sends a text as a frame (gym/wire/frame.h)."""
    send, encode, length, head = _socket.socket.sendall, str.encode, len, int.to_bytes

    def send_text(connection, text):
        payload = encode(text, "utf-8", "replace")
        send(connection, head(length(payload), 4, "little") + payload)
    return send_text


json_of, send_text = serialiser(), sender()


def answerer(capture):
    """Returns a function that captures a request. It returns a guest's reply, and the text of the plan or None."""
    encode, now, milliseconds, pop = json_of, time.monotonic_ns, 1e6, dict.pop

    def answer(request):
        start, text = now(), None
        try:
            reply = capture(request)
            plan = pop(reply, "plan", None)
            text = None if plan is None else encode(plan)
        except BaseException:  # capture never raises, but a candidate may have broken what it works with
            reply = {"error": {"class": "tampering", "message": "the file changes Python so that a capture fails", "line": 0,
                               "excerpt": ""}, "stage": "inspected"}
        reply["capture_ms"] = (now() - start) / milliseconds
        reply["plan_follows"] = text is not None
        return reply, text
    return answer


def replier(capture):
    """Returns a function that does a guest's work for one request, and sends a header, followed by the plan if there is one."""
    answer, send, encode = answerer(capture), send_text, json_of

    def reply_to(request, connection):
        reply, text = answer(request)
        send(connection, encode(reply))
        if text is not None:
            send(connection, text)
    return reply_to


def keeper():
    """Returns a function that keeps a value for an object, and one that returns it, or a default. An attribute of the object would
    show the value to a candidate that has the object."""
    kept = {}  # an object's id -> the object, so that its id stays its own, and the value

    def keep(owner, value):
        kept[id(owner)] = owner, value

    def kept_for(owner, default=None):
        return kept[id(owner)][1] if id(owner) in kept else default
    return keep, kept_for
