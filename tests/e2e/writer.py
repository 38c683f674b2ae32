"""A live SQLite writer that does what it is told over a pipe.

Requests and answers are pickled tuples: (verb, arguments...) in, then
('ok', value) or ('error', text) out. Holdfast pauses and reads this
process, so it is the truth that the tests compare with.
"""
import ctypes
import os
import pickle
import random
import signal
import sqlite3
import sys
import threading

DEADLINE = 30.0


class State:
    def __init__(self):
        self.connections = {}
        self.commits = 0
        self.changed = threading.Condition()
        self.stop = threading.Event()
        self.threads = []
        self.troubles = []

    def committed(self):
        with self.changed:
            self.commits += 1
            self.changed.notify_all()


def connect(path, pragmas):
    c = sqlite3.connect(path, timeout=DEADLINE, isolation_level=None,
                        check_same_thread=False, cached_statements=0)
    for pragma in pragmas:
        c.execute('pragma ' + pragma).fetchall()
    return c


def transfer(state, path, pragmas, seed):
    """Moves balance between two rows; every committed state sums to 1000.
    The other table does not grow with the time that a test takes."""
    c = connect(path, pragmas)
    r = random.Random(seed)
    while not state.stop.is_set():
        try:
            c.execute('begin immediate')
            c.execute('insert into t(who, v) values(?, ?)',
                      (f'w{seed}', r.randbytes(r.randint(1, 9000))))
            k = r.randint(1, 50)
            c.execute('update acct set bal = bal - ? where id = 1', (k,))
            c.execute('update acct set bal = bal + ? where id = 2', (k,))
            if r.random() < .05:
                c.execute('delete from t where id % 3 = 0 or id <'
                          ' (select max(id) - 500 from t)')
            c.execute('rollback' if r.random() < .1 else 'commit')
            state.committed()
        except sqlite3.OperationalError as e:
            if 'locked' not in str(e):
                state.troubles.append(str(e))
            if c.in_transaction:
                c.execute('rollback')
    c.close()


def do_open(s, name, path, pragmas):
    s.connections[name] = connect(path, pragmas)


def do_sql(s, name, sql, params):
    return s.connections[name].execute(sql, params).fetchall()


def do_many(s, name, sql, rows):
    s.connections[name].executemany(sql, rows)


def do_script(s, name, sql):
    s.connections[name].executescript(sql)


def do_close(s, name):
    s.connections.pop(name).close()


def do_threads(s, n):
    for _ in range(n):
        s.threads.append(threading.Thread(target=s.stop.wait, daemon=True))
        s.threads[-1].start()


def do_load(s, paths, pragmas, n):
    for path in paths:
        c = connect(path, pragmas)
        c.executescript(
            'create table if not exists t(id integer primary key, who text,'
            ' v blob); create table if not exists acct(id integer primary'
            ' key, bal int); insert or ignore into acct values(1,1000),'
            '(2,0);')
        c.close()
    for i in range(n):
        s.threads.append(threading.Thread(
            target=transfer, args=(s, paths[i % len(paths)], pragmas, i),
            daemon=True))
        s.threads[-1].start()


def do_unload(s):
    s.stop.set()
    for t in s.threads:
        t.join()
    s.threads = []
    s.stop.clear()
    return s.commits, s.troubles


def do_commits(s):
    return s.commits


def do_beyond(s, n):
    """Waits until more than n transactions ended."""
    with s.changed:
        if not s.changed.wait_for(lambda: s.commits > n, DEADLINE):
            raise RuntimeError(f'no progress beyond {n}')
        return s.commits


def do_open_file(s, name, path, flags):
    s.connections[name] = os.fdopen(os.open(path, flags), 'rb')


def do_fork(_s):
    """A child that keeps every descriptor and does nothing; its pid."""
    pid = os.fork()
    if pid == 0:
        while True:
            signal.pause()
    return pid


def do_second_library(s, name, library, path, statements):
    """Another copy of SQLite in this process opens the database as well."""
    lib = ctypes.CDLL(library)
    db = ctypes.c_void_p()
    if lib.sqlite3_open(path.encode(), ctypes.byref(db)):
        raise RuntimeError('sqlite3_open')
    for sql in statements:
        if lib.sqlite3_exec(db, sql.encode(), None, None, None):
            raise RuntimeError(sql)
    s.connections[name] = Foreign(lib, db)


class Foreign:
    def __init__(self, lib, db):
        self.lib, self.db = lib, db

    def close(self):
        if self.lib.sqlite3_close(self.db):
            raise RuntimeError('sqlite3_close')


def do_library(_s):
    """The file that this process has SQLite's code from, or None."""
    with open('/proc/self/maps') as f:
        for line in f:
            if 'libsqlite3' in line:
                return line.split(None, 5)[5].strip()
    return None


def do_ping(_s):
    return os.getpid()


def do_die(_s):
    """Ends as in a crash: nothing is closed, checkpointed or rolled back."""
    os._exit(0)


def main():
    state = State()
    inward, outward = sys.stdin.buffer, sys.stdout.buffer
    while True:
        try:
            verb, *args = pickle.load(inward)
        except EOFError:
            os._exit(0)
        try:
            answer = 'ok', globals()['do_' + verb](state, *args)
        except Exception as e:
            answer = 'error', f'{type(e).__name__}: {e}'
        pickle.dump(answer, outward)
        outward.flush()


if __name__ == '__main__':
    main()
