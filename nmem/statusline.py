"""Runs the status line for a client: `<python> -I -S <this file> [--db PATH] [SHELL LC_CTYPE COMMAND]`.

A script is compiled anew on each run, so it only makes the package importable and hands over.
"""

import sys


def main() -> None:
    """Run the line; never returns."""
    if "capture" not in sys.modules:
        # under -I -S neither this folder nor site-packages is on sys.path, and neither shall be
        here = __file__.replace("\\", "/").rpartition("/")[0] or "."
        package = type(sys)("capture")
        package.__path__ = [(here.rpartition("/")[0] if "/" in here else here + "/..") + "/capture"]
        sys.modules["capture"] = package
        from capture.compiled import install  # on use: start-up stays short

        install()
    from capture.statusline import main as run  # on use: start-up stays short

    run(sys.argv[1:])


if __name__ == "__main__":
    main()
