"""Moves money between a hundred accounts of a new SQLite database, one transaction each, then reads all of them often.

The journal mode is $JOURNAL. What it prints depends on nothing else than the moves, so every variant must print the
same. Each transaction and each read is marked as an op with its own latency, and the two parts as phases.
"""

import os
import sqlite3
import time

ACCOUNTS = 100
CHARGES = 1000
READS = 10000


def clock():
    return time.clock_gettime(time.CLOCK_MONOTONIC)


def main():
    # Marks are buffered: a phase says when it began, and each op how long it took.
    marks = os.fdopen(int(os.environ["BAKEOFF_MARKS"]), "w", buffering=65536)
    # A copy in the load is started again and again in the same folder.
    path = os.path.join(os.environ["TMPDIR"], f"accounts-{os.getpid()}.db")
    database = sqlite3.connect(path, isolation_level=None)
    database.execute("pragma journal_mode = " + os.environ["JOURNAL"])
    database.execute("create table account (id integer primary key, balance integer not null)")
    database.executemany("insert into account values (?, 1000)", [(i,) for i in range(ACCOUNTS)])

    marks.write(f"phase charge @{clock():.9f}\n")
    for i in range(CHARGES):
        began = clock()
        database.execute("begin immediate")
        database.execute("update account set balance = balance - 1 where id = ?", (i * 7 % ACCOUNTS,))
        database.execute("update account set balance = balance + 1 where id = ?", (i * 13 % ACCOUNTS,))
        database.execute("commit")
        marks.write(f"op charge {clock() - began:.9f}\n")

    marks.write(f"phase quote @{clock():.9f}\n")
    total = 0
    for i in range(READS):
        began = clock()
        total += database.execute("select balance from account where id = ?", (i % ACCOUNTS,)).fetchone()[0]
        marks.write(f"op quote {clock() - began:.9f}\n")
    marks.write(f"phase close @{clock():.9f}\n")
    database.close()
    marks.close()
    print("charges", CHARGES, "balance", total)


main()
