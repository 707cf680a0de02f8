from celery import Celery

app = Celery("tasks", broker="redis://redis", backend="redis://redis")
app.conf.broker_connection_retry_on_startup = True


@app.task
def add(x, y):
    return x + y
