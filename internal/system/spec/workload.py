# The client that a spec's workload makes: it draws operations, and says of each what it asks and what it is told.
import base64, http.client, json, random, re, socket, subprocess, sys, time

w = json.loads(sys.argv[1])
draw = random.Random(f"{w['seed']} {w['name']}")
TRIES, PAUSE, PATIENCE = 20, 0.5, 5


class Refused(Exception):
    "it has certainly not happened"


class Unknown(Exception):
    "nobody knows whether it has happened"


class Resp:
    BANK = """local n = tonumber(ARGV[3])
if tonumber(redis.call('HGET', KEYS[1], ARGV[1]) or '0') < n then return redis.error_reply('ERR too little') end
redis.call('HINCRBY', KEYS[1], ARGV[1], -n)
return redis.call('HINCRBY', KEYS[1], ARGV[2], n)"""
    ELSEWHERE = (b"MOVED", b"READONLY", b"LOADING", b"MASTERDOWN", b"CLUSTERDOWN", b"TRYAGAIN", b"NOREPLICAS")
    port = 6379

    def __init__(self):
        self.at, self.file = 0, None

    def connect(self):
        self.socket = socket.create_connection((w["to"][self.at], w.get("port") or self.port), timeout=PATIENCE)
        self.file = self.socket.makefile("rwb")

    def leave(self):
        if self.file:
            self.file.close()
            self.socket.close()
        self.file, self.at = None, (self.at + 1) % len(w["to"])

    def reply(self):
        line = self.file.readline()
        if not line.endswith(b"\r\n"):
            raise EOFError
        kind, rest = line[:1], line[1:-2]
        if kind == b"$":
            return None if rest == b"-1" else self.file.read(int(rest) + 2)[:-2].decode()
        if kind == b"*":
            return [self.reply() for _ in range(int(rest))]
        if kind == b"-":
            return rest
        return rest.decode()

    def command(self, *args):
        for _ in range(TRIES):
            try:
                if not self.file:
                    self.connect()
            except OSError:
                self.leave()
                time.sleep(PAUSE)
                continue
            try:
                args = [str(a).encode() for a in args] if not isinstance(args[0], bytes) else args
                self.file.write(b"*%d\r\n" % len(args) + b"".join(b"$%d\r\n%s\r\n" % (len(a), a) for a in args))
                self.file.flush()
                got = self.reply()
            except (OSError, EOFError):
                self.leave()
                raise Unknown
            if not isinstance(got, bytes):
                return got
            if not got.startswith(self.ELSEWHERE):
                raise Refused if got.startswith((b"ERR", b"WRONGTYPE")) else Unknown
            self.leave()
            time.sleep(PAUSE)
        raise Refused

    def prepare(self, key):
        for name, amount in w["accounts"].items():
            self.command("HSETNX", key, name, amount)

    def ask(self, op, key, value):
        if w["data"] == "bank":
            if op == "transfer":
                self.command("EVAL", self.BANK, 1, key, *value.split())
                return ""
            got = self.command("HGETALL", key)
            return " ".join(f"{name}={amount}" for name, amount in zip(got[::2], got[1::2]))
        name, *rest = {
            "register": {"read": ["GET"], "write": ["SET", value]}, "counter": {"read": ["GET"], "add": ["INCRBY", value]},
            "set": {"read": ["SMEMBERS"], "add": ["SADD", value]}, "list": {"read": ["LRANGE", 0, -1], "append": ["RPUSH", value]},
            "queue": {"enqueue": ["RPUSH", value], "dequeue": ["LPOP"]},
        }[w["data"]][op]
        got = self.command(name, key, *rest)
        if op == "write" and got != "OK":
            raise Unknown
        if op not in ("read", "dequeue"):
            return ""
        return " ".join(sorted(got) if w["data"] == "set" else got) if isinstance(got, list) else got or ""


class Http:
    def __init__(self):
        self.at = 0

    def prepare(self, key):
        pass

    def ask(self, op, key, value):
        text = lambda s: base64.b64encode(s.encode()).decode()
        request = w["requests"][op]
        for name, of in (("key64", text(key)), ("value64", text(value)), ("key", key), ("value", value)):
            request = request.replace("{" + name + "}", of)
        method, path, body = (request.split(" ", 2) + [""])[:3]
        for _ in range(TRIES):
            c = http.client.HTTPConnection(w["to"][self.at], w.get("port") or 80, timeout=PATIENCE)
            try:
                c.connect()
            except OSError:
                self.at = (self.at + 1) % len(w["to"])
                time.sleep(PAUSE)
                continue
            try:
                c.request(method, path, body or None, {"Content-Type": "application/json"} if body else {})
                r = c.getresponse()
                said = r.read().decode(errors="replace")
            except (OSError, http.client.HTTPException):
                self.at = (self.at + 1) % len(w["to"])
                raise Unknown
            finally:
                c.close()
            if r.status == 404 and op == "read":
                return ""
            if r.status // 100 == 4:
                raise Refused
            if r.status // 100 != 2:
                raise Unknown
            m = re.search(w["value"], said) if op in ("read", "dequeue") else None
            if not m:
                return ""
            return base64.b64decode(m["value64"]).decode() if "value64" in m.groupdict() else m["value"]
        raise Refused


class Script:
    def prepare(self, key):
        pass

    def ask(self, op, key, value):
        r = subprocess.run(w["script"] + [op, key] + value.split(), stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, text=True)
        if r.returncode:
            raise Refused if r.returncode == 1 else Unknown
        return " ".join(r.stdout.split())


def operation(i):
    key = f"k{draw.randrange(w['keys']) + 1}"
    change = {"register": "write", "counter": "add", "set": "add", "list": "append", "queue": "enqueue", "bank": "transfer"}[w["data"]]
    if i == w["operations"] or draw.randrange(2):
        return "dequeue" if w["data"] == "queue" else "read", key, ""
    if w["data"] == "bank":
        a, b = draw.sample(sorted(w["accounts"]), 2)
        return change, key, f"{a} {b} {draw.randrange(1, 6)}"
    return change, key, str(draw.randrange(1, 4)) if w["data"] == "counter" else f"{w['name']}.{i}"


def say(*words):
    print(" ".join(x for x in words if x), flush=True)


server = {"resp": Resp, "http": Http, "script": Script}[w["speaks"]]()
if w["data"] == "bank":
    for k in range(w["keys"]):
        while True:
            try:
                server.prepare(f"k{k + 1}")
                break
            except (Refused, Unknown):
                time.sleep(PAUSE)
for i in range(1, w["operations"] + 1):
    op, key, value = operation(i)
    say("operation", op, key, value)
    try:
        say("answer", server.ask(op, key, value))
    except Refused:
        say("refused")
    except Unknown:
        say("unknown")
