"""No name decides which bytes are read: attacks on names, and open calls."""
import json
import os
import shutil
import sqlite3
import subprocess
import tarfile

from holdfast import (DELETE, NOT_CHECKED, REFUSED, TROUBLE, WAL, YES,
                      Writer, bank, capture, each, folder, has, hold, make,
                      need_tool, opened_by_name, query, run, same, unreadable)

SUM = 'select count(*), sum(bal) from acct'
# What is ambiguous is tried again until --timeout.
SOON = ('--timeout', '0.2')


def crossed(d, a, b):
    """Two databases held by two writers; the names of the WALs crossed."""
    bank(a, f'{d}/app.db')
    bank(b, f'{d}/other.db', rows=30)
    os.rename(f'{d}/app.db-wal', f'{d}/t')
    os.rename(f'{d}/other.db-wal', f'{d}/app.db-wal')
    os.rename(f'{d}/t', f'{d}/other.db-wal')
    return f'{d}/app.db'


def put_in_place(d, name, content=None):
    """Another inode under the name; the writer keeps its own."""
    if content is None:
        shutil.copy(f'{d}/{name}', f'{d}/new')
    else:
        with open(f'{d}/new', 'wb') as f:
            f.write(content)
    os.rename(f'{d}/new', f'{d}/{name}')


def test_a_substituted_wal_is_refused_with_both_inodes():
    with folder() as d, Writer() as w:
        db = bank(w, f'{d}/app.db')
        held = os.stat(db + '-wal')
        put_in_place(d, 'app.db-wal')
        named = os.stat(db + '-wal')
        assert held.st_ino != named.st_ino
        r = run('capture', '-o', f'{d}/p', db).expect(REFUSED)
        has(r.err, f':{held.st_ino}', f':{named.st_ino}', '-wal')
        assert not os.path.exists(f'{d}/p')
        w.sql('insert into acct(bal) values(1)')


def test_a_substituted_main_is_refused_or_taken_as_another_database():
    """The name selects an inode: the new one, which no writer holds."""
    with folder() as d, Writer() as w:
        db = bank(w, f'{d}/app.db')
        make(f'{d}/new', 'create table acct(id, who, bal)',
             'insert into acct values(1, 1, 7)')
        os.rename(f'{d}/new', db)
        r = run('capture', '-o', f'{d}/p', db)
        r.expect(REFUSED)
        assert not os.path.exists(f'{d}/p')
        w.sql('insert into acct(bal) values(1)')


def test_the_writer_selected_by_pid_whose_main_was_replaced_is_refused():
    with folder() as d, Writer() as w:
        db = bank(w, f'{d}/app.db')
        held = os.stat(db)
        put_in_place(d, 'app.db')
        r = run('capture', '--pid', str(w.pid), '-o', f'{d}/p', db)
        r.expect(REFUSED)
        assert not os.path.exists(f'{d}/p')
        del held


def test_displaced_captures_the_writers_own_wal_and_says_so():
    with folder() as d, Writer() as w:
        db = bank(w, f'{d}/app.db')
        held = os.stat(db + '-wal').st_ino
        put_in_place(d, 'app.db-wal', b'not a wal')
        got = capture(db, f'{d}/p', '--displaced')
        same([int(f['ino']) for f in got['files'] if f['role'] == 'wal'],
             [held])
        assert got['displaced'] is True, got
        same(query(f'{d}/p', SUM), [['20', '1000']])


def test_displaced_never_takes_the_file_that_the_name_shows():
    """The lost one is open in a reader only: there is no writer's own."""
    with folder() as d, Writer() as reader:
        db = make(f'{d}/app.db', 'create table t(x)')
        lost = os.stat(db)
        reader.ask('open_file', 'raw', db, os.O_RDONLY)
        put_in_place(d, 'app.db')
        r = run('capture', '--displaced', '-o', f'{d}/p', db).expect(REFUSED)
        has(r.err, f'{lost.st_ino}', 'without --displaced')
        os.unlink(db)
        r = run('capture', '--displaced', '-o', f'{d}/p', db).expect(REFUSED)
        has(r.err, f'{lost.st_ino}')
        assert not os.path.exists(f'{d}/p')


def test_a_wal_that_was_renamed_is_told_by_its_name():
    with folder() as d, Writer() as w:
        with Writer() as dead:
            db = bank(dead, f'{d}/app.db')
            hold(w, db)
            dead.crash()
        os.rename(db + '-wal', f'{d}/aside')
        os.mkfifo(db + '-wal')
        r = run('capture', *SOON, '-o', f'{d}/p', db).expect(REFUSED)
        has(r.err, f'{d}/aside', str(os.stat(f'{d}/aside').st_ino))


def test_a_name_that_ends_as_those_of_unlinked_files_is_a_name():
    with folder() as d, Writer() as w:
        db = bank(w, f'{d}/app (deleted)')
        same(capture(db, f'{d}/p')['binding'], 'sole')
        same(query(f'{d}/p', SUM), [['20', '1000']])


def test_unlinked_sidecars_are_refused_and_captured_with_displaced():
    with folder() as d, Writer() as w:
        db = bank(w, f'{d}/app.db')
        os.unlink(db + '-wal')
        os.unlink(db + '-shm')
        r = run('capture', '-o', f'{d}/p', db).expect(REFUSED)
        has(r.err, '-wal')
        capture(db, f'{d}/p', '--displaced')
        same(query(f'{d}/p', SUM), [['20', '1000']])


def test_crossed_wal_names_of_two_databases_never_cross_the_content():
    with folder() as d, Writer() as a, Writer() as b:
        db = crossed(d, a, b)
        r = run('capture', '-o', f'{d}/p', db).expect(REFUSED)
        has(r.err, '-wal')
        r = run('capture', *SOON, '--displaced', '-o', f'{d}/p', db)
        if r.status == REFUSED:
            has(r.err, 'ambiguous')
        else:
            same(query(f'{d}/p', SUM), [['20', '1000']])


def test_one_writer_with_two_databases_is_bound_by_its_memory():
    """And the pages, which are looked at afterwards, bear it out."""
    with folder() as d, Writer() as w:
        for name, rows in ('app', 20), ('other', 30):
            bank(w, f'{d}/{name}.db', rows=rows, name=name)
            w.sql('pragma wal_checkpoint', name=name)
            w.sql('update acct set bal = bal', name=name)
        for name, rows in ('app', 20), ('other', 30):
            got = capture(f'{d}/{name}.db', f'{d}/{name}')
            same(got['binding'], 'writer-memory')
            same(query(f'{d}/{name}', SUM), [[str(rows), str(rows * 50)]])
            same(check(f'{d}/{name}', 'content'), 'agrees')


def check(packet, name):
    with tarfile.open(packet) as t:
        manifest = json.load(t.extractfile('manifest.json'))
    return {c['name']: c['outcome'] for c in manifest['checks']}[name]


def ambiguous(d, w):
    """Two databases that were left by a crash, and only w has open."""
    with Writer() as dead:
        bank(dead, f'{d}/other.db', rows=30, name='other')
        db = bank(dead, f'{d}/app.db')
        hold(w, f'{d}/other.db', db)
        dead.crash()
    return db


def test_two_databases_without_evidence_of_pairing_are_ambiguous():
    with folder() as d, Writer() as w:
        db = ambiguous(d, w)
        r = run('capture', *SOON, '-o', f'{d}/p', db).expect(REFUSED)
        has(r.err, 'ambiguous')
        assert not os.path.exists(f'{d}/p')
        w.ask('ping')


@each('written', 'clone')
def test_a_spilled_journal_is_never_taken_for_that_of_a_clone(which):
    spilled(which)


@each('written', 'clone')
def test_a_spilled_journal_is_told_by_the_locks_without_memory(which):
    spilled(which, prefix=unreadable())


def spilled(which, prefix=()):
    """The pages that it undoes are still those of the clone."""
    with folder() as d, Writer() as w:
        make(f'{d}/template', 'create table t(id integer primary key, x)',
             'with n(i) as (select 1 union all select i + 1 from n where'
             " i < 2000) insert into t select i, printf('%.400c', 'o')"
             ' from n')
        for name in ('written', 'clone'):
            shutil.copy(f'{d}/template', f'{d}/{name}.db')
            w.open(f'{d}/{name}.db', ('journal_mode=delete', 'cache_size=5'),
                   name)
        w.sql("update t set x = 'kept' where id = 1", name='clone')
        w.sql('begin', name='written')
        w.sql("update t set x = 'new'", name='written')
        for names in ((), ('--displaced',)):
            run('capture', *SOON, *names, '--force', '-o', f'{d}/p',
                f'{d}/{which}.db', prefix=prefix).expect(YES, NOT_CHECKED)
            same(query(f'{d}/p', "select sum(x = 'new'), sum(x = 'kept')"
                       ' from t'), [['0', str(int(which == 'clone'))]])
        w.sql('commit', name='written')


def test_a_hard_link_alias_brings_the_real_sidecars_or_a_refusal():
    with folder() as d, Writer() as w:
        db = bank(w, f'{d}/app.db')
        os.link(db, f'{d}/alias.db')
        r = run('capture', '-o', f'{d}/p', f'{d}/alias.db')
        if r.status == REFUSED:
            capture(f'{d}/alias.db', f'{d}/p', '--displaced')
        else:
            r.expect(YES, NOT_CHECKED)
        same(query(f'{d}/p', SUM), [['20', '1000']])


def substituted(d, w):
    db = bank(w, f'{d}/app.db')
    put_in_place(d, 'app.db-wal')
    return db


def unlinked(d, w):
    db = bank(w, f'{d}/app.db')
    os.unlink(db + '-wal')
    return db


def memory(d, w):
    db = bank(w, f'{d}/app.db', ('journal_mode=memory',), rows=400)
    w.sql('pragma cache_size=2')
    w.sql('begin immediate')
    w.sql("update acct set who = who || 'xxxxxxxxxxxxxxxxxxxxxxxxxxxxx'")
    return db


def hot(d, w):
    db = bank(w, f'{d}/app.db', DELETE, rows=400)
    w.sql('pragma cache_size=2')
    w.sql('begin immediate')
    w.sql("update acct set who = who || 'xxxxxxxxxxxxxxxxxxxxxxxxxxxxx'")
    return db


CASES = {
    'wal': (lambda d, w: bank(w, f'{d}/app.db'), (), YES),
    'delete': (lambda d, w: bank(w, f'{d}/app.db', DELETE), (), YES),
    'wal-exclusive': (lambda d, w: bank(
        w, f'{d}/app.db', ('locking_mode=exclusive', 'journal_mode=wal')),
        (), YES),
    'hot-journal': (hot, (), YES),
    'unlinked-displaced': (unlinked, ('--displaced',), YES),
    'refused-unlinked': (unlinked, (), REFUSED),
    'refused-substituted': (substituted, (), REFUSED),
    'refused-ambiguous': (ambiguous, SOON, REFUSED),
    'refused-no-journal': (memory, SOON, REFUSED),
    'refused-journal': (hot, ('--journal', 'refuse'), REFUSED),
    'gave-up': (lambda d, w: bank(w, f'{d}/app.db'),
                ('--max-pause', '0.000001'), TROUBLE),
    'check': (lambda d, w: bank(w, f'{d}/app.db'), ('--check',), YES),
}


@each(*CASES)
def test_no_live_evidence_is_opened_by_name(case):
    build, options, status = CASES[case]
    with folder() as d, Writer() as w:
        db = build(d, w)
        trace = f'{d}/trace'
        r = run('capture', *options, '-o', f'{d}/p', db,
                prefix=[need_tool('strace'), '-f', '-s', '4096', '-e',
                        'trace=open,openat,openat2', '-o', trace])
        wanted = (YES, NOT_CHECKED) if status == YES else \
            (TROUBLE, REFUSED) if status == TROUBLE else (status,)
        r.expect(*wanted)
        same(opened_by_name(trace, db), [])
        with open(trace) as f:
            calls = f.read()
        has(calls, 'O_PATH')
        assert 'fd/' in calls or '--check' in options or status != YES


def test_the_check_of_open_calls_sees_an_open_by_name():
    with folder() as d:
        db = make(f'{d}/app.db', 'create table t(x)')
        trace = f'{d}/trace'
        subprocess.run([need_tool('strace'), '-f', '-e',
                        'trace=open,openat,openat2', '-o', trace,
                        'cat', db], stdout=subprocess.DEVNULL, check=True)
        same(len(opened_by_name(trace, db)), 1)


def test_a_super_journal_is_refused_by_its_name():
    """As in a commit over two databases that is stopped before its end."""
    with folder() as d, Writer() as w:
        hot(d, w)
        os.rename(f'{d}/app.db', f'{d}/a.db')
        os.rename(f'{d}/app.db-journal', f'{d}/a.db-journal')
        write_super(f'{d}/a.db', f'{d}/a.db-mj0123456789')
        r = run('capture', '-o', f'{d}/p', f'{d}/a.db')
        r.expect(REFUSED)
        has(r.err, 'super-journal', 'a.db-mj0123456789')
        assert not os.path.exists(f'{d}/p')


def write_super(db, name):
    """Appends SQLite's super-journal record to the journal of db."""
    raw = name.encode()
    total = sum(b if b < 128 else b - 256 for b in raw) & 0xffffffff
    with open(db + '-journal', 'ab') as f:
        f.write((0x40000000 // 4096 + 1).to_bytes(4, 'big') + raw +
                len(raw).to_bytes(4, 'big') + total.to_bytes(4, 'big') +
                bytes.fromhex('d9d505f920a163d7'))
    with open(name, 'wb') as f:
        f.write(db.encode() + b'-journal\0')


def test_a_database_replaced_by_rename_keeps_its_own_sidecars():
    with folder() as d, Writer() as w:
        db = bank(w, f'{d}/app.db')
        make(f'{d}/new', 'create table acct(id, who, bal)')
        with sqlite3.connect(f'{d}/new') as c:
            c.execute('insert into acct values(1, 1, 7)')
        c.close()
        os.rename(f'{d}/new', db)
        r = run('query', '--csv', db, SUM)
        r.expect(REFUSED)
        assert '20' not in r.out
