"""The registered file: `<python> -I -S <this file> CLIENT EVENT [--db PATH]`.

A script is compiled anew on each run, so it only makes the packages importable, says which part of nmem listens to
what capture has stored, and hands over.
"""

import sys
from time import perf_counter_ns

STARTED = perf_counter_ns()

_UNHEARD = ("status", "thinking")
"""After these a screen waits: nothing of nmem is loaded."""
_CALLS = ("tool_call", "tool_result", "tool_error")
_WORK = ("shell", "edit", "write")


def listen(db, event, path):  # type: ignore[no-untyped-def]
    """What nmem makes of an event that capture has stored: whether it settles now, and what the session is told."""
    if event.kind in _UNHEARD:
        return False, ""
    if event.kind in _CALLS:
        if event.tool == "mcp":
            return _named(db, event, path)  # type: ignore[no-untyped-call]
        if event.ok or event.tool not in _WORK:
            return False, ""  # the tool waits: nothing of nmem is loaded
        from nmem.context.action import answer

        return False, answer(db, event)
    from nmem.live import after

    return after(db, event, path)


def _named(db, event, path):  # type: ignore[no-untyped-def]
    """What the agent says of the task that the user turned to is put right at once; no other server's call is read."""
    from capture.event import names_episode

    if names_episode(event) and not event.agent_id:
        from nmem.live import named

        named(db, event, path)
    return False, ""


def main() -> None:
    """Run one hook, or one settling, and leave with exit code 0 whatever happens."""
    if "capture" not in sys.modules:
        # under -I -S neither this folder nor site-packages is on sys.path, and neither shall be
        here = __file__.replace("\\", "/").rpartition("/")[0] or "."
        above = here.rpartition("/")[0] if "/" in here else here + "/.."
        for name in ("capture", "nmem"):
            package = type(sys)(name)
            package.__path__ = [above + "/" + name]
            sys.modules[name] = package
        try:
            from capture.compiled import install
        except EOFError:  # its own bytecode was cut short by a full disk
            from os import unlink

            unlink(f"{above}/capture/__pycache__/compiled.{sys.implementation.cache_tag}.pyc")  # noqa: PTH108 -- a hook
            from capture.compiled import install
        install()
    from capture.hook import main as run

    run(sys.argv[1:], STARTED, listen)


if __name__ == "__main__":
    main()
