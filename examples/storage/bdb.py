"""Workload of tools/storage: rows in Berkeley DB, each in a transaction (put), and a check after recovery.

Status 1 says that the database cannot be read, 2 that a row is missing that the file "said" has.
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
        with open("said", "a") as said:
            print(row, file=said)
    table.close()
    env.close()
else:
    with open("said") as said:
        missing = [r for r in said.read().split() if table.get(r.encode()) != r.encode() * 1000]
    sys.exit(2 if missing else 0)
