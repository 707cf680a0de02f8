#!/usr/bin/env python3
"""asyncio: a server, clients, time-outs, child processes, executors, signals."""
import asyncio
import os
import signal
import time


async def serve(reader, writer):
    while line := await reader.readline():
        writer.write(line.upper())
        await writer.drain()
    writer.close()


async def client(port, n):
    r, w = await asyncio.open_connection("127.0.0.1", port)
    out = []
    for i in range(3):
        w.write(b"client %d line %d\n" % (n, i))
        out.append((await r.readline()).decode().strip())
    w.close()
    return out


async def main():
    server = await asyncio.start_server(serve, "127.0.0.1", 0)
    port = server.sockets[0].getsockname()[1]
    for out in await asyncio.gather(*(client(port, n) for n in range(4))):
        print(out)
    server.close()
    try:
        await asyncio.wait_for(asyncio.sleep(10), 0.02)
    except asyncio.TimeoutError:
        print("timed out")
    p = await asyncio.create_subprocess_exec("cat", stdin=asyncio.subprocess.PIPE, stdout=asyncio.subprocess.PIPE)
    print((await p.communicate(b"through cat"))[0], p.returncode)
    loop = asyncio.get_running_loop()
    print(await loop.run_in_executor(None, lambda: time.sleep(0.01) or "executed"))
    got = asyncio.Event()
    loop.add_signal_handler(signal.SIGUSR1, got.set)
    os.kill(os.getpid(), signal.SIGUSR1)
    await got.wait()
    print("signal")
    order = []
    for ms in (30, 10, 20):
        loop.call_later(ms / 1000, order.append, ms)
    await asyncio.sleep(0.1)
    print(order)


asyncio.run(main())
