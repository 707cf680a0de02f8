# Two transfers between accounts in SQLite. The second begins when the first is long over. With "read" a
# transfer computes the new balances itself, from what it has read before; else SQLite does.
import json, os, signal, sqlite3, sys, threading, time


def event(**fields):
    """Tells that something happens next, and waits until it does. Outside Ariadne it does at once."""
    fd = os.open("/dev/ariadne", os.O_RDWR) if os.path.exists("/dev/ariadne") else -1
    return fd >= 0 and (os.write(fd, b"event " + json.dumps(fields).encode()), os.read(fd, 9), os.close(fd))


def transfer(to, amount, after):
    time.sleep(after)
    db = sqlite3.connect("bank.db", isolation_level=None)
    (balance,) = db.execute("select balance from account where name = 'ann'").fetchone()
    event(op="write", to=to, amount=amount)
    if sys.argv[1:] == ["read"]:
        db.execute("update account set balance = ? where name = 'ann'", (balance - amount,))
    else:
        db.execute("update account set balance = balance - ? where name = 'ann'", (amount,))
    db.execute("update account set balance = balance + ? where name = ?", (amount, to))
    db.close()


db = sqlite3.connect("bank.db", isolation_level=None)
db.execute("create table account (name text primary key, balance integer)")
db.executemany("insert into account values (?, ?)", [("ann", 100), ("bob", 0), ("cid", 0)])
transfers = [threading.Thread(target=transfer, args=a) for a in [("bob", 10, 0), ("cid", 20, 0.5)]]
for t in transfers:
    t.start()
for t in transfers:
    t.join()
balances = [b for (b,) in db.execute("select balance from account order by name")]
print(balances, flush=True)
if sum(balances) != 100:
    os.kill(os.getpid(), signal.SIGABRT)
