#!/usr/bin/env python3
"""SQLite: transactions, locks between two connections, write-ahead log."""
import sqlite3

a = sqlite3.connect("db", timeout=0.05, isolation_level=None)
print(a.execute("pragma journal_mode=delete").fetchone())
a.execute("create table t(k integer primary key, v text)")
a.executemany("insert into t values(?, ?)", [(i, "v%d" % i) for i in range(100)])
b = sqlite3.connect("db", timeout=0.05, isolation_level=None)
a.execute("begin immediate")
a.execute("update t set v = 'new' where k = 1")
print(b.execute("select v from t where k = 1").fetchone())
try:
    b.execute("begin immediate")
except sqlite3.OperationalError as e:
    print(e)
a.execute("commit")
print(b.execute("select v, count(*) from t where k = 1").fetchone())
print(a.execute("pragma journal_mode=wal").fetchone())
a.execute("begin")
a.execute("delete from t")
print(b.execute("select count(*) from t").fetchone())
a.execute("rollback")
print(a.execute("select count(*) from t").fetchone())
print(a.execute("pragma integrity_check").fetchone())
