"""The registered file: `<python> -I -S <this file> CLIENT EVENT [--db PATH]`.

A script is compiled anew on each run, so it only makes the package importable and hands over.
"""

import sys
from time import perf_counter_ns

STARTED = perf_counter_ns()


def main() -> None:
    """Run one hook, or one settling, and leave with exit code 0 whatever happens."""
    if "capture" not in sys.modules:
        # under -I -S neither this folder nor site-packages is on sys.path, and neither shall be
        package = type(sys)("capture")
        package.__path__ = [__file__.rpartition("/")[0] or __file__.rpartition("\\")[0] or "."]
        sys.modules["capture"] = package
    from capture.hook import main as run

    run(sys.argv[1:], STARTED)


if __name__ == "__main__":
    main()
