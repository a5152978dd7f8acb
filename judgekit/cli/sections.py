"""The help of commands with many options: options under headings."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import click

_REST = "Options"


class Headed(click.Option):
    """An option that stands under a heading of its own wherever the command has sections."""

    def __init__(self, *arguments: Any, heading: str, **attributes: Any) -> None:
        super().__init__(*arguments, **attributes)
        self.heading = heading


class Sectioned(click.Command):
    """A command whose help has a section for each heading, in the order in which they come; first those without one."""

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        sections: dict[str, list[tuple[str, str]]] = {_REST: []}
        for option in self.get_params(ctx):
            if isinstance(option, click.Option) and (record := option.get_help_record(ctx)):
                sections.setdefault(getattr(option, "heading", _REST), []).append(record)
        for heading, records in sections.items():
            with formatter.section(heading):
                formatter.write_dl(records)


def under(heading: str) -> Callable[..., Callable[[Any], Any]]:
    """`click.option` for the options below a heading."""
    return partial(click.option, cls=Headed, heading=heading)
