"""Streams and events of the virtual GPU. Nothing runs, so nothing waits, but the plan learns what would.

A recorder's list of steps holds entries of their own for what a module does with streams: `{"order": {"kind": ...}}`. The
kinds are `use` (the steps that follow run on this stream), `record` (this event is recorded on this stream), `wait` (this
stream waits for this event; the stream -1 is Python itself) and `finish` (Python waits for all streams).
"""

import torch

from . import whole_operators

HOST = -1

_count = 0
_events = 0


def note(kind, stream=0, event=0):
    recorder = whole_operators.recorder()
    if recorder is not None:
        recorder.add_order(kind, stream, event)


class Fixed:
    """An object whose attributes nobody sets, as with torch's own streams and events."""

    def __init__(self, **attributes):
        for name, value in attributes.items():
            object.__setattr__(self, name, value)

    def __setattr__(self, name, value):
        raise AttributeError(f"attribute '{name}' of '{type(self).__name__}' objects is not writable")


class VirtualStream(Fixed):
    device, device_index, device_type = torch.device("cuda", 0), 0, 1

    def __init__(self, device=None, priority=0, **kwargs):
        global _count
        _count += 1
        super().__init__(number=_count, priority=min(priority, 0) if isinstance(priority, int) else 0,
                         stream_id=8 * _count + 3, cuda_stream=0x55d0_4a10_0000 + 0x6c40 * _count)

    def __eq__(self, other): return isinstance(other, VirtualStream) and self.number == other.number
    def __hash__(self): return hash((self.cuda_stream, self.device))
    def synchronize(self): self.record_event().synchronize()
    def wait_stream(self, stream): stream.record_event().wait(self)
    def wait_event(self, event): event.wait(self)

    def record_event(self, event=None):
        event = event or VirtualEvent()
        event.record(self)
        return event

    def query(self):
        self.synchronize()  # the answer is that all its work is done
        return True

    def __enter__(self):
        entered = Entered(self)
        entered.__enter__()
        _entered.append(entered)
        return self

    def __exit__(self, *error):
        _entered.pop().__exit__(*error)

    @staticmethod
    def priority_range(): return 0, -5


class VirtualEvent(Fixed):
    device, event_id, cuda_event = torch.device("cuda", 0), 0, 0

    def __init__(self, *args, **kwargs):
        global _events
        _events += 1
        super().__init__(number=_events)

    def record(self, stream=None): note("record", (stream or current()).number, self.number)
    def wait(self, stream=None): note("wait", (stream or current()).number, self.number)
    def synchronize(self): note("wait", HOST, self.number)

    def query(self):
        self.synchronize()
        return True


class MainStream(VirtualStream):

    def __init__(self):
        Fixed.__init__(self, number=0, priority=0, stream_id=0, cuda_stream=0)


class KnownStream(VirtualStream):
    """A stream that torch's functions below torch.cuda know by its id."""

    def __init__(self, stream_id):
        number = (stream_id - 3) // 8
        Fixed.__init__(self, number=number, priority=0, stream_id=stream_id, cuda_stream=0x55d0_4a10_0000 + 0x6c40 * number)


MAIN = MainStream()
_current = MAIN
_entered = []  # the contexts of `with stream:`


def current(device=None):
    return _current


def default(device=None):
    return MAIN


def use(stream):
    global _current
    if stream is not None and stream != _current:
        _current = stream
        note("use", stream.number)


def use_raw(stream_id=0, device_index=0, device_type=1):
    """Replaces torch's function below set_stream, which knows a stream by its id."""
    use(KnownStream(stream_id) if stream_id else MAIN)


def raw_current(device=None):
    return _current.cuda_stream


def current_parts(device=None):
    return _current.stream_id, 0, 1


class Entered:
    """Replaces torch.cuda.stream and torch.cuda.StreamContext."""

    def __init__(self, stream):
        self.stream, self.before = stream, None

    def __enter__(self):
        self.before = _current
        use(self.stream)

    def __exit__(self, *error):
        use(self.before)


def synchronize(device=None):
    note("finish")


def begin():
    """Makes the main stream the current one, for a new capture."""
    global _current
    _current = MAIN


def apart(steps):
    """Returns the steps of a plan and its `orders`: what happens to streams before the step of an index.

    Streams and events have numbers by their first use, so that two calls that do the same are equal. There are no orders if
    all steps run on one stream.
    """
    plain, orders, streams, events = [], [], {0: 0, HOST: HOST}, {0: 0}
    for step in steps:
        order = step.get("order")
        if order is None:
            plain.append(step)
        else:
            orders.append({"phase": step["phase"], "before": len(plain), "kind": order["kind"],
                           "stream": streams.setdefault(order["stream"], len(streams) - 1),
                           "event": events.setdefault(order["event"], len(events))})
    leaves_main = any(order["kind"] == "use" and order["stream"] != 0 for order in orders)
    return plain, orders if leaves_main else []
