"""The command line: a table of commands, each imported when it is used, and the exit status of every way to end."""

from __future__ import annotations

import errno
import os
import sys
from collections.abc import Sequence
from importlib import import_module
from io import StringIO
from typing import Final, NamedTuple

import click

from hloproof.models.errors import InputError
from hloproof.results.errors import BadInput
from hloproof.results.plain import harmless
from hloproof.results.verdict import Exit
from hloproof.version import VERSION


class CommandEntry(NamedTuple):
    """A row of the table of commands."""

    module: str
    """The module under hloproof.commands that holds the click command `command`."""
    help: str


COMMANDS: Final[dict[str, CommandEntry]] = {
    "check": CommandEntry("check", "Prove or refute what modules, rules and layouts claim."),
    "analyze": CommandEntry("analyze", "Report what fusions read: shares, distances in memory, tiles."),
    "aliases": CommandEntry("aliases", "Print which places share a buffer."),
    "baseline": CommandEntry("baseline", "Record today's findings, so that only new ones are reported."),
    "claims": CommandEntry("claims", "List the claims that check owes."),
    "equiv": CommandEntry("equiv", "Prove that two modules compute the same, or show where they differ."),
    "explain": CommandEntry("explain", "Explain what a claim means, with examples."),
    "fuzz": CommandEntry("fuzz", "Try random cases against what must hold of them."),
    "graph": CommandEntry("graph", "Draw a computation, with indexing maps on the arrows."),
    "indexing": CommandEntry("indexing", "Print the indexing maps of an instruction."),
    "passes": CommandEntry("passes", "Validate every pass of a compilation, from XLA's dumps."),
    "lsp": CommandEntry("lsp", "Show findings in an editor: a language server."),
    "recheck": CommandEntry("recheck", "Prove certificates again from the files alone."),
    "rewrite": CommandEntry("rewrite", "Prove that one indexing map may stand for another."),
    "memory": CommandEntry("memory", "Prove the memory plan of a compiled program."),
    "run": CommandEntry("run", "Evaluate a module on given or random inputs."),
    "layout": CommandEntry("layout", "Print where elements lie in memory, and prove it."),
    "simplify": CommandEntry("simplify", "Simplify an indexing map, and prove it."),
    "serve": CommandEntry("serve", "Answer JSON-RPC requests on standard input, one per line."),
}


_OF_THE_SYSTEM: Final = frozenset(
    getattr(errno, name, errno.EIO)
    for name in "ENOSPC EDQUOT EFBIG EROFS EIO ENOENT EACCES EPERM EISDIR ENOTDIR EEXIST ENAMETOOLONG ELOOP ENXIO "
    "EMFILE ENFILE EAGAIN EBUSY ETXTBSY".split()
)
"""What is wrong with a disk, a folder or a system, and not with us."""


class Commands(click.Group):
    """A group whose commands are modules under hloproof.commands, imported when named. The help lists them from the
    table, so that neither `--help` nor `--version` imports any."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return sorted(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        entry = COMMANDS.get(cmd_name)
        if entry is None:
            return None
        command: click.Command = import_module(f"hloproof.commands.{entry.module}").command
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Commands"):
            formatter.write_dl([(name, COMMANDS[name].help) for name in self.list_commands(ctx)])

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        if args and args[0] not in COMMANDS and not args[0].startswith("-"):
            from difflib import get_close_matches

            near = get_close_matches(args[0], COMMANDS, n=1)
            ctx.fail(f"no command {args[0]!r}" + (f"; did you mean {near[0]!r}?" if near else ""))
        return super().resolve_command(ctx, args)


@click.group(cls=Commands, context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100})
@click.version_option(VERSION, prog_name="hloproof", message="%(prog)s %(version)s")
def hloproof() -> None:
    """Prove, or refute with a counterexample, what a tensor compiler claims about the movement of data.

    \b
    Example:  hloproof check model.hlo
    Exit status: 0 proved, 1 refuted, 2 bad usage or input, 3 unknown, 4 internal error, 130 after Ctrl-C.
    """


def run(arguments: Sequence[str]) -> int:
    """Run the command line and return its exit status. Bad usage and bad input are one message on standard error."""
    try:
        status = hloproof.main(args=list(arguments), prog_name="hloproof", standalone_mode=False)
    except click.exceptions.Exit as end:
        return end.exit_code
    except click.ClickException as error:
        shown = StringIO()
        error.show(shown)
        print(harmless(shown.getvalue().rstrip("\n")), file=sys.stderr)
        return int(Exit.BAD_INPUT)
    except InputError as error:
        print(harmless(error.render()), file=sys.stderr)
        return int(Exit.BAD_INPUT)
    except BadInput as error:
        print(harmless(f"Error: {error}"), file=sys.stderr)
        return int(Exit.BAD_INPUT)
    except (click.Abort, KeyboardInterrupt):
        print("interrupted", file=sys.stderr)
        return int(Exit.INTERRUPTED)
    except Exception as error:
        if isinstance(error, OSError) and _is_of_the_system(error):
            said = f"Error: {error.filename or 'output'}: {(error.strerror or str(error)).lower()}"
            print(harmless(said), file=sys.stderr)
            return int(Exit.BAD_INPUT)
        return _internal(error)
    return int(status) if isinstance(status, int) else int(Exit.OK)


def _is_of_the_system(error: OSError) -> bool:
    """Whether the error is about a file of the user's, or about none: a missing file of this package is our error."""
    own = os.path.dirname(os.path.abspath(__file__))
    return error.errno in _OF_THE_SYSTEM and not str(error.filename or "").startswith(own + os.sep)


def _internal(error: Exception) -> int:
    import traceback

    print(harmless(f"hloproof: internal error: {type(error).__name__}: {error}"), file=sys.stderr)
    if os.environ.get("HLOPROOF_TRACEBACK"):
        traceback.print_exception(error)
    return int(Exit.INTERNAL)
