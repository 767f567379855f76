import asyncio

from cache_async import Cache


async def double(key):
    return key * 2


def test_get():
    assert asyncio.run(Cache(double).get(4)) == 8


def test_none():
    assert asyncio.run(Cache(double).many([])) == []
