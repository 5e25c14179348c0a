"""How much memory an agent needs for an applied Work: a member may have hundreds."""

import asyncio
import gc
import json
import sys
from functools import partial
from types import BuiltinFunctionType, CodeType, FrameType, FunctionType, MethodType, ModuleType

from hub import Hub
from tests.agent.support import Member, namespace, twenty_kilobytes
from tests.support.eventually import eventually
from tests.support.running import running

WORKS = 10
_NOT_DATA = (
    *(type, ModuleType, FunctionType, BuiltinFunctionType, MethodType, partial),
    *(CodeType, FrameType, asyncio.Future, asyncio.AbstractEventLoop, Hub),
)
"""Types that belong to the program, not to the data that an object holds."""


def held(root: object) -> int:
    """Bytes of everything that is reachable from an object."""
    found: dict[int, object] = {}
    left = [root]
    while left:
        each = left.pop()
        if id(each) not in found and not isinstance(each, _NOT_DATA):
            found[id(each)] = each
            left += gc.get_referents(each)
    return sum(map(sys.getsizeof, found.values()))


async def test_an_agent_keeps_at_most_twice_the_text_of_a_work(member: Member, unique: str) -> None:
    agent = member.agent()
    async with running(agent):
        await member.put(unique, namespace(unique))
        await member.reported(unique)
        before = held(agent)
        names = [f"{unique}-{number}" for number in range(WORKS)]
        contents = {each: [namespace(each), *twenty_kilobytes(each)] for each in names}
        for name, manifests in contents.items():
            await member.put(name, *manifests)
        for each in names:
            await member.reported(each)
        texts = sum(len(json.dumps(manifests)) for manifests in contents.values())
        await eventually(lambda: held(agent) - before < 2 * texts)
