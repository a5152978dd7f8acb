"""The base of all records."""

from __future__ import annotations

from typing import Self

from pydantic import BaseModel, ConfigDict


class Record(BaseModel):
    """Base of all records: frozen, and strict about unknown keys."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    def having(self, **changes: object) -> Self:
        """A new record with these fields changed."""
        return type(self).model_validate({**{name: getattr(self, name) for name in type(self).model_fields}, **changes})
