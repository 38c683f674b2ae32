"""However a database is held, the capture is right or it is refused.

docs/WRITERS.md has the same as a table.
"""
import contextlib
import os
import shutil
import signal
import subprocess

from holdfast import (DELETE, NOT_CHECKED, REFUSED, TROUBLE, WAL, YES, Skip,
                      Writer, bank, capture, each, folder, has, limit,
                      need_tool, query, recover, run, same)
from test_faults import injected, injector, instants, number

SUM = 'select count(*), sum(bal) from acct'
BEFORE, AFTER = [['400', '20000']], [['400', '0']]
# What may be plain a moment later is tried again until --timeout.
SOON = ('--timeout', '0.2')
EXCLUSIVE = ('locking_mode=exclusive',)
WAL_EXCLUSIVE = EXCLUSIVE + ('journal_mode=wal', 'wal_autocheckpoint=0')

ROLLBACK = {mode + lock: (EXCLUSIVE if lock else ()) + (f'journal_mode={mode}',)
            for mode in ('delete', 'truncate', 'persist')
            for lock in ('', '-exclusive')}
ROLLBACK['delete-mmap'] = DELETE + ('mmap_size=1000000000',)
WRITE_AHEAD = {'wal': WAL, 'wal-exclusive': WAL_EXCLUSIVE,
               'wal-mmap': WAL + ('mmap_size=1000000000',)}


def spill(w, name='main'):
    """Inside a transaction, with more pages changed than the cache holds."""
    w.sql('pragma cache_size=2', name=name)
    w.sql('begin immediate', name=name)
    w.sql("update acct set bal = 0, who = who || printf('%.30c', 'x')",
          name=name)


def captured(db, packet, *options):
    capture(db, packet, '--force', *options)
    return query(packet, SUM)


def refused(db, packet, *options):
    r = run('capture', *SOON, *options, '-o', packet, db).expect(REFUSED)
    assert not os.path.exists(packet)
    return r.err


@contextlib.contextmanager
def forked(w):
    """A child of the writer that has all its descriptors and no lock."""
    pid = w.ask('fork')
    try:
        yield pid
    finally:
        os.kill(pid, signal.SIGKILL)


def shared_object(d, source):
    """A library of a few lines of C, to be preloaded."""
    path = f'{d}/{len(os.listdir(d))}.so'
    subprocess.run([os.environ.get('CC', '').split(' ')[-1] or need_tool('cc'),
                    '-shared', '-fPIC', '-w', '-o', path, '-x', 'c', '-'],
                   input=source.encode(), check=True)
    return path


# Journal modes

@each(*ROLLBACK)
def test_inside_a_rollback_transaction_the_state_before_it_is_taken(mode):
    with folder() as d, Writer() as w:
        db = bank(w, f'{d}/app.db', ROLLBACK[mode], rows=400)
        same(captured(db, f'{d}/p'), BEFORE, 'idle')
        spill(w)
        same(captured(db, f'{d}/p'), BEFORE, 'inside')
        same(recover(f'{d}/p')['journal']['state'], 'hot')
        w.sql('commit')
        same(captured(db, f'{d}/p'), AFTER, 'after')


@each(*WRITE_AHEAD)
def test_frames_behind_the_last_commit_of_a_wal_do_not_count(mode):
    with folder() as d, Writer() as w:
        db = bank(w, f'{d}/app.db', WRITE_AHEAD[mode], rows=400)
        spill(w)
        same(captured(db, f'{d}/p'), BEFORE, 'inside')
        assert recover(f'{d}/p')['wal']['uncommitted_frames'] > 0
        w.sql('commit')
        same(captured(db, f'{d}/p'), AFTER, 'after')


@each('memory', 'off')
def test_pages_of_a_transaction_without_a_journal_are_never_taken(mode):
    with folder() as d, Writer() as w:
        db = bank(w, f'{d}/app.db', (f'journal_mode={mode}',), rows=400)
        spill(w)
        has(refused(db, f'{d}/p'), f'process {w.pid}', 'EXCLUSIVE',
            'MEMORY or OFF')
        w.sql('commit')
        same(captured(db, f'{d}/p'), AFTER)


@each('persist', 'truncate')
def test_a_journal_that_was_left_hides_no_transaction_without_one(left):
    """It is there by its name, but the writer does not have it open."""
    with folder() as d, Writer() as w, Writer() as other:
        db = bank(w, f'{d}/app.db', (f'journal_mode={left}',), rows=400)
        assert os.path.exists(db + '-journal')
        other.open(db, ('journal_mode=memory',))
        spill(other)
        has(refused(db, f'{d}/p'), f'process {other.pid}', 'MEMORY or OFF')
        other.sql('commit')
        same(captured(db, f'{d}/p'), AFTER)


def test_a_journal_that_a_child_has_open_hides_no_transaction_without_one():
    with folder() as d, Writer() as w, Writer() as other:
        db = bank(w, f'{d}/app.db', ('journal_mode=persist',), rows=400)
        w.sql('begin immediate')
        w.sql('update acct set bal = bal')
        with forked(w) as child:
            w.sql('commit')
            other.open(db, ('journal_mode=memory',))
            spill(other)
            has(refused(db, f'{d}/p'), f'process {other.pid}',
                'MEMORY or OFF')
            other.sql('commit')
            got = capture(db, f'{d}/p')
            same(query(f'{d}/p', SUM), AFTER)
            assert child in [x['pid'] for x in got['writers']], got


def test_a_lock_that_is_kept_without_a_journal_is_refused_and_says_so():
    """From outside it looks like the inside of a transaction."""
    with folder() as d, Writer() as w:
        db = bank(w, f'{d}/app.db', EXCLUSIVE + ('journal_mode=memory',))
        has(refused(db, f'{d}/p'), 'MEMORY or OFF', 'locking_mode EXCLUSIVE')
        w.sql('pragma locking_mode=normal')
        w.sql('select * from acct')
        same(captured(db, f'{d}/p'), [['20', '1000']])


# Several databases

STOP_AT_THE_SUPER_JOURNAL = '''
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>
int unlink(const char *path)
{
	int super = strstr(path, "-mj") != NULL, rc;
	int after = getenv("STOP_AFTER") != NULL;
	if (super && !after)
		raise(SIGSTOP);
	rc = (int)syscall(SYS_unlink, path);
	if (super && after)
		raise(SIGSTOP);
	return rc;
}
'''


@each('before', 'after')
def test_a_commit_over_two_databases_is_refused_by_its_super_journal(when):
    """The writer stands at the instant that makes it one commit."""
    with folder() as d, folder() as out:
        so = shared_object(out, STOP_AT_THE_SUPER_JOURNAL)
        with Writer(prefix=['env', f'LD_PRELOAD={so}'] + (
                ['STOP_AFTER=1'] if when == 'after' else [])) as w:
            db = bank(w, f'{d}/app.db', DELETE)
            w.sql('attach ? as other', (f'{d}/other.db',))
            w.sql('create table other.t(x)')
            w.script('begin; update acct set bal = 0;'
                     ' insert into other.t values(1);')
            w.send('sql', 'main', 'commit', ())
            _, status = os.waitpid(w.child.pid, os.WUNTRACED)
            assert os.WIFSTOPPED(status), status
            for name in ('app.db', 'other.db'):
                # Which journal is whose may be unclear as well: before it.
                said = refused(f'{d}/{name}', f'{out}/p')
                assert 'super-journal' in said and 'app.db-mj' in said or \
                    'ambiguous journal' in said, said
            subprocess.run(['cp', '-a', d, f'{out}/crashed'], check=True)
            os.kill(w.child.pid, signal.SIGCONT)
            w.answer()
            same(captured(db, f'{out}/p'), [['20', '0']])
            capture(f'{d}/other.db', f'{out}/p2')
            same(query(f'{out}/p2', 'select count(*) from t'), [['1']])
        os.unlink(f'{out}/p')
        for name in ('app.db', 'other.db'):
            has(refused(f'{out}/crashed/{name}', f'{out}/p'),
                'super-journal', 'app.db-mj')


def test_a_commit_over_two_wal_databases_is_whole_in_each_by_itself():
    """What SQLite does not promise after a crash is not promised here."""
    with folder() as d, Writer() as w:
        db = bank(w, f'{d}/app.db')
        w.sql('attach ? as other', (f'{d}/other.db',))
        w.sql('pragma other.journal_mode=wal')
        w.sql('create table other.t(id integer primary key, x, y)')
        w.many('insert into other.t values(?, 0, ?)',
               [(i, 'y' * 90) for i in range(300)])
        for value in (1, 2):
            w.sql('pragma wal_checkpoint')
            w.script(f'begin; update acct set bal = {value};'
                     f' update other.t set x = {value}; commit;')
        for value in (3, 4):
            w.script(f'begin; update acct set bal = {value} where id = 1;'
                     f' update other.t set x = {value} where id = 1;'
                     ' commit;')
            w.sql('pragma wal_checkpoint')  # tells which WAL is whose
            capture(db, f'{d}/p{value}')
        capture(f'{d}/other.db', f'{d}/p')
        same(query(f'{d}/p3', 'select bal from acct where id < 3'),
             [['3'], ['2']])
        same(query(f'{d}/p4', 'select bal from acct where id < 3'),
             [['4'], ['2']])
        same(query(f'{d}/p', 'select x from t where id in (1, 2)'),
             [['4'], ['2']])


@each('wal', 'delete')
def test_a_second_copy_of_sqlite_in_the_process_is_seen_as_well(mode):
    """Its close takes the locks of the first from the process."""
    with folder() as d, Writer() as w:
        library = w.ask('library')
        if not library:
            raise Skip('this python has SQLite built in')
        second = shutil.copy(os.path.realpath(library), f'{d}/second.so')
        db = bank(w, f'{d}/app.db', WAL if mode == 'wal' else DELETE)
        w.ask('second_library', 'other', second, db,
              ['update acct set bal = bal + 1 where id = 1'])
        w.sql('update acct set bal = bal + 1 where id = 2')
        same(captured(db, f'{d}/p'), [['20', '1002']])
        w.ask('close', 'other')
        w.sql('update acct set bal = bal + 1 where id = 3')
        if mode == 'delete':
            same(captured(db, f'{d}/p'), [['20', '1003']])
            return
        # Unlocked, the first looked like nobody: its WAL was taken away.
        os.unlink(f'{d}/p')
        has(refused(db, f'{d}/p'), f'process {w.pid}', 'unlinked WAL',
            'no lock')


# Forked children

@each((), ('--displaced',))
def test_a_journal_that_only_a_forked_child_still_has_is_over(options):
    """SQLite unlinked it at the commit: it must not be rolled back."""
    with folder() as d, Writer() as w:
        db = bank(w, f'{d}/app.db', DELETE, rows=400)
        spill(w)
        with forked(w) as child:
            same(captured(db, f'{d}/p'), BEFORE, 'inside')
            w.sql('commit')
            got = capture(db, f'{d}/p', '--force', *options)
            same(query(f'{d}/p', SUM), AFTER)
            same(sorted(x['pid'] for x in got['writers']),
                 sorted([w.pid, child]))
            w.sql('begin immediate')
            w.sql('update acct set bal = 7')
            same(captured(db, f'{d}/p', *options), AFTER, 'inside the next')


@each((), ('--displaced',))
def test_a_wal_that_only_a_forked_child_still_has_is_never_replayed(options):
    with folder() as d, Writer() as w:
        db = bank(w, f'{d}/app.db')
        with forked(w) as child:
            w.ask('close', 'main')
            assert not os.path.exists(db + '-wal')
            w.open(db, DELETE)
            w.sql('update acct set bal = 0')
            has(refused(db, f'{d}/p', *options), f'process {child}',
                'unlinked WAL', 'no lock')
        same(query_when_gone(db, f'{d}/p', child), [['20', '0']])


def query_when_gone(db, packet, pid):
    """A killed child of another lets go of its descriptors as it ends."""
    while True:
        try:
            with open(f'/proc/{pid}/stat') as f:
                if f.read().rsplit(')', 1)[1].split()[0] == 'Z':
                    break
        except FileNotFoundError:
            break
    return captured(db, packet)


def test_a_forked_child_with_the_live_wal_is_paused_and_changes_nothing():
    with folder() as d, Writer() as w:
        db = bank(w, f'{d}/app.db')
        with forked(w) as child:
            w.sql('update acct set bal = 7')
            got = capture(db, f'{d}/p')
            same(query(f'{d}/p', SUM), [['20', '140']])
            same(sorted(x['pid'] for x in got['writers']),
                 sorted([w.pid, child]))


# Split and lost files

@each('wal', 'shm')
def test_a_split_is_refused_and_both_files_are_named(which):
    with folder() as d, Writer() as a, Writer() as b:
        db = bank(a, f'{d}/app.db')
        old = os.stat(f'{db}-{which}').st_ino
        if which == 'wal':
            os.unlink(f'{db}-shm')
        os.unlink(f'{db}-{which}')
        b.open(db)
        b.sql('create table if not exists t(x)')
        for options in ((), ('--displaced',)):
            has(refused(db, f'{d}/p', *options), f'split {which}',
                f'process {a.pid}', f':{old} (unlinked)', f'process {b.pid}',
                f":{os.stat(f'{db}-{which}').st_ino} ")


def test_two_names_of_one_main_with_a_wal_each_are_a_split():
    with folder() as d, Writer() as a, Writer() as b:
        db = bank(a, f'{d}/app.db')
        os.link(db, f'{d}/alias.db')
        b.open(f'{d}/alias.db')
        b.sql('create table if not exists t(x)')
        for name in ('app.db', 'alias.db'):
            has(refused(f'{d}/{name}', f'{d}/p'), 'split wal',
                *[f":{os.stat(f'{d}/{n}-wal').st_ino} "
                  for n in ('app.db', 'alias.db')])


@each(*ROLLBACK, *WRITE_AHEAD)
def test_when_every_name_is_unlinked_displaced_takes_what_is_open(mode):
    pragmas = {**ROLLBACK, **WRITE_AHEAD}[mode]
    with folder() as d, Writer() as w:
        db = bank(w, f'{d}/app.db', pragmas, rows=400)
        spill(w)
        for name in os.listdir(d):
            os.unlink(f'{d}/{name}')
        r = run('capture', *SOON, '-o', f'{d}/p', db).expect(TROUBLE)
        has(r.err, 'not found')
        got = capture(db, f'{d}/p', '--displaced')
        same(got['displaced'], True)
        same(query(f'{d}/p', SUM), BEFORE)


def test_an_idle_connection_after_a_crash_is_rolled_back_by_its_journal():
    """Nobody has the hot journal open: only its name is there."""
    with folder() as d, Writer() as w, Writer() as idle:
        db = bank(w, f'{d}/app.db', DELETE, rows=400)
        idle.open(db, DELETE)
        same(idle.sql(SUM), [(400, 20000)])
        spill(w)
        w.crash()
        got = capture(db, f'{d}/p')
        same([x['pid'] for x in got['writers']], [idle.pid])
        same(query(f'{d}/p', SUM), BEFORE)
        same(idle.sql(SUM), [(400, 20000)])


# A writer that dies

@each('ptrace', 'openat', 'fstat', 'pread', 'pwrite', 'read', 'linkat')
@limit(180)
def test_a_writer_that_is_killed_at_any_step_leaves_a_true_answer(call):
    with folder() as d, folder() as out, folder() as tmp:
        so = injector(tmp)
        with Writer() as w:
            db = bank(w, f'{d}/app.db')
            run('capture', '-o', f'{out}/p', db, env=injected(
                so, call, 0, f'{tmp}/count')).expect(YES, NOT_CHECKED)
            os.unlink(f'{out}/p')
        total = number(f'{tmp}/count')
        steps = sorted(set(instants(total))
                       & set(range(1, total + 1, total // 6 + 1))) \
            or range(1, total + 1)
        for nth in steps:
            with Writer() as w:
                db = bank(w, f'{d}/{nth}.db')
                env = injected(so, call, nth, f'{tmp}/count')
                r = run('capture', '-o', f'{out}/p', db,
                        env={**env, 'FAULT_KILL': str(w.pid)})
            r.expect(YES, NOT_CHECKED, REFUSED, TROUBLE)
            if r.status in (YES, NOT_CHECKED):
                same(query(f'{out}/p', SUM), [['20', '1000']],
                     f'{call} {nth}')
                os.unlink(f'{out}/p')
            else:
                assert r.err.strip(), f'{call} {nth}: no sentence'
            same(os.listdir(out), [], f'left by {call} {nth}')
            same(captured(db, f'{out}/p'), [['20', '1000']], 'afterwards')
            os.unlink(f'{out}/p')


@each(*[(mode, n) for mode in ('wal', 'delete', 'persist', 'truncate')
        for n in (0, 1)])
def test_several_databases_with_exclusive_locking_are_captured_as_browsers_hold(
        case):
    """The journals stay open, and every main is locked all the time."""
    mode, which = case
    with folder() as d, folder() as out, Writer() as w:
        for i in range(2):
            bank(w, f'{d}/Web Data {i}', ('locking_mode=exclusive',
                                          f'journal_mode={mode}'), name=str(i))
            w.sql(f'update acct set bal = {i + 1}', name=str(i))
        w.sql('begin immediate', name='0')
        w.sql('update acct set bal = 99', name='0')
        r = run('capture', '-o', f'{out}/p', f'{d}/Web Data {which}')
        r.expect(YES, NOT_CHECKED)
        same(query(f'{out}/p', SUM)[0][1], str(20 * (which + 1)))
        w.sql('commit', name='0')
