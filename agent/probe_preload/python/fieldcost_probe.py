"""Probe points of fieldcost: where time goes between named steps of an event.

    with event("index_open") as opened:     # an event, to the end of the block
        point("data loaded", value=len(x))  # a step of this task's or thread's innermost event
    point_in(opened, "view ready")          # a step of that event, wherever it is known

Each asyncio task and each thread has its own innermost event (contextvars): an event of one of them
does not apply to another, unless that is a task started by it or is given the event. Points outside
of all events belong to the process's event. Unless the program runs under `fieldcost probe run`, the
functions do nothing and cost no more than the call. Nothing here raises.

Python 3.9 and later; any thread.
"""

import contextvars
import ctypes
import sys

__all__ = ["enabled", "event", "join", "point", "point_in", "traceparent"]


class _Id(ctypes.Structure):
    _fields_ = [("run", ctypes.c_uint64), ("number", ctypes.c_uint64)]


_NONE = _Id(0, 0)
_MASK = 0xFFFFFFFFFFFFFFFF


def _load():
    """Returns the runtime's functions if it is loaded and active in this process, else None."""
    try:
        library = ctypes.PyDLL(None)
        site, of_event = ctypes.c_void_p, ctypes.POINTER(_Id)
        for name, result, arguments in (
            ("begin", None, [site, of_event]),
            ("end", None, [site, of_event]),
            ("hit_in", None, [site, _Id]),
            ("hit_value", None, [site, of_event, ctypes.c_uint64]),
            ("join", ctypes.c_int, [ctypes.c_char_p, of_event]),
            ("make_site", site, [ctypes.c_char_p, ctypes.c_char_p, ctypes.c_uint32, ctypes.c_char_p]),
            ("traceparent", ctypes.c_int, [_Id, ctypes.c_char_p]),
        ):
            function = getattr(library, "fieldcost_probe_" + name)
            function.restype, function.argtypes = result, arguments
            setattr(library, name, function)
        # An inert runtime creates no sites.
        return library if library.make_site(b"python", None, 0, None) else None
    except (AttributeError, OSError, TypeError):
        return None


_library = _load()
_sites = {}
_current = contextvars.ContextVar("fieldcost_probe_event", default=None)


def _site(label, frame):
    """Returns the site called `label` at the current line of `frame`; None if there are too many sites."""
    code = frame.f_code
    key = (label, code.co_filename, frame.f_lineno)
    try:
        return _sites[key]
    except KeyError:
        made = _library.make_site(
            str(label).encode("utf-8", "replace"),
            code.co_filename.encode("utf-8", "replace"),
            frame.f_lineno,
            code.co_name.encode("utf-8", "replace"),
        )
        return _sites.setdefault(key, made)


class _Event:
    """An event in progress. Used as a context manager, it is the innermost event within the block."""

    __slots__ = ("_id", "_end", "_tokens")

    def __init__(self, its_id, end_site):
        self._id = its_id
        self._end = end_site  # None: to be ended elsewhere
        self._tokens = []

    def __enter__(self):
        self._tokens.append(_current.set(self))
        return self

    def __exit__(self, *_):
        try:
            _current.reset(self._tokens.pop())
        except (ValueError, IndexError):  # exited in another task than it was entered in
            _current.set(None)
        self.end()

    def end(self):
        """Ends the event now; the end of the block then does nothing."""
        if self._end is not None:
            _library.end(self._end, ctypes.byref(self._id))
            self._end = None

    def traceparent(self):
        """See traceparent()."""
        return traceparent(self)


class _Nothing:
    """Replaces events where points are off."""

    __slots__ = ()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        pass

    def end(self):
        pass

    def traceparent(self):
        return None


_NOTHING = _Nothing()


def _id_of(its_event):
    return its_event._id if isinstance(its_event, _Event) else _NONE


def _hit(site, its_id, value):
    if site is None:
        return
    if value is None:
        _library.hit_in(site, its_id)
        return
    try:
        number = int(value) & _MASK
    except (TypeError, ValueError, OverflowError):
        number = 0
    _library.hit_value(site, ctypes.byref(its_id), number)


def enabled():
    """Returns whether points are on."""
    return _library is not None


def event(label):
    """Begins an event; use it in a `with` statement, or end it by .end()."""
    if _library is None:
        return _NOTHING
    frame = sys._getframe(1)
    site = _site(label, frame)
    if site is None:
        return _NOTHING
    its_id = _Id(0, 0)
    _library.begin(site, ctypes.byref(its_id))
    return _Event(its_id, _site("end", frame))


def point(label, value=None):
    """Records a step of the innermost event, else of the process's; `value`: a number from 0 to 2^64 - 1."""
    if _library is not None:
        _hit(_site(label, sys._getframe(1)), _id_of(_current.get()), value)


def point_in(its_event, label, value=None):
    """Records a step of that event."""
    if _library is not None:
        _hit(_site(label, sys._getframe(1)), _id_of(its_event), value)


def traceparent(its_event=None):
    """Returns an event, by default the innermost one, as a W3C traceparent: for a request's header, or the
    variable TRACEPARENT of a child process. Returns None if points are off."""
    if _library is None:
        return None
    text = ctypes.create_string_buffer(56)
    its_id = _id_of(its_event if its_event is not None else _current.get())
    return text.value.decode() if _library.traceparent(its_id, text) else None


def join(text):
    """Joins an event of another process; use it in a `with` statement. Inert if `text` is no traceparent."""
    its_id = _Id(0, 0)
    if _library is None or text is None:
        return _NOTHING
    if not _library.join(str(text).encode("ascii", "replace"), ctypes.byref(its_id)):
        return _NOTHING
    return _Event(its_id, None)
