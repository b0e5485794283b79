"""What this studio is, and letting a person in."""

from __future__ import annotations

from fastapi import APIRouter, Response

from cutaway.studio.the_studio import TheStudio
from cutaway.studio.wire import About, Data, Login

__all__ = ["router"]

router = APIRouter(tags=["studio"])


@router.get("/about")
def about(studio: TheStudio) -> Data[About]:
    """Return what this studio looks at, and how far its first look is."""
    raise NotImplementedError


@router.post("/login", status_code=204)
def login(studio: TheStudio, given: Login, response: Response) -> None:
    """Exchange the token for a cookie that only this browser has; programs send it as a Bearer header instead."""
    raise NotImplementedError


@router.post("/logout", status_code=204)
def logout(response: Response) -> None:
    """Forget the cookie."""
    raise NotImplementedError
