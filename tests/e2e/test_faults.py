"""The nth call of a kind fails in the front end, through a whole capture."""
import concurrent.futures
import contextlib
import os
import signal
import subprocess

from holdfast import (DAMAGED, HERE, NOT_CHECKED, REFUSED, SANITIZED,
                      SIDECARS, Skip, TROUBLE, Writer, YES, bank, digest,
                      each, folder, limit, need_tool, query, run, same)

CALLS = ['malloc', 'pread', 'pwrite', 'read', 'write', 'fsync', 'openat',
         'fstat', 'linkat', 'ptrace']
MOST = 60       # instants of one kind; more calls than these are sampled


def injector(d):
    if SANITIZED:
        raise Skip('a sanitizer owns the calls that would be made to fail')
    cc = os.environ.get('CC') or need_tool('cc')
    so = f'{d}/inject.so'
    subprocess.run([*cc.split(), '-shared', '-fPIC', '-O1', '-w', '-o', so,
                    f'{HERE}/fault_inject.c', '-ldl'], check=True)
    return so


def instants(total):
    if total <= MOST:
        return range(1, total + 1)
    return sorted({1 + i * (total - 1) // (MOST - 1) for i in range(MOST)})


def injected(so, call, nth, count):
    return {**os.environ, 'LD_PRELOAD': so, 'FAULT_CALL': call,
            'FAULT_NTH': str(nth), 'FAULT_COUNT': count,
            'FAULT_PROGRAM': 'holdfast'}


def number(path):
    with open(path) as f:
        return int(f.read())


@limit(120)
def test_a_read_that_gave_other_bytes_is_never_in_a_packet():
    """Each read of the capture gives one wrong bit, once."""
    with folder() as d, folder() as out, Writer() as w:
        so = injector(d)
        db = bank(w, f'{d}/app.db')
        truth = {s: digest(db + s) for s in SIDECARS[:2]}
        run('capture', '-o', f'{out}/p', db, env=injected(
            so, 'flip', 0, f'{d}/count')).expect(YES, NOT_CHECKED)
        os.unlink(f'{out}/p')
        refused = 0
        for nth in instants(number(f'{d}/count')):
            r = run('capture', '--json', '-o', f'{out}/p', db,
                    env=injected(so, 'flip', nth, f'{d}/count'))
            r.expect(YES, NOT_CHECKED, REFUSED, DAMAGED, TROUBLE)
            if r.status not in (YES, NOT_CHECKED):
                refused += 'differs' in r.err
                continue
            subprocess.run(['tar', 'xf', f'{out}/p', '-C', d], check=True)
            for suffix, want in truth.items():
                same(digest(f'{d}/db/app.db{suffix}'), want,
                     f'bytes of app.db{suffix} in the packet, read {nth}')
            os.unlink(f'{out}/p')
        assert refused >= 2, refused


@each(*CALLS)
@limit(180)
def test_a_failing_call_gives_a_documented_status_and_leaves_nothing(call):
    with folder() as d, folder() as out, Writer() as w:
        so = injector(d)
        db = bank(w, f'{d}/app.db')
        w.many('insert into acct values(?, zeroblob(90000), 0)',
               [(100 + i,) for i in range(10)])
        count = f'{d}/count'

        def attempt(nth):
            return run('capture', '-o', f'{out}/p', db,
                       env=injected(so, call, nth, count))

        attempt(0).expect(YES, NOT_CHECKED)
        os.unlink(f'{out}/p')
        total = number(count)
        assert total > 0 or call in ('pwrite', 'write'), 'never called'
        failures = 0
        for nth in instants(total):
            r = attempt(nth).expect(YES, NOT_CHECKED, REFUSED, TROUBLE)
            if r.status in (YES, NOT_CHECKED):
                same(query(f'{out}/p', 'select sum(bal) from acct'),
                     [['1000']], f'{call} {nth}')
                os.unlink(f'{out}/p')
            else:
                failures += 1
                assert r.err.strip(), f'{call} {nth}: no sentence'
            same(os.listdir(out), [], f'left by {call} {nth}')
            w.sql('update acct set bal = bal where id = 1')
        assert failures > 0 or total == 0
        with open(f'/proc/{w.pid}/status') as f:
            assert 'TracerPid:\t0' in f.read()
        same(sorted(n for n in os.listdir(d) if n.startswith('app')),
             sorted('app.db' + s for s in SIDECARS[:3]))


@contextlib.contextmanager
def before(so, d, call='ptrace'):
    """The environment of a capture, and what to call when it stands before
    its first such call. ptrace: the writers were looked for, none is paused
    yet; inotify: the names were looked up, nobody was looked for."""
    for name in ('reached', 'go'):
        os.mkfifo(f'{d}/{name}')

    def in_between(happens):
        with open(f'{d}/reached', 'rb') as f:
            f.read()
        try:
            happens()
        finally:
            with open(f'{d}/go', 'wb'):
                pass

    with concurrent.futures.ThreadPoolExecutor(1) as pool:
        yield ({**injected(so, call, 1, f'{d}/count'), 'FAULT_GATE': d},
               lambda happens: pool.submit(in_between, happens))


@each('opens', 'inherits')
def test_who_comes_between_the_look_and_the_pause_is_paused_as_well(how):
    with folder() as d, Writer() as w, Writer() as late:
        so = injector(d)
        db = bank(w, f'{d}/app.db')
        came = []

        def come():
            if how == 'inherits':
                came.append(w.ask('fork'))
            else:
                late.ask('open_file', 'main', db, os.O_RDWR)
                came.append(late.pid)

        try:
            with before(so, d) as (env, when_there):
                done = when_there(come)
                r = run('capture', '--json', '-o', f'{d}/p', db, env=env)
                done.result()
            got = r.expect(YES, NOT_CHECKED).json()
            same(sorted(x['pid'] for x in got['writers']),
                 sorted([w.pid, *came]))
        finally:
            if how == 'inherits':
                os.kill(came[0], signal.SIGKILL)


def test_where_no_open_is_reported_every_process_is_looked_at_again():
    with folder() as d, Writer() as w:
        so = injector(d)
        db = bank(w, f'{d}/app.db')
        r = run('capture', '-o', f'{d}/p', db,
                env=injected(so, 'inotify', 1, f'{d}/count'))
        r.expect(YES, NOT_CHECKED)
        same(number(f'{d}/count'), 1)
        same(query(f'{d}/p', 'select sum(bal) from acct'), [['1000']])


def test_the_number_of_a_journal_that_is_gone_means_nothing():
    """Another file may have it by now: its holder is no user of ours."""
    with folder() as d, Writer() as w, Writer() as other:
        so = injector(d)
        db = bank(w, f'{d}/app.db', pragmas=())
        journal = f'{db}-journal'
        with open(journal, 'wb'):
            pass
        other.ask('open_file', 'main', journal, os.O_RDWR)
        with before(so, d, 'inotify') as (env, when_there):
            done = when_there(lambda: os.unlink(journal))
            r = run('capture', '--json', '-o', f'{d}/p', db, env=env)
            done.result()
        got = r.expect(YES, NOT_CHECKED).json()
        same([x['pid'] for x in got['writers']], [w.pid])
