"""The toy format, whose model tries what a limited child must not."""

from tests.unit.models.conftest import toy

__all__ = ["toy"]
