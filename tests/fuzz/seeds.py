"""seeds.py - small real files for the fuzzers to start from.

Made anew each time by a writer with SQLite, never by hand.
"""
import os
import shutil
import sqlite3
import struct
import subprocess

from holdfast import DELETE, ROOT, SIDECARS, Writer, bank, capture, folder


def content_of(path):
    with open(path, 'rb') as f:
        return f.read()


def keep(seeds, target, name, content):
    where = os.path.join(seeds, target)
    os.makedirs(where, exist_ok=True)
    with open(os.path.join(where, name), 'wb') as f:
        f.write(content)


def frames():
    """An answer of the helper, as reply/wire.h has it."""
    def num(n):
        return b'i' + struct.pack('<q', n)

    def text(kind, s):
        return kind + struct.pack('<Q', len(s)) + s

    bodies = {1: num(1) + text(b't', b'0.1.0') + num(7),
              3: text(b't', b'wal') + text(b't', b'only its name'),
              4: num(0) + text(b't', b'integrity') + text(b't', b'ok'),
              8: num(3) + num(1) + b'n' + b'r' + struct.pack('<d', 0.5)
              + text(b'T', b'\xff') + b'B' + struct.pack('<Q', 9) + bytes(32),
              10: num(0) + text(b't', b't') + num(4)
              + text(b'b', bytes(32)),
              15: num(5) + num(0)}
    return b''.join(struct.pack('<IB3x', len(b), kind) + b
                    for kind, b in bodies.items())


def policies(seeds):
    """A policy, a NUL, a table's old text, a NUL, its new text."""
    examples = os.path.join(ROOT, 'docs', 'examples')
    texts = (b'\0CREATE TABLE t(a, b TEXT, CHECK (a > 0))'
             b"\0CREATE TABLE \"t\"(c, e TEXT NOT NULL DEFAULT '')")
    for name in os.listdir(examples):
        policy = content_of(os.path.join(examples, name, 'policy.json'))
        keep(seeds, 'f_policy', name, policy + texts)
    keep(seeds, 'f_policy', 'steps', b'''{"policy":"holdfast-policy/1",
"schema":{"rename_table":[{"from":"s","to":"t"}],
"rename_column":[{"table":"t","from":"a","to":"c"}],
"add_column":[{"table":"t","name":"e","type":"TEXT","notnull":true,
"default":"''"}],"drop_column":[{"table":"t","name":"b"}]}}''' + texts)


def for_decoders(seeds):
    """SEEDS/TARGET/NAME for each target of libFuzzer."""
    policies(seeds)
    keep(seeds, 'f_reply', 'answer', frames())
    with folder() as d, Writer() as w:
        db = bank(w, f'{d}/app.db')
        capture(db, f'{d}/p')
        keep(seeds, 'f_wal', 'wal', content_of(db + '-wal'))
        keep(seeds, 'f_tar', 'packet', content_of(f'{d}/p'))
        subprocess.run(['tar', 'xf', f'{d}/p', '-C', d, 'manifest.json'],
                       check=True)
        keep(seeds, 'f_manifest', 'manifest',
             content_of(f'{d}/manifest.json'))
    with folder() as d, Writer() as w:
        db = bank(w, f'{d}/app.db', DELETE, rows=400)
        w.sql('pragma cache_size=2')
        w.sql('begin immediate')
        w.sql("update acct set who = who || 'xxxxxxxxxxxxxxxxxxxxxxxxxxxxx'")
        keep(seeds, 'f_journal', 'journal', content_of(db + '-journal'))


# Whole databases: one kind for each path through the helper.

RICH = '''
    create table t(id integer primary key, a text, b blob, r real);
    create index t_a on t(a desc, b);
    create unique index t_r on t(r) where r > 0;
    create table k(a text collate nocase, b int, v, primary key(a, b desc))
        without rowid;
    create table g(x int check (x < 1000), y as (x * 2), z as (x || '!')
        stored);
    create table p(id integer primary key autoincrement, s text not null);
    create table c(p int references p(id), w any) strict;
    create view v as select a from t;
    create trigger tr after delete on t begin delete from k; end;
    pragma user_version=5;
'''


def fill(c, rows=12):
    c.executescript(RICH)
    c.executemany('insert into t values(?, ?, ?, ?)',
                  [(i * 3, f'text {i}' * (i % 5), bytes(i * 90), i / 7)
                   for i in range(1, rows)])
    c.executemany('insert into k values(?, ?, ?)',
                  [(f'Key{i % 4}', i, None if i % 2 else i)
                   for i in range(rows)])
    c.executemany('insert into g(x) values(?)', [(i,) for i in range(rows)])
    c.execute("insert into p(s) values('one'), ('two')")
    c.execute('insert into c values(1, 2.5), (2, null), (null, x\'00\')')


def opened(path, page_size=512, encoding='UTF-8', *pragmas):
    c = sqlite3.connect(path, isolation_level=None)
    c.execute(f'pragma page_size={page_size}')
    c.execute(f"pragma encoding='{encoding}'")
    for p in pragmas:
        c.execute(f'pragma {p}')
    return c


def plain(path):
    c = opened(path)
    fill(c)
    c.close()


def utf16_vacuum(path):
    c = opened(path, 1024, 'UTF-16le', 'auto_vacuum=incremental')
    fill(c)
    c.execute('delete from t where id > 15')
    c.close()


def text_search(path):
    c = opened(path, 512)
    c.execute('create virtual table f using fts5(body)')
    c.executemany('insert into f values(?)',
                  [('the quick brown fox',), ('jumps over',)])
    c.execute('create virtual table q using rtree(id, lo, hi)')
    c.execute('insert into q values(1, 0, 1), (2, 5, 9)')
    c.close()


def _taken(path, c):
    """The files as they lie there while a connection is open."""
    for s in SIDECARS:
        if os.path.exists(path + '.live' + s):
            shutil.copy(path + '.live' + s, path + s)
    c.close()


def wal(path):
    c = opened(path + '.live', 512, 'UTF-8', 'journal_mode=wal',
               'wal_autocheckpoint=0')
    c.executescript('create table t(id integer primary key, a text);'
                    'create index i on t(a)')
    for i in range(6):
        c.execute('insert into t(a) values(?)', ('x' * 60 * i,))
    c.execute('pragma wal_checkpoint(restart)')
    c.execute("insert into t(a) values('after'), ('the restart')")
    c.execute('delete from t where id = 2')
    _taken(path, c)


def wal_only(path):
    """All but the first page is in the WAL, and there is no SHM."""
    c = opened(path + '.live', 1024, 'UTF-8', 'journal_mode=wal',
               'wal_autocheckpoint=0')
    fill(c, 6)
    _taken(path, c)
    os.remove(path + '-shm')


def journal(path):
    c = opened(path + '.live', 512, 'UTF-8', 'journal_mode=delete')
    fill(c, 30)
    c.execute('pragma cache_size=1')
    c.execute('begin immediate')
    c.execute("update t set a = a || 'longer than it was'")
    c.execute('delete from k')
    _taken(path, c)


DATABASES = [plain, utf16_vacuum, text_search, wal, wal_only, journal]
