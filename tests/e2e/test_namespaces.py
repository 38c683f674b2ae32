"""Writers in other mount and PID namespaces, and captures inside of one."""
import contextlib
import os
import shutil
import subprocess

from holdfast import (DELETE, NOBODY, NOT_CHECKED, REFUSED, TROUBLE,
                      WAL, Skip, Writer, bank, beside, capture, each, folder,
                      has, lacks, need_root, need_tool, query, run, same)

SUM = 'select count(*), sum(bal) from acct'
MODES = {'wal': WAL, 'delete': DELETE}
SOON = ('--timeout', '0.2')


def unshare(*flags):
    """A command line in front that gives namespaces of its own, or Skip."""
    need_root()
    prefix = [need_tool('unshare'), *flags]
    if subprocess.run([*prefix, 'true'], capture_output=True).returncode:
        raise Skip(f'unshare {" ".join(flags)} is not allowed here')
    return prefix


def with_mounts(commands, *args):
    """In mounts of its own; what the shell is told to do first may fail."""
    prefix = unshare('-m')
    done = subprocess.run([*prefix, 'sh', '-ec', commands, 'sh', *args],
                          capture_output=True, text=True)
    if done.returncode:
        raise Skip(f'not allowed here: {done.stderr.strip()}')
    script = f'{commands}\nshift {len(args)}; exec "$@"'
    return [*prefix, 'sh', '-ec', script, 'sh', *args]


def outer_pid(w):
    """The writer's own number is 1 in its namespace: look from here."""
    pid = w.child.pid
    while True:
        with open(f'/proc/{pid}/task/{pid}/children') as f:
            below = f.read().split()
        if not below:
            return pid
        pid = int(below[0])


@contextlib.contextmanager
def writer_elsewhere(d, mode):
    """A writer that knows folder d as d/../mnt/data, as in a container."""
    with folder() as mnt:
        prefix = with_mounts('mount -t tmpfs tmpfs "$1"; mkdir "$1/data";'
                             ' mount --bind "$2" "$1/data"', mnt, d)
        with Writer(prefix=prefix) as w:
            yield w, bank(w, f'{mnt}/data/app.db', MODES[mode])


@each(*MODES)
def test_a_writer_in_a_container_is_captured_by_the_path_of_its_volume(mode):
    with folder() as d, folder() as out:
        with writer_elsewhere(d, mode) as (w, _):
            got = capture(f'{d}/app.db', f'{out}/p')
            same([x['pid'] for x in got['writers']], [w.pid])
            same(got['not_checked'], [])
            same(query(f'{out}/p', SUM), [['20', '1000']])


@each(*MODES)
def test_another_file_by_the_same_text_is_not_looked_at(mode):
    """Our own mounts have that path too, and it names something else."""
    with folder() as d, folder() as out:
        with writer_elsewhere(d, mode) as (w, there):
            os.mkdir(os.path.dirname(there))
            for name in ('', '-wal', '-journal'):
                with open(there + name, 'wb') as f:
                    f.write(b'of another program')
            got = capture(f'{d}/app.db', f'{out}/p')
            same(got['not_checked'], [])
            same(query(f'{out}/p', SUM), [['20', '1000']])


@each(*MODES)
def test_a_file_in_mounts_that_only_the_writer_has_is_captured(mode):
    with folder() as mnt, folder() as out:
        prefix = with_mounts('mount -t tmpfs tmpfs "$1"', mnt)
        with Writer(prefix=prefix) as w:
            db = bank(w, f'{mnt}/app.db', MODES[mode])
            assert not os.path.exists(db)
            got = capture(f'/proc/{w.pid}/root{db}', f'{out}/p')
            same(got['not_checked'], [])
            same(query(f'{out}/p', SUM), [['20', '1000']])


def test_a_substituted_wal_in_the_writers_mounts_is_refused():
    with folder() as d, folder() as out:
        with writer_elsewhere(d, 'wal') as (w, there):
            held = os.stat(f'{d}/app.db-wal').st_ino
            shutil.copy(f'{d}/app.db-wal', f'{d}/new')
            os.rename(f'{d}/new', f'{d}/app.db-wal')
            r = run('capture', *SOON, '-o', f'{out}/p', f'{d}/app.db')
            r.expect(REFUSED)
            has(r.err, f':{held} ', 'substituted wal')
            capture(f'{d}/app.db', f'{out}/p', '--displaced')
            same(query(f'{out}/p', SUM), [['20', '1000']])


def test_a_hot_journal_that_only_the_writers_mounts_show_is_found():
    """An idle connection after a crash; main alone is mounted for us."""
    with folder() as d, folder() as out, folder() as mnt:
        prefix = with_mounts('mount -t tmpfs tmpfs "$1"; mkdir "$1/data";'
                             ' mount --bind "$2" "$1/data"', mnt, d)
        with Writer() as w, Writer(prefix=prefix) as idle:
            db = bank(w, f'{d}/app.db', DELETE, rows=400)
            idle.open(f'{mnt}/data/app.db', DELETE)
            same(idle.sql(SUM), [(400, 20000)])
            w.sql('pragma cache_size=2')
            w.sql('begin immediate')
            w.sql("update acct set bal = 0, who = printf('%.60c', 'x')")
            w.crash()
            capture(f'/proc/{idle.pid}/root{mnt}/data/app.db', f'{out}/p')
            same(query(f'{out}/p', SUM), [['400', '20000']])


def test_a_writer_below_another_root_is_captured():
    need_tool('chroot')
    with folder() as root, folder() as out:
        prefix = with_mounts('for i in bin lib lib64 usr root proc dev; do'
                             ' if [ -e /$i ]; then mkdir -p "$1/$i"; mount'
                             ' --rbind "/$i" "$1/$i"; fi; done;'
                             ' mkdir -p "$1$2"; mount --bind "$2" "$1$2";'
                             ' mkdir -p "$1/data"', root, os.path.dirname(
                                 os.path.abspath(__file__)))
        with Writer(prefix=[*prefix, 'chroot', root]) as w:
            bank(w, '/data/app.db')
            got = capture(f'{root}/data/app.db', f'{out}/p')
            same([x['pid'] for x in got['writers']], [w.pid])
            same(query(f'{out}/p', SUM), [['20', '1000']])


@each(*MODES)
def test_a_writer_in_a_pid_namespace_is_captured_from_outside(mode):
    prefix = unshare('-p', '--fork', '--mount-proc')
    with folder() as d, Writer(prefix=prefix) as w:
        db = bank(w, f'{d}/app.db', MODES[mode])
        got = capture(db, f'{d}/p')
        same([x['pid'] for x in got['writers']], [outer_pid(w)])
        same(query(f'{d}/p', SUM), [['20', '1000']])
        w.sql('update acct set bal = bal')


@each(*MODES)
def test_from_inside_a_pid_namespace_a_writer_outside_is_never_nobody(mode):
    prefix = unshare('-p', '--fork', '--mount-proc')
    with folder() as d, folder() as out, Writer() as w:
        db = bank(w, f'{d}/app.db', MODES[mode])
        for command in (['capture', '-o', f'{out}/p'],
                        ['capture', '--check'], ['recover']):
            r = run(*command, db, prefix=prefix).expect(REFUSED)
            has(r.err, "a process that we can't see")
        same(os.listdir(out), [])


def test_the_same_where_no_lease_can_be_had_is_told_by_its_locks():
    """/proc/locks leaves out the locks of processes outside."""
    prefix = unshare('-p', '--fork', '--mount-proc')
    setpriv = [need_tool('setpriv'), f'--reuid={NOBODY}',
               f'--regid={NOBODY}', '--clear-groups']
    with folder() as d, folder() as out, Writer() as w:
        db = bank(w, f'{d}/app.db')
        os.chmod(d, 0o755)
        os.chmod(out, 0o777)
        os.chmod(db, 0o644)
        program = beside(d)
        for command in (['capture', '-o', f'{out}/p'], ['recover']):
            r = run(*command, db, program=program, prefix=[*prefix, *setpriv])
            r.expect(TROUBLE)
            has(r.err, 'has a lock', 'PID namespace')
        w.ask('close', 'main')
        w.open(db, DELETE)
        w.sql('select * from acct')
        r = run('recover', db, program=program, prefix=[*prefix, *setpriv])
        r.expect(NOT_CHECKED)
        has(r.text(), 'outside of this PID namespace')


def test_a_transaction_of_a_writer_outside_is_not_taken_for_a_state():
    """One writer is seen and paused; the other is outside, inside of a
    transaction whose pages are in main and whose journal is in no file."""
    prefix = unshare('-p', '--fork', '--mount-proc')
    nsenter = need_tool('nsenter')
    memory = ('journal_mode=memory',)
    with folder() as d, Writer() as w, Writer(prefix=prefix) as inside:
        db = bank(w, f'{d}/app.db', memory, rows=400)
        inside.open(db, memory)
        inside.sql('select * from acct')
        w.sql('pragma cache_size=2')
        w.sql('begin immediate')
        w.sql("update acct set bal = 0, who = printf('%.60c', 'x')")
        enter = [nsenter, '-t', str(outer_pid(inside)), '-p', '-m']
        r = run('capture', *SOON, '-o', f'{d}/p', db, prefix=enter)
        r.expect(TROUBLE)
        has(r.err, "a process that we can't see has a lock")
        lacks(r.text(), 'holdfast: captured')
        w.sql('commit')
        r = run('capture', '-o', f'{d}/p', db, prefix=enter)
        r.expect(NOT_CHECKED)
        has(r.text(), 'outside of this PID namespace')
        same(query(f'{d}/p', SUM), [['400', '0']])
