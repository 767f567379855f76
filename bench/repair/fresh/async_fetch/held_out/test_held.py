import asyncio

from cache_async import Cache


def test_once():
    calls = []

    async def load(key):
        calls.append(key)
        return key

    assert asyncio.run(Cache(load).many([1, 1, 2])) == [1, 1, 2]
    assert calls == [1, 2]
