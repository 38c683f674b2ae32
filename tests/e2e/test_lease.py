"""holdfast lease as people and scripts use it; temporary state only."""
import contextlib
import json
import os
import re
import signal
import sqlite3
import subprocess
import sys

import lease_old
from holdfast import (BUILD, HERE, HOLDFAST, NO, REFUSED, SANITIZED, TROUBLE,
                      USAGE, YES, Skip, capture, each, finish, folder, has,
                      lacks, limit, need_root, need_tool, query, recover, run,
                      same, spawn)

BUSY, RUN_FAILED = 7, 125


class Leases:
    """A database of its own, and nothing of the user's."""

    def __init__(self, d):
        self.d, self.db = d, f'{d}/state/leases.db'
        self.w = f'{d}/w'
        os.mkdir(self.w)
        self.env = {**os.environ, 'HOME': f'{d}/home',
                    'HOLDFAST_LEASE_DB': self.db,
                    'HOLDFAST_LEASE_COUNTER': f'{d}/counter'}
        self.env.pop('XDG_STATE_HOME', None)

    def spawn(self, *args, **more):
        return spawn('lease', *args, env={**self.env, **more.pop('env', {})},
                     cwd=self.w, **more)

    def __call__(self, *args, **more):
        return finish(self.spawn(*args, **more), args)

    def acquire(self, path, session, *more):
        return self('acquire', '--session', session, *more, path)

    def release(self, session, *more):
        return self('release-session', '--session', session, *more)

    def sql(self, sql):
        c = sqlite3.connect(self.db)
        c.text_factory = bytes
        rows = c.execute(sql).fetchall()
        c.close()
        return rows

    def old(self, rows, **how):
        os.makedirs(os.path.dirname(self.db), 0o700, exist_ok=True)
        os.umask(0o077)
        lease_old.make(self.db, rows, **how)

    def counted(self):
        with open(f'{self.d}/counter') as f:
            return [json.loads(x) for x in f]


@contextlib.contextmanager
def leases():
    with folder() as d:
        yield Leases(d)


def sound(x):
    """Rows and events say the same; no overlap; fences unique."""
    same(x.sql('pragma integrity_check'), [(b'ok',)])
    same(x.sql('''select count(*) from held h where 1 <> (select count(*)
        from events e where e.fence = h.fence and e.resource = h.resource
        and kind in ('granted', 'migrated')) or exists (select 1 from events
        e where e.fence = h.fence and e.resource = h.resource and kind in
        ('released', 'expired', 'forced'))'''), [(0,)], 'S8')
    same(x.sql('''select count(*) from events g where kind in ('granted',
        'migrated') and not exists (select 1 from held h where h.fence =
        g.fence and h.resource = g.resource) and 1 <> (select count(*) from
        events e where e.fence = g.fence and e.resource = g.resource and kind
        in ('released', 'expired', 'forced'))'''), [(0,)], 'S9')
    same(x.sql('select count(*) - ifnull(max(seq), 0) from events'), [(0,)])
    overlaps(x.sql('select resource, session, epoch from held'))


def overlaps(rows):
    """S2, by the strings themselves."""
    for a in rows:
        for b in rows:
            if a[1:] != b[1:]:
                assert a[0] != b[0] and \
                    not b[0].startswith(a[0] + b'/'), (a, b)


def test_a_release_that_finds_nothing_is_a_yes_and_changes_nothing():
    with leases() as x:
        x.acquire('p', 's', '--epoch', 'e').expect(YES)
        x.acquire('q', 't').expect(YES)

        def held():
            return [(y['session'], y['epoch'], y['fence'])
                    for y in x('status', '--json').lines()[:-1]]

        before, events = held(), x('events', '--json').out
        same(len(before), 2)
        for owner, outcome in ((('nobody',), 'absent'),
                               (('s',), 'epoch-mismatch'),
                               (('s', '--epoch', 'f'), 'epoch-mismatch'),
                               (('t', '--epoch', 'e'), 'epoch-mismatch')):
            r = x.release(*owner).expect(YES)
            has(r.out, f'RELEASED 0\n{outcome}: ')
            same(x.release(*owner, '--json').expect(YES).json()['outcome'],
                 outcome)
        same(x('events', '--json').out, events)
        same(held(), before)
        same(x.release('t').expect(YES).out, 'RELEASED 1\n')
        has(x.release('t').expect(YES).out, 'RELEASED 0\nabsent: ')


def test_the_life_of_two_epochs():
    with leases() as x:
        has(x.acquire('p', 's', '--epoch', 'old').expect(YES).out,
            'ACQUIRED 1 path(s) by s fence 1\n')
        r = x.acquire('p', 's', '--epoch', 'new').expect(BUSY)
        has(r.out, f'BUSY: {x.w}/p held by s epoch old fence 1 until 20',
            's left)')
        has(x.release('s', '--epoch', 'old').expect(YES).out, 'RELEASED 1\n')
        has(x.acquire('p', 's', '--epoch', 'new').out, 'fence 2')
        r = x.release('s', '--epoch', 'old').expect(YES)
        has(r.out, 'RELEASED 0\n', 'epoch-mismatch', 'new')
        row = x('check', 'p').expect(BUSY).json()
        same((row['session'], row['epoch'], row['fence']), ('s', 'new', 2))
        x('check', '--fence', '2', 'p').expect(YES)
        x('check', '--fence', '1', 'p').expect(BUSY)
        has(x.release('s', '--epoch', 'new').out, 'RELEASED 1\n')
        same(x('check', 'p').expect(YES).out, 'FREE\n')
        same(x('check', '--fence', '2', 'p').expect(NO).out, 'FREE\n')
        sound(x)


def test_two_processes_get_zero_and_seven():
    with leases() as x:
        runs = [finish(c) for c in [x.spawn('acquire', '--session', s, 'p')
                                    for s in ('a', 'b')]]
        same(sorted(r.status for r in runs), [YES, BUSY])


def test_of_eight_processes_one_wins_and_the_others_name_it():
    with leases() as x:
        runs = [finish(c) for c in [
            x.spawn('acquire', '--session', f's{i}', 'p') for i in range(8)]]
        same(sorted(r.status for r in runs), [YES] + 7 * [BUSY])
        winner = next(r for r in runs if r.status == YES)
        name = re.search(r' by (s\d) fence (\d+)', winner.out).groups()
        for r in runs:
            if r.status == BUSY:
                has(r.out, f'held by {name[0]} epoch "" fence {name[1]} ')
        sound(x)


def test_json_says_all_of_it():
    with leases() as x:
        r = x.acquire('p', 'Agent/ada', '--epoch', 'e', '--agent', 'A',
                      '--note', 'n\n', '--json').json()
        same((r['outcome'], r['session'], r['epoch'], r['fence'], r['count']),
             ('acquired', 'ada', 'e', 1, 1))
        same(r['resources'], [{'resource': f'{x.w}/p', 'fence': 1,
                               'kept': False}])
        r = x.acquire('p/q', 'bob', '--json').expect(BUSY).json()
        same((r['outcome'], r['held'][0]['session']), ('blocked', 'ada'))
        assert 890 <= r['held'][0]['left_sec'] <= 900
        lines = x('status', '--json').lines()
        same([y['kind'] for y in lines], ['lease', 'summary'])
        same(lines[0]['note'], 'n\n')
        has(x('status').out, 'PATH', 'SESSION', 'LEFT', 'ada', 'n\\n')
        lines = x('events', '--json').lines()
        same([y.get('event') for y in lines], ['granted', None])
        r = x('release-session', '--session', 'x', '--json').json()
        same((r['outcome'], r['count']), ('absent', 0))
        r = x('renew', '--fence', '9', '--json').expect(NO).json()
        same((r['outcome'], r['ended']), ('absent', 'unknown'))
        r = x('acquire', '--json').expect(USAGE)
        same(r.json()['reason'], 'usage')


def test_a_note_that_looks_like_an_option_is_a_note():
    with leases() as x:
        r = x.acquire('p', 's', '--note', '--json').expect(YES)
        same(r.out, 'ACQUIRED 1 path(s) by s fence 1\n')
        same(x('status', '--json').lines()[0]['note'], '--json')


def test_force_goes_by_the_fence_and_busy_tells_nobody_how():
    with leases() as x:
        x.acquire('p', 'a').expect(YES)
        lacks(x.acquire('p', 'b').text(), 'force', '--')
        x('force-release', '--fence', '1').expect(USAGE)
        x('force-release', '--fence', '7', '--reason', 'r').expect(NO)
        x('force-release', '--fence', '1', '--reason', 'stuck',
          '--session', 'b').expect(YES)
        has(x('renew', '--fence', '1').expect(NO).out,
            'forced by b: stuck')
        x.acquire('p', 'b').expect(YES)


def test_bytes_that_are_no_text_are_kept_and_shown_escaped():
    with leases() as x:
        name = b'caf\xe9\x1b[31m'
        x('acquire', '--session', 's', name).expect(YES)
        same(x.sql('select resource from held'),
             [(x.w.encode() + b'/' + name,)])
        has(x('status').out, 'caf\\xe9\\x1b[31m')
        x('check', name).expect(BUSY)
        x('acquire', '--session', 't', name + b'/x').expect(BUSY)


@each('acquire --session s', 'acquire p', 'acquire --session s /',
      'acquire --session agent/ p', 'acquire --session s --ttl-sec 0 p',
      'acquire --session s --ttl-sec 1x p', 'acquire --session s HOME',
      'acquire --session s /proc', 'acquire --session s EMPTY',
      'acquire --session s LONG', 'acquire --session s --fence 1 p',
      'renew', 'renew --fence x', 'release-session', 'check', 'check a b',
      'status x', 'nonsense', '', 'force-release --fence 1 --reason EMPTY')
def test_wrong_words_are_exit_two(line):
    with leases() as x:
        os.mkdir(f'{x.d}/home')
        words = {'HOME': f'{x.d}/home', 'EMPTY': '', 'LONG': '/x' * 2048}
        x(*[words.get(w, w) for w in line.split()]).expect(USAGE)
        assert not os.path.exists(x.db)


def test_the_counter_is_attributable_and_never_fails_an_operation():
    with leases() as x:
        x.acquire('p', 'a', '--epoch', 'e', '--agent', 'A')
        x.acquire('p', 'b')
        x.release('b')
        x.release('a')
        x('renew', '--fence', '1')
        x.release('a', '--epoch', 'e')
        x.acquire('/', 'a')
        lines = x.counted()
        same([(y['op'], y['outcome']) for y in lines],
             [('acquire', 'acquired'), ('acquire', 'blocked'),
              ('release', 'absent'), ('release', 'epoch-mismatch'),
              ('renew', 'acquired'), ('release', 'released'),
              ('acquire', 'error')])
        same(lines[1]['held_by'], ['a'])
        same(lines[1]['held_epochs'], ['e'])
        same((lines[0]['agent'], lines[0]['resources'], lines[0]['ttl_sec']),
             ('A', [f'{x.w}/p'], 900))
        for bad in ('/proc/nowhere/x', x.w, '/dev/full'):
            x('acquire', '--session', 'a', 'p',
              env={'HOLDFAST_LEASE_COUNTER': bad}).expect(YES)


def test_only_temporary_state_is_touched():
    with leases() as x:
        strace = need_tool('strace')
        out = f'{x.d}/trace'
        r = subprocess.run(
            [strace, '-f', '-o', out, '-e', 'trace=openat,mkdir,unlink',
             HOLDFAST, 'lease', 'acquire', '--session', 's', 'p'],
            env={**x.env, 'ASAN_OPTIONS': 'detect_leaks=0'}, cwd=x.w,
            capture_output=True, text=True)
        assert r.returncode == 0, r.stderr
        with open(out) as f:
            for line in f:
                if ' = -1 ' not in line and re.search(
                        r'O_WRONLY|O_RDWR|O_CREAT|mkdir\(', line):
                    assert x.d in line or '"leases.db' in line, line


def test_the_default_place_is_below_the_home():
    with leases() as x:
        del x.env['HOLDFAST_LEASE_DB']
        x.acquire('p', 's').expect(YES)
        assert os.path.exists(f'{x.d}/home/.local/state/holdfast/leases.db')


# run

def test_run_holds_while_the_command_runs_and_gives_its_status():
    with leases() as x:
        script = (f'echo $HOLDFAST_FENCE; {HOLDFAST} lease check p; '
                  'echo $?; exit 3')
        r = x('run', '--session', 's', 'p', '--', 'sh', '-c', script)
        r.expect(3)
        same(r.out.splitlines()[0], '1')
        same(r.out.splitlines()[-1], '7')
        same(x('check', 'p').out, 'FREE\n')
        x('run', '--session', 's', 'p', '--', '/nonexistent').expect(127)
        x('run', '--session', 's', 'p').expect(RUN_FAILED)
        x('run', '--session', 's', 'p', '--', 'sh', '-c',
          'kill -9 $$').expect(128 + 9)
        sound(x)


def test_run_beside_another_owner_is_125_and_names_it():
    with leases() as x:
        x.acquire('p', 'a').expect(YES)
        r = x('run', '--session', 'b', 'p', '--', 'true').expect(RUN_FAILED)
        has(r.err, 'BUSY', 'held by a')
        same(r.out, '')
        r = x('run', '--json', '--session', 'b', 'p', '--', 'true')
        same(r.expect(RUN_FAILED).json()['held'][0]['session'], 'a')


def test_a_command_that_is_not_found_is_127_without_standard_error_too():
    with leases() as x:
        for there, status in (('/nonexistent', 127), (x.w, 126)):
            x('run', '--session', 's', 'p', '--', there,
              preexec_fn=lambda: os.close(2)).expect(status)


def test_run_keeps_what_its_owner_held_before():
    with leases() as x:
        x.acquire('p', 'a').expect(YES)
        x('run', '--session', 'a', 'p', 'q', '--', 'true').expect(YES)
        x('check', 'p').expect(BUSY)
        x('check', 'q').expect(YES)


def test_run_forwards_signals():
    with leases() as x:
        c = x.spawn('run', '--session', 's', 'p', '--', 'sh', '-c',
                    "trap 'echo got; exit 9' USR1; echo up; "
                    'while :; do :; done')
        same(c.stdout.readline(), b'up\n')
        c.send_signal(signal.SIGUSR1)
        r = finish(c).expect(9)
        same(r.out, 'got\n')


def test_run_renews_and_stops_the_command_when_the_lease_is_lost():
    with leases() as x:
        c = x.spawn('run', '--session', 's', '--ttl-sec', '1', 'p', '--',
                    'sh', '-c', 'echo up; exec cat /dev/zero > /dev/null')
        same(c.stdout.readline(), b'up\n')
        seen = 0
        while not seen:     # a renewal comes
            seen = x.sql("select count(*) from events where"
                         " kind = 'renewed'")[0][0]
        x('force-release', '--fence', '1', '--reason', 'wanted').expect(YES)
        r = finish(c).expect(RUN_FAILED)
        has(r.err, 'lost', 'forced', 'wanted')


# migration

def test_seventy_two_first_opens_beside_the_old_program_take_each_row_once():
    for epochs in (False, True, False):
        with leases() as x:
            rows = [(f'/old/{i}', f's{i % 5}') for i in range(40)]
            x.old(rows, epochs=epochs)
            old = [subprocess.Popen(
                [sys.executable, '-B', f'{HERE}/lease_old.py', x.db, 'zz',
                 f'/race/{i}'], stdout=subprocess.PIPE,
                stderr=subprocess.PIPE, text=True) for i in range(2)]
            new = [x.spawn('acquire', '--session', f'n{i}', f'new{i}')
                   for i in range(24)]
            for c in new:
                finish(c).expect(YES)
            raced = 0
            for c in old:
                out, err = c.communicate()
                assert (c.returncode, out) == (0, 'ACQUIRED\n') or \
                    'old: ' in err, (out, err)
                raced += c.returncode == 0
            got = x.sql('select count(*), count(distinct resource) from held'
                        " where resource like '/old/%'")
            same(got, [(40, 40)])
            # What the old one was told it had, it has; nothing else.
            same(x.sql("select count(*) from held where resource like"
                       " '/race/%'"), [(raced,)])
            same(x.sql("select count(*) from events where"
                       " kind = 'migrated'"), [(40 + raced,)])
            sound(x)


def test_an_old_program_fails_loudly_afterwards():
    with leases() as x:
        x.old([('/old/a', 's')])
        x('status').expect(YES)
        r = subprocess.run([sys.executable, '-B', f'{HERE}/lease_old.py',
                            x.db, 't', '/old/b'], capture_output=True,
                           text=True)
        same((r.returncode, r.stdout), (1, ''))
        same(x.sql('select count(*) from held'), [(1,)])


def test_the_command_line_keeps_the_handoff_in_its_bounds():
    with leases() as x:
        x.old([('/old/a', 's'), ('/old/b', 't')])
        x('acquire', '--session', 's', '/native').expect(YES)
        has(x.release('s', '--epoch', 'tok').out, 'RELEASED 1\n')
        has(x.release('s', '--epoch', 'tok').out, 'RELEASED 0\n')
        x('check', '/native').expect(BUSY)
        has(x.release('s').out, 'RELEASED 1\n')
        x('check', '/old/b').expect(BUSY)


# what may go wrong

def killer(d):
    if SANITIZED:
        raise Skip('a sanitizer owns the calls before which it kills')
    cc = os.environ.get('CC') or need_tool('cc')
    so = f'{d}/kill.so'
    subprocess.run([*cc.split(), '-shared', '-fPIC', '-O1', '-o', so,
                    f'{HERE}/lease_kill.c', '-ldl'], check=True)
    return so


OPERATIONS = {
    'first': ((), ('acquire', '--session', 's', 'p', 'q')),
    'acquire': (('acquire', '--session', 'a', 'x'),
                ('acquire', '--session', 's', 'p', 'q')),
    'release': (('acquire', '--session', 's', 'p', 'q'),
                ('release-session', '--session', 's')),
    'renew': (('acquire', '--session', 's', 'p', 'q'),
              ('renew', '--fence', '1')),
    'force': (('acquire', '--session', 's', 'p', 'q'),
              ('force-release', '--fence', '1', '--reason', 'r')),
}


@each(*OPERATIONS, 'migrate')
@limit(240)
def test_a_kill_between_any_two_calls_leaves_events_and_rows_agreed(name):
    with folder() as top:
        so, n = killer(top), 0
        while True:
            d = f'{top}/{n}'
            os.mkdir(d)
            x = Leases(d)
            if name == 'migrate':
                x.old([('/old/a', 's'), ('/old/b', 't')])
                before, op = (), ('status',)
            else:
                before, op = OPERATIONS[name]
            if before:
                x(*before).expect(YES)
            env = {'LD_PRELOAD': so, 'LEASE_KILL_NTH': str(n + 1)}
            r = x(*op, env=env)
            x('status').expect(YES)
            sound(x)
            if name == 'migrate':
                same(x.sql('select count(*) from held'), [(2,)])
            if r.status != -signal.SIGKILL:
                r.expect(YES)
                break
            n += 1
        assert n > 10, n


def test_a_signal_between_any_two_calls_of_run_leaves_no_lease():
    with leases() as x:
        env = {'LD_PRELOAD': killer(x.d), 'LEASE_KILL_COUNT': f'{x.d}/n',
               'LEASE_KILL_SIGNAL': str(int(signal.SIGTERM))}
        op = ('run', '--session', 's', 'p', '--', 'true')
        x('status').expect(YES)
        x(*op, env=env).expect(YES)
        with open(f'{x.d}/n') as f:
            calls = int(f.read())
        assert calls > 10, calls
        for n in range(1, calls + 1):
            r = x(*op, env={**env, 'LEASE_KILL_NTH': str(n)})
            assert r.status in (YES, 128 + signal.SIGTERM, -signal.SIGTERM), r
            same(x('check', 'p').expect(YES).out, 'FREE\n', n)
        sound(x)


def test_a_full_disk_is_trouble_and_nothing_happened():
    need_root()
    unshare = need_tool('unshare')
    with leases() as x:
        script = ('mount -t tmpfs -o size=400k,mode=700 tmpfs "$1" || exit 77;'
                  'export HOLDFAST_LEASE_DB="$1/l.db";'
                  '"$2" lease acquire --session s p || exit 78;'
                  'cat /dev/zero > "$1/fill" 2> /dev/null;'
                  'i=0; s=0; while [ $s = 0 ]; do i=$((i+1)); '
                  '"$2" lease acquire --session s$i p$i > /dev/null; s=$?; '
                  'done; echo status $s; '
                  'rm "$1/fill"; "$2" lease acquire --session z z')
        os.mkdir(f'{x.d}/m')
        r = finish(spawn('-m', 'sh', '-c', script, 'sh', f'{x.d}/m',
                         HOLDFAST, program=unshare, env=x.env, cwd=x.w))
        if r.status == 77:
            raise Skip('no tmpfs may be mounted here')
        r.expect(YES)
        has(r.out, f'status {TROUBLE}', 'by z fence')
        assert 'full' in r.err or 'I/O' in r.err, r.err


def test_a_database_of_another_program_is_refused():
    with leases() as x:
        os.makedirs(f'{x.d}/state', 0o700)
        c = sqlite3.connect(x.db)
        c.execute('create table t(x)')
        c.close()
        os.chmod(x.db, 0o600)
        has(x('status').expect(REFUSED).err, 'another program')


@limit(180)
def test_fifty_captures_of_the_live_database_are_sound():
    load = os.path.join(BUILD, 'tests', 'load', 'lease')
    if not os.path.exists(load):
        raise Skip('needs make unit')
    with leases() as x, folder() as out:
        x.acquire('first', 's').expect(YES)
        churn = subprocess.Popen([load, 'churn', x.db, '4'],
                                 stdin=subprocess.PIPE)
        try:
            seen = 0
            while seen < 50:
                seen = x.sql('select count(*) from events')[0][0]
            for i in range(50):
                p = f'{out}/{i}'
                capture(x.db, p)
                same(recover(p)['integrity'], 'ok')
                rows = query(p, 'select h.resource, h.session, h.epoch'
                                ' from held h')
                overlaps([tuple(c.encode() for c in r) for r in rows])
                same(query(p, 'select count(*) from held h where fence >'
                              ' (select seq from sqlite_sequence where name ='
                              " 'grants') or fence not in (select fence from"
                              ' grants)'), [['0']])
                os.unlink(p)
        finally:
            churn.stdin.close()
            churn.wait()
