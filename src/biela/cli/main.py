"""The command ``biela``: its parser and its verbs."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from io import TextIOWrapper
from pathlib import Path

import biela
from biela.errors import BielaError


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a command; the exit code is 0 if it worked, 1 if biela had something to say."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, TextIOWrapper):  # a terminal without our letters shows others
            stream.reconfigure(errors="replace")
    parser = _parser()
    options = parser.parse_args(arguments)
    if options.run is None:
        parser.print_help()
        return 0
    try:
        result: int = options.run(options)
    except BielaError as error:
        print(f"biela: {error}", file=sys.stderr)
        return 1
    except OSError as error:
        if isinstance(error, BrokenPipeError):  # the reader of our output went away
            sys.stderr.close()
            return 0
        print(f"biela: {error.strerror or error}: {error.filename or ''}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print("biela: interrupted", file=sys.stderr)
        return 130
    return result


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="biela",
        description="Mechanisms and robots: from equations to native code.",
    )
    parser.add_argument("--version", action="version", version=f"biela {biela.__version__}")
    parser.set_defaults(run=None)
    verbs = parser.add_subparsers(title="commands", metavar="COMMAND")

    demo = verbs.add_parser(
        "demo",
        help="derive, compile, evaluate and export a small model",
        description="Derive a chain of pendulums on a cart, compile it, evaluate it, export it, "
        "and print what was gained.",
    )
    demo.add_argument("--links", type=int, default=4, help="pendulums on the cart (default 4)")
    demo.add_argument(
        "--output",
        type=Path,
        default=Path("biela-demo"),
        help="folder for the exported code (default biela-demo)",
    )
    demo.set_defaults(run=_demo)

    cache = verbs.add_parser(
        "cache",
        help="show or clear the compiled code kept on disk",
        description="Show where compiled code is kept on disk and how much there is of it.",
    )
    cache.add_argument("--clear", action="store_true", help="remove all of it")
    cache.set_defaults(run=_cache)
    return parser


def _demo(options: argparse.Namespace) -> int:
    from biela.cli.demo import demo

    demo(options.links, options.output)
    return 0


def _cache(options: argparse.Namespace) -> int:
    if options.clear:
        print(f"removed {biela.code_cache.clear()} files")
    files, size = biela.code_cache.contents()
    print(f"{biela.code_cache.directory()}: {files} files, {size / 1e6:.1f} MB")
    return 0
