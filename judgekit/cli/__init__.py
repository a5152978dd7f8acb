"""The command line: the only reader of the environment and of arguments.

Exit codes: 0 fine; 2 usage or input; 3 the measurement is invalid (the judge changed or broke off, or too much stayed
unjudged); 130 interrupted. Results go to stdout, progress and messages to stderr.
"""

from __future__ import annotations

import os
import sys
import traceback
import warnings
from io import TextIOWrapper
from typing import Any

import click

from judgekit.cli.batching import batch
from judgekit.cli.doctor import doctor
from judgekit.cli.judging import demo, rescore, run
from judgekit.cli.reading import prompts, report
from judgekit.cli.retrieval import retrieval
from judgekit.cli.spotcheck import spotcheck
from judgekit.cli.spotcheck_report import spotcheck_report
from judgekit.cli.validating import validate
from judgekit.errors import InputError, JudgekitError

HELP = {"help_option_names": ["-h", "--help"], "max_content_width": 100}
_INTERRUPTED = 130


class _Commands(click.Group):
    """The commands. A reader who has gone, as `| head` does, is no error: click and rich would call it exit code 1."""

    def invoke(self, ctx: click.Context) -> Any:
        try:
            return super().invoke(ctx)
        except JudgekitError:
            if ctx.params.get("debug"):
                traceback.print_exc()
            raise
        except (BrokenPipeError, SystemExit) as gone:
            if not isinstance(gone, BrokenPipeError) and not isinstance(gone.__context__, BrokenPipeError):
                raise
            os.dup2(os.open(os.devnull, os.O_WRONLY), 1)  # or the last flush would complain
            return 0


@click.group(cls=_Commands, context_settings=HELP)
@click.version_option(package_name="judgekit")
@click.option("--debug", is_flag=True, help="Show where in judgekit an error came from.")
def cli(debug: bool) -> None:
    """Judge logged RAG answers with one pinned language model, claim by claim.

    Begin with `judgekit demo`: it judges a shipped log offline. Then give `judgekit run` a log of your own and an
    OpenAI-compatible endpoint.
    """


spotcheck.add_command(spotcheck_report)
for command in (demo, run, batch, rescore, report, spotcheck, retrieval, doctor, validate, prompts):
    cli.add_command(command)


def main() -> None:
    """Entry point of the `judgekit` command."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, TextIOWrapper):
            stream.reconfigure(errors="replace")  # text of logs may not fit the terminal's encoding
    warnings.showwarning = lambda message, *_, **__: click.echo(f"judgekit: {message}", err=True)
    try:
        code = cli.main(standalone_mode=False)
    except click.ClickException as error:
        error.show()
        sys.exit(error.exit_code)
    except JudgekitError as error:
        click.echo(f"judgekit: {error}", err=True)
        sys.exit(error.exit_code)
    except (KeyboardInterrupt, click.Abort):
        click.echo(
            "judgekit: interrupted; what is finished or paid is kept, the same command goes on from here", err=True
        )
        sys.exit(_INTERRUPTED)
    except OSError as error:
        click.echo(f"judgekit: {error.filename or 'file'}: {error.strerror or error}", err=True)
        sys.exit(InputError.exit_code)
    sys.exit(code if isinstance(code, int) else 0)
