#!/usr/bin/env python3
"""The whole path on a real writer: capture, verify, change, diff, attack.

Every step runs the built holdfast, shows what it printed and holds it
against what the writer did. There are no pauses: the writer answers over
a pipe when it has done what it was told.
"""
import os
import shlex
import shutil
import subprocess
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
sys.path.insert(0, os.path.join(ROOT, 'tests', 'e2e'))
sys.dont_write_bytecode = True
from holdfast import HOLDFAST, Writer, folder, has, same  # noqa: E402

SCHEMA = '''
create table lease(name text primary key, holder text not null,
    epoch integer not null, expires integer not null);
create table event(id integer primary key, lease text references lease,
    what text);
'''

shown = []


def say(text):
    print(f'\n\033[1m{text}\033[0m' if sys.stdout.isatty() else f'\n{text}')


def holdfast(where, *args, status):
    print('  $ holdfast', shlex.join(args))
    r = subprocess.run([HOLDFAST, *args], cwd=where, text=True,
                       stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                       stderr=subprocess.STDOUT)
    for line in r.stdout.splitlines():
        print('  ', line)
    print(f'   [exit {r.returncode}]')
    assert r.returncode in status, f'exit {r.returncode}, not {status}'
    return r.stdout


def start_writer(w, where):
    db = f'{where}/lease.db'
    w.open(db)
    w.script(SCHEMA)
    w.sql('pragma wal_checkpoint')
    w.many('insert into lease values(?, ?, ?, ?)',
           [(f'job-{i}', f'worker-{i % 3}', 1, 1000 + i) for i in range(50)])
    w.many('insert into event(lease, what) values(?, ?)',
           [(f'job-{i}', 'acquired') for i in range(50)])
    return db


def before(w, where, db):
    say(f'A writer, process {w.pid}, has lease.db open in WAL mode.')
    print(f'   It committed 100 rows; lease.db itself has '
          f'{os.path.getsize(db)} bytes and none of them:')
    shutil.copy(db, f'{where}/main-alone.db')
    holdfast(where, 'query', 'main-alone.db',
             'select count(*) as rows_in_main_alone from lease',
             status=(0, 6))
    say('Capture it, from the descriptors of the writer.')
    holdfast(where, 'capture', '-o', 'before.holdfast', 'lease.db',
             status=(0, 6))
    out = holdfast(where, 'query', 'before.holdfast',
                   'select count(*) as leases from lease', status=(0, 6))
    has(out, '50')
    shown.append('rows that existed only in the WAL are in the packet')


def unchanged(w, where):
    say('Nothing was written since: a second capture is the same state.')
    w.sql('pragma wal_checkpoint')
    holdfast(where, 'capture', '-o', 'same.holdfast', 'lease.db',
             status=(0, 6))
    holdfast(where, 'verify', '--unchanged', 'before.holdfast',
             'same.holdfast', status=(0, 6))
    shown.append('verify --unchanged passes where nothing was written, '
                 'although a checkpoint moved pages')


def changed(w, where):
    say('The writer changes three rows and adds a column.')
    w.sql("update lease set holder = 'thief', epoch = 2 "
          "where name in ('job-7', 'job-8', 'job-9')")
    w.sql('alter table event add column note text')
    holdfast(where, 'capture', '-o', 'after.holdfast', 'lease.db',
             status=(0, 6))
    out = holdfast(where, 'diff', 'before.holdfast', 'after.holdfast',
                   status=(1,))
    has(out, 'job-7', 'job-8', 'job-9', 'thief', 'note')
    assert 'job-6' not in out and 'acquired' not in out, 'more than that'
    shown.append('diff shows the three rows and the column, and no more')
    holdfast(where, 'verify', '--unchanged', 'before.holdfast',
             'after.holdfast', status=(1,))
    shown.append('verify --unchanged fails')


def attacked(w, where, db):
    say('Somebody puts another WAL under the name lease.db-wal.')
    mine = w.descriptor_of(db + '-wal')
    shutil.copy(db + '-wal', f'{where}/substitute')
    os.rename(f'{where}/substitute', db + '-wal')
    theirs = os.stat(db + '-wal').st_ino
    out = holdfast(where, 'capture', '-o', 'attacked.holdfast', 'lease.db',
                   status=(3,))
    has(out, str(mine[1]), str(theirs))
    assert not os.path.exists(f'{where}/attacked.holdfast')
    shown.append('a substituted WAL is refused, with both inodes, and no '
                 'packet is left')
    w.sql("insert into event(lease, what) values('job-1', 'renewed')")
    same(w.sql('select count(*) from event'), [(51,)])
    shown.append('the writer committed another row after all of it')


def main():
    with folder() as where, Writer() as w:
        db = start_writer(w, where)
        before(w, where, db)
        unchanged(w, where)
        changed(w, where)
        attacked(w, where, db)
    say('Shown:')
    for line in shown:
        print(f'   - {line}')
    return 0


if __name__ == '__main__':
    sys.exit(main())
