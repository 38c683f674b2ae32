"""The nth call of a kind fails in the front end, through a whole capture."""
import os
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
    subprocess.run([cc, '-shared', '-fPIC', '-O1', '-w', '-o', so,
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
