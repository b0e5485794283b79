"""The build hook of the wheel and of the sdist: sees to it that the studio's page is in them.

The page is built from ui/ with the node that comes as a package, never with one of the machine, and only where it is
not there yet: an sdist has it, and installs without node. An install is not refused for want of a page. Where npm
cannot be reached it goes on without, and `cutaway studio` says why and what to do; CUTAWAY_REQUIRE_UI=1 makes it an
error, CUTAWAY_SKIP_UI=1 leaves the page out on purpose.
"""

import os
import sys
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface


class PageHook(BuildHookInterface):
    """Builds the page before files are collected."""

    def dependencies(self) -> list[str]:
        """Ask for node only where the page has to be built."""
        sys.path.insert(0, self.root)
        from scripts import build_page
        from scripts.node import NODE_PACKAGE

        return [] if _is_set("CUTAWAY_SKIP_UI") or build_page.is_current() else [NODE_PACKAGE]

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:  # noqa: ARG002
        """Build the page, or say in its place why there is none."""
        sys.path.insert(0, self.root)
        from scripts import build_page

        if build_page.is_current():
            return
        if _is_set("CUTAWAY_SKIP_UI"):
            # An editable install packs nothing: whoever asked for it builds the page on their own.
            if version != "editable":
                build_page.forgo("CUTAWAY_SKIP_UI was set when this package was built.")
            return
        try:
            build_page.build()
        except build_page.PageNotBuilt as error:
            if _is_set("CUTAWAY_REQUIRE_UI"):
                self.app.abort(
                    f"{error.output}\n{error} CUTAWAY_REQUIRE_UI is set, so nothing is built without the page."
                )
            build_page.forgo(str(error))
            self.app.display_warning(f"{error.output}\n{error} The package is built without the studio's page.")


def _is_set(variable: str) -> bool:
    return os.environ.get(variable, "") not in {"", "0"}
