"""Rows in Berkeley DB, each put in a transaction of its own, and looked for after a recovery.

bdb.py HOME put ROW...    prints each row once its transaction has committed
bdb.py HOME check ROW...  ends with status 1 if the database cannot be read, with 2 if a row is missing
"""

import sys

from bsddb3 import db

home, verb, rows = sys.argv[1], sys.argv[2], sys.argv[3:]
env = db.DBEnv()
flags = db.DB_CREATE | db.DB_INIT_TXN | db.DB_INIT_LOG | db.DB_INIT_LOCK | db.DB_INIT_MPOOL
env.open(home, flags | (db.DB_RECOVER if verb == "check" else 0))
table = db.DB(env)
table.open("rows", None, db.DB_BTREE, db.DB_CREATE | db.DB_AUTO_COMMIT)
if verb == "put":
    for row in rows:
        txn = env.txn_begin()
        table.put(row.encode(), row.encode() * 1000, txn)
        txn.commit()
        print(row, flush=True)
    table.close()
    env.close()
elif missing := [row for row in rows if table.get(row.encode()) != row.encode() * 1000]:
    print(f"row {missing[0]} is lost", file=sys.stderr)
    sys.exit(2)
