"""Which WAL and journal belong to which main, by the writer's own memory.

Two databases cloned from one template and migrated alike have no page that
tells their sidecars apart; each writer here has two of them open. What is
captured must have the rows that the writer wrote into that database.
"""
import contextlib
import os
import shutil
import subprocess

from holdfast import (HERE, NOT_CHECKED, REFUSED, WAL, YES, Skip, Writer,
                      bank, capture, each, folder, has, hold, lacks, make,
                      need_better_sqlite3, need_tool, query, run, same,
                      unreadable)

# What is ambiguous is tried again until --timeout.
SOON = ('--timeout', '0.2')
KINDS = 'python', 'dynamic', 'static', 'stripped', 'node'


class Lines:
    """A program that speaks the lines of binding_writer.c."""

    def __init__(self, command, env=None):
        self.child = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
            text=True, env=env)
        self.pid = self.child.pid

    def ask(self, *words):
        print(*words, file=self.child.stdin, flush=True)
        kind, _, value = self.child.stdout.readline().strip().partition(' ')
        assert kind == 'ok', f'{words}: {kind} {value}'
        return value

    def open(self, path, pragmas=WAL, name='main'):
        self.ask('open', name, path)
        for pragma in pragmas:
            self.sql(f'pragma {pragma}', name=name)
        return self

    def sql(self, sql, name='main'):
        return self.ask('sql', name, sql)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.child.kill()
        self.child.communicate()


LIBRARIES = {
    'dynamic': ('-lsqlite3', '-ldl'),
    'stripped': ('-s', '-lsqlite3', '-ldl'),
    'static': ('-static', '-w', '-lsqlite3', '-lm', '-lpthread', '-ldl'),
}


def built(d, kind):
    cc = os.environ.get('CC') or need_tool('cc')
    made = subprocess.run(
        [*cc.split(), '-D_GNU_SOURCE', '-O2', '-o', f'{d}/writer',
         f'{HERE}/binding_writer.c', *LIBRARIES[kind]],
        capture_output=True, text=True)
    if made.returncode and kind == 'static':
        raise Skip('needs the static libraries of SQLite and libc')
    assert made.returncode == 0, made.stderr
    return f'{d}/writer'


def start(kind, d):
    if kind == 'python':
        return Writer()
    if kind != 'node':
        return Lines([built(d, kind)])
    return Lines([need_better_sqlite3(), f'{HERE}/binding_writer.js'])


@contextlib.contextmanager
def writer(kind='dynamic'):
    with folder() as d, start(kind, d) as w:
        yield d, w


def fill(w, name, rows):
    for i in range(rows):
        w.sql(f"insert into acct values({i}, '{name}', 1)", name=name)


def clones(d, w, pragmas=WAL, names=('main', 'other')):
    """Content tells nothing: what was copied back is equal in both."""
    make(f'{d}/template', 'create table acct(id, who, bal)')
    for name in names:
        shutil.copy(f'{d}/template', f'{d}/{name}.db')
        w.open(f'{d}/{name}.db', pragmas, name)
    for name in names:
        w.sql("insert into acct values(0, 'both', 1)", name=name)
        w.sql('pragma wal_checkpoint', name=name)
    for name in names:
        fill(w, name, len(name))
    return f'{d}/main.db'


def owners(packet):
    return query(packet, 'select who, count(*) from acct group by who'
                 ' order by who')


def is_right(d, name, *options, rows=None):
    got = capture(f'{d}/{name}.db', f'{d}/p-{name}', '--force', *options)
    same(got['binding'], 'writer-memory')
    same(owners(f'{d}/p-{name}'),
         [['both', '1'], [name, str(rows or len(name))]])


@each(*KINDS)
def test_clones_are_told_apart_by_the_memory_of_their_writer(kind):
    with writer(kind) as (d, w):
        clones(d, w)
        is_right(d, 'main')
        is_right(d, 'other')
        fill(w, 'main', 1)
        is_right(d, 'main', rows=5)


def cross(d, suffix='-wal'):
    os.rename(f'{d}/main.db{suffix}', f'{d}/t')
    os.rename(f'{d}/other.db{suffix}', f'{d}/main.db{suffix}')
    os.rename(f'{d}/t', f'{d}/other.db{suffix}')


@each(*KINDS)
def test_crossed_names_never_cross_what_the_memory_says(kind):
    with writer(kind) as (d, w):
        clones(d, w)
        cross(d)
        for name, wrong in ('main', 'other'), ('other', 'main'):
            held = os.stat(f'{d}/{wrong}.db-wal').st_ino
            r = run('capture', *SOON, '-o', f'{d}/p', f'{d}/{name}.db')
            r.expect(REFUSED)
            has(r.err, f':{held}', '-wal')
            is_right(d, name, '--displaced')
        cross(d)
        is_right(d, 'main')


def cross(d, suffix='-wal'):
    os.rename(f'{d}/main.db{suffix}', f'{d}/t')
    os.rename(f'{d}/other.db{suffix}', f'{d}/main.db{suffix}')
    os.rename(f'{d}/t', f'{d}/other.db{suffix}')


def test_one_open_database_is_bound_without_its_memory():
    """The inverse: there is nothing to tell apart."""
    with writer('python') as (d, w):
        clones(d, w, names=('main',))
        trace = f'{d}/trace'
        got = capture(f'{d}/main.db', f'{d}/p', prefix=[
            need_tool('strace'), '-f', '-e', 'trace=process_vm_readv',
            '-o', trace])
        same(got['binding'], 'sole')
        with open(trace) as f:
            lacks(f.read(), 'process_vm_readv')


def test_the_order_of_opening_is_no_evidence():
    """Mains 3 and 4, then the WALs in the other order."""
    with writer() as (d, w):
        make(f'{d}/template', 'create table acct(id, who, bal)',
             'pragma journal_mode=wal')
        for name in 'main', 'other':
            shutil.copy(f'{d}/template', f'{d}/{name}.db')
            w.open(f'{d}/{name}.db', (), name)
        for name in 'other', 'main':
            w.sql("insert into acct values(0, 'both', 1)", name=name)
        for name in 'other', 'main':
            fill(w, name, len(name))
        is_right(d, 'main')
        is_right(d, 'other')


def test_what_closed_connections_leave_behind_ties_nothing():
    """The descriptors of the one are those of the other before."""
    with writer() as (d, w):
        clones(d, w)
        for i in range(20):
            first, second = ('other', 'main') if i % 2 else ('main', 'other')
            for name in 'main', 'other':
                w.ask('close', name)
            for name in first, second:
                w.open(f'{d}/{name}.db', ('wal_autocheckpoint=0',), name)
                w.sql('update acct set bal = bal + 1', name=name)
            is_right(d, first)
        is_right(d, 'main')
        is_right(d, 'other')


def test_a_database_that_is_closed_again_gives_its_wal_to_no_other():
    with writer() as (d, w):
        clones(d, w, names=('main', 'other', 'third'))
        w.ask('close', 'third')
        w.open(f'{d}/third.db', ('wal_autocheckpoint=0',), 'third')
        is_right(d, 'main')
        w.sql('select * from acct', name='third')
        is_right(d, 'other')
        is_right(d, 'main')


def test_many_connections_of_one_database_give_one_answer():
    with writer() as (d, w):
        clones(d, w)
        for name in 'a', 'b', 'c':
            w.open(f'{d}/main.db', (), name)
            w.sql('select count(*) from acct', name=name)
        is_right(d, 'main')
        w.ask('close', 'a')
        is_right(d, 'main')
        is_right(d, 'other')


def test_attached_databases_are_told_apart():
    with writer('python') as (d, w):
        clones(d, w)
        w.open(f'{d}/main.db', (), 'both')
        w.sql(f"attach '{d}/other.db' as o", name='both')
        w.sql('insert into o.acct select * from main.acct limit 0',
              name='both')
        is_right(d, 'main')
        is_right(d, 'other')


def test_two_libraries_in_one_process_are_both_asked():
    with writer() as (d, w):
        clones(d, w)
        copy = shutil.copy(library(w), f'{d}/copy.so')
        w.ask('library', copy)
        make(f'{d}/third.db', 'create table acct(id, who, bal)')
        w.open(f'{d}/third.db', WAL, 'third')
        w.open(f'{d}/main.db', (), 'again')
        fill(w, 'third', 5)
        w.sql("insert into acct values(9, 'main', 1)", name='again')
        is_right(d, 'main', rows=5)
        is_right(d, 'other')
        same(capture(f'{d}/third.db', f'{d}/p')['binding'], 'writer-memory')
        same(owners(f'{d}/p'), [['third', '5']])


def library(w):
    with open(f'/proc/{w.pid}/maps') as f:
        for line in f:
            if 'libsqlite3.so' in line:
                return line.split()[-1]
    raise Skip('needs a shared libsqlite3')


def test_a_forked_child_that_inherited_the_descriptors_agrees():
    with writer() as (d, w):
        clones(d, w)
        w.ask('fork')
        got = capture(f'{d}/main.db', f'{d}/p')
        same((got['binding'], len(got['writers'])), ('writer-memory', 2))
        is_right(d, 'main')
        is_right(d, 'other')
        # The child still has what its parent closes, and so its memory.
        w.ask('close', 'other')
        w.open(f'{d}/other.db', ('wal_autocheckpoint=0',), 'other')
        w.sql('update acct set bal = bal + 1', name='other')
        is_right(d, 'main')


def test_a_main_that_is_written_through_two_wals_is_ambiguous():
    """Whichever is taken, the commits in the other one would be lost."""
    with writer() as (d, w):
        clones(d, w)
        w.sql('pragma wal_checkpoint')
        os.rename(f'{d}/main.db-wal', f'{d}/aside')
        w.open(f'{d}/main.db', ('wal_autocheckpoint=0',), 'again')
        w.sql("insert into acct values(9, 'again', 1)", name='again')
        for names in (), ('--displaced',):
            r = run('capture', *SOON, *names, '-o', f'{d}/p', f'{d}/main.db')
            r.expect(REFUSED)
        has(r.err, 'two of them', str(os.stat(f'{d}/main.db').st_ino))
        is_right(d, 'other')


def test_clones_in_a_program_without_known_connections_are_ambiguous():
    """It has the files open for writing by calls of its own."""
    with folder() as d, Writer() as unknown:
        with Writer() as w:
            clones(d, w)
            hold(unknown, f'{d}/main.db', f'{d}/other.db')
            w.crash()
        for name in 'main', 'other':
            r = run('capture', *SOON, '-o', f'{d}/p', f'{d}/{name}.db')
            r.expect(REFUSED)
            has(r.err, 'ambiguous', f'process {unknown.pid}', 'connection')


def test_where_the_memory_may_not_be_read_the_hint_says_so():
    with writer('python') as (d, w):
        clones(d, w)
        r = run('capture', *SOON, '-o', f'{d}/p', f'{d}/main.db',
                prefix=unreadable())
        r.expect(REFUSED)
        has(r.err, 'ambiguous', 'process_vm_readv', 'not permitted')
        assert not os.path.exists(f'{d}/p')


def test_where_the_memory_may_not_be_read_the_content_is_asked():
    with folder() as d, Writer() as w:
        for name, rows in ('main', 20), ('other', 30):
            bank(w, f'{d}/{name}.db', rows=rows, name=name)
            w.sql('pragma wal_checkpoint', name=name)
            w.sql('update acct set bal = bal', name=name)
        for name, rows in ('main', '20'), ('other', '30'):
            got = capture(f'{d}/{name}.db', f'{d}/p', '--force',
                          prefix=unreadable())
            same(got['binding'], 'content')
            same(query(f'{d}/p', 'select count(*) from acct'), [[rows]])


def spilled(d, w, pragmas):
    make(f'{d}/template', 'create table t(id integer primary key, x)',
         'with n(i) as (select 1 union all select i + 1 from n where'
         " i < 2000) insert into t select i, printf('%.400c', 'o') from n")
    for name in 'main', 'other':
        shutil.copy(f'{d}/template', f'{d}/{name}.db')
        w.open(f'{d}/{name}.db', (*pragmas, 'cache_size=5'), name)
        w.sql('begin', name=name)
        w.sql(f"update t set x = '{name}' where id > 10", name=name)


@each('delete', 'persist', 'truncate')
def test_hot_journals_of_clones_are_told_apart_by_memory(mode):
    with writer() as (d, w):
        spilled(d, w, (f'journal_mode={mode}',))
        for name in 'main', 'other':
            got = capture(f'{d}/{name}.db', f'{d}/p', '--force')
            same(got['binding'], 'writer-memory')
            same(query(f'{d}/p', 'select distinct substr(x, 1, 1) from t'),
                 [['o']])
        cross(d, '-journal')
        for name in 'main', 'other':
            got = capture(f'{d}/{name}.db', f'{d}/p', '--force',
                          '--displaced')
            same(got['binding'], 'writer-memory')
            same(query(f'{d}/p', 'select distinct substr(x, 1, 1) from t'),
                 [['o']])


@each('delete', 'persist', 'truncate')
def test_hot_journals_of_clones_are_never_crossed_without_memory(mode):
    with writer() as (d, w):
        spilled(d, w, (f'journal_mode={mode}',))
        cross(d, '-journal')
        for name in 'main', 'other':
            r = run('capture', *SOON, '--displaced', '--force', '-o',
                    f'{d}/p', f'{d}/{name}.db', prefix=unreadable())
            if r.status == REFUSED:
                has(r.err, 'ambiguous')
                continue
            r.expect(YES, NOT_CHECKED)
            same(query(f'{d}/p', 'select distinct substr(x, 1, 1) from t'),
                 [['o']])


def test_pages_that_contradict_the_memory_are_a_refusal():
    """Somebody wrote over a page of main that a checkpoint had copied."""
    with writer() as (d, w):
        clones(d, w)
        for name in 'main', 'other':
            w.sql('pragma wal_checkpoint', name=name)
        is_right(d, 'main')
        with open(f'{d}/main.db', 'r+b') as f:
            f.seek(4096 + f.read().rindex(b'both') % 4096)
            f.write(b'BOTH')
        r = run('capture', *SOON, '--force', '-o', f'{d}/p', f'{d}/main.db')
        r.expect(REFUSED)
        has(r.err, 'contradicting evidence', 'memory')
        assert not os.path.exists(f'{d}/p')
        is_right(d, 'other')


def test_a_large_heap_is_searched_before_the_pause():
    """More than may be searched while the writer stands still."""
    with writer() as (d, w):
        clones(d, w)
        w.ask('heap', 200)
        is_right(d, 'main')
        is_right(d, 'other')
