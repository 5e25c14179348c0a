"""A transport that does something between two requests of the product."""

from collections.abc import Awaitable, Callable

from hub import Json
from hub.requests import ApiRequest
from hub.transport import Transport


class Interrupted(Transport):
    """Runs a callback after the first page of each list, before the caller gets the page."""

    after_first_page: Callable[[ApiRequest], Awaitable[None]]

    async def send(self, request: ApiRequest) -> Json:
        answer = await super().send(request)
        if request.verb == "list" and "continue" not in request.query:
            await self.after_first_page(request)
        return answer
