"""Workload of tools/storage: rows in LevelDB, each written with sync (put), and a check after recovery.

Status 1 says that the database cannot be read, 2 that a row is missing that the file "said" has.
"""

import sys

import plyvel

home, verb, rows = sys.argv[1], sys.argv[2], sys.argv[3:]
table = plyvel.DB(home, create_if_missing=verb == "put", paranoid_checks=True)
if verb == "put":
    for row in rows:
        table.put(row.encode(), row.encode() * 1000, sync=True)
        with open("said", "a") as said:
            print(row, file=said)
else:
    found = dict(table)
    assert all(value == key * 1000 for key, value in found.items())
    with open("said") as said:
        missing = [r for r in said.read().split() if r.encode() not in found]
    sys.exit(2 if missing else 0)
table.close()
