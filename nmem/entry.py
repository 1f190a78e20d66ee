"""Runs one hook; a client calls it as `<python> -I -S <this file> CLIENT EVENT [--db PATH]`.

A script is compiled anew on each run, so this one only makes the packages importable and hands over.
"""

import sys
from time import perf_counter_ns

STARTED = perf_counter_ns()


def listen(db, event, path):  # type: ignore[no-untyped-def]
    """What nmem makes of an event that capture has stored."""
    from nmem.live import heard  # on use: an event is stored first

    return heard(db, event, path)


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
            from capture.compiled import install  # on use: sys.modules must hold the packages first
        except EOFError:  # its own bytecode was cut short by a full disk
            from os import unlink  # on use: after a full disk only

            unlink(f"{above}/capture/__pycache__/compiled.{sys.implementation.cache_tag}.pyc")  # noqa: PTH108 -- a hook
            from capture.compiled import install  # on use: the damaged bytecode is gone now
        install()
        from nmem.preload import begin  # on use: the finder must be installed first

        begin(above, "".join(sys.argv[2:3]))
    from capture.hook import main as run  # on use: the finder must be installed first

    run(sys.argv[1:], STARTED, listen)


if __name__ == "__main__":
    main()
