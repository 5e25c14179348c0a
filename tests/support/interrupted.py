"""Doing something between two requests of the product."""

from collections.abc import Awaitable, Callable

from hub import Json
from hub.requests import Request
from hub.transport import Transport


class Interrupted(Transport):
    """Something happens after the first page of each list, before the list's reader has it."""

    after_first_page: Callable[[Request], Awaitable[None]]

    async def send(self, request: Request) -> Json:
        answer = await super().send(request)
        if request.verb == "list" and "continue" not in request.query:
            await self.after_first_page(request)
        return answer
