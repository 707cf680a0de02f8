#!/usr/bin/env python3
"""asyncio against a server in C."""
import asyncio
import sys


async def ask(text):
    for _ in range(500):
        try:
            r, w = await asyncio.open_connection(sys.argv[1], int(sys.argv[2]))
            break
        except ConnectionRefusedError:
            await asyncio.sleep(0.01)
    w.write(text)
    print(await r.read())
    w.close()


async def main():
    for text in b"a", b"bcd", b"efghi":
        await ask(text)


asyncio.run(main())
