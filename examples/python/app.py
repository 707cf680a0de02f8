# An application for both: WSGI by gunicorn, ASGI by uvicorn. It loads a neighbour.
import words


def wsgi(environ, start_response):
    start_response("200 OK", [("Content-Type", "text/plain")])
    return [words.answer(environ["PATH_INFO"]).encode()]


async def asgi(scope, receive, send):
    if scope["type"] != "http":
        return
    await send({"type": "http.response.start", "status": 200, "headers": [(b"content-type", b"text/plain")]})
    await send({"type": "http.response.body", "body": words.answer(scope["path"]).encode()})
