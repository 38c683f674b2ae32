"""capture of live writers: what is taken, from whom, and what it costs."""
import os
import signal
import subprocess
import sys

from holdfast import (DAMAGED, DELETE, NOBODY, NOT_CHECKED, REFUSED,
                      TROUBLE, USAGE, WAL, YES, Writer, as_nobody, bank,
                      beside, capture, each, finish, folder, has, lacks, limit, make, need_root,
                      need_tool, peak_memory, query, reachable_writer,
                      recover, run, same, snapshot, spawn)

EXCLUSIVE = ('locking_mode=exclusive', 'journal_mode=wal')
MODES = {'wal': WAL, 'delete': DELETE, 'wal-exclusive': EXCLUSIVE}
SUM = 'select count(*), sum(bal) from acct'


@each(*MODES)
def test_a_capture_holds_every_committed_row(mode):
    with folder() as d, Writer() as w:
        db = bank(w, f'{d}/app.db', MODES[mode])
        got = capture(db, f'{d}/p')
        same(query(f'{d}/p', SUM), [['20', '1000']])
        same(got['binding'], 'sole' if 'wal' in mode else 'none')
        same(got['authority'], 'writers')
        same([x['pid'] for x in got['writers']], [w.pid])
        assert got['pause_ns'] > 0, got
        w.sql('update acct set bal = bal')


@each('wal', 'delete')
def test_an_open_transaction_is_not_in_the_capture(mode):
    with folder() as d, Writer() as w:
        db = bank(w, f'{d}/app.db', MODES[mode])
        w.sql('pragma cache_size=2')
        w.sql('begin immediate')
        w.many('insert into acct values(?, ?, ?)',
               [(i, 'x' * 500, 1) for i in range(100, 700)])
        capture(db, f'{d}/p')
        same(query(f'{d}/p', SUM), [['20', '1000']])
        w.sql('commit')
        same(w.sql(SUM), [(620, 1600)])


def test_a_spilled_transaction_is_rolled_back_from_its_hot_journal():
    with folder() as d, Writer() as w:
        db = bank(w, f'{d}/app.db', DELETE, rows=400)
        w.sql('pragma cache_size=2')
        w.sql('begin immediate')
        w.sql("update acct set who = 'taken', bal = 0")
        w.many('insert into acct values(?, ?, ?)',
               [(i, 'x' * 900, 1) for i in range(1000, 1400)])
        got = capture(db, f'{d}/p')
        assert 'journal' in [f['role'] for f in got['files']], got
        same(query(f'{d}/p', SUM), [['400', '20000']])
        same(recover(f'{d}/p')['journal']['state'], 'hot')
        w.sql('rollback')


def test_journal_refuse_refuses_a_hot_journal():
    with folder() as d, Writer() as w:
        db = bank(w, f'{d}/app.db', DELETE, rows=400)
        w.sql('pragma cache_size=2')
        w.sql('begin immediate')
        w.sql("update acct set who = who || 'xxxxxxxxxxxxxxxxxxxxxxxxxxxxx'")
        r = run('capture', '--journal', 'refuse', '-o', f'{d}/p', db)
        r.expect(REFUSED)
        has(r.err, 'journal')
        assert not os.path.exists(f'{d}/p')
        w.sql('commit')


def test_several_processes_that_hold_it_are_all_paused():
    with folder() as d, Writer() as a, Writer() as b, Writer() as c:
        db = bank(a, f'{d}/app.db')
        for w in (b, c):
            w.open(db)
            w.sql(SUM)
        got = capture(db, f'{d}/p')
        same(sorted(x['pid'] for x in got['writers']),
             sorted([a.pid, b.pid, c.pid]))
        for w in (a, b, c):
            w.sql('insert into acct(bal) values(1)')


def test_pid_names_one_writer_and_the_other_is_refused_by_its_pid():
    with folder() as d, Writer() as a, Writer() as b:
        db = bank(a, f'{d}/app.db')
        b.open(db)
        b.sql(SUM)
        r = run('capture', '--pid', str(a.pid), '-o', f'{d}/p', db)
        r.expect(REFUSED)
        has(r.err, str(b.pid))
        r = run('capture', '--json', '--pid', str(a.pid), '--pid',
                str(b.pid), '-o', f'{d}/p', db)
        r.expect(YES, NOT_CHECKED)


def test_a_writer_with_two_hundred_threads_is_paused_and_runs_on():
    with folder() as d, Writer() as w:
        db = bank(w, f'{d}/app.db')
        w.ask('threads', 200)
        capture(db, f'{d}/p', timeout=60)
        same(query(f'{d}/p', SUM), [['20', '1000']])
        with open(f'/proc/{w.pid}/status') as f:
            has(f.read(), 'Threads:\t201', 'TracerPid:\t0')
        w.sql('update acct set bal = bal')


@each('wal', 'delete', 'wal-exclusive', 'stopped', 'stopped-wal')
def test_the_source_is_untouched(mode):
    with folder() as d, folder() as out, Writer() as w:
        db = f'{d}/app.db'
        if mode == 'stopped-wal':
            bank(w, db)
            w.crash()
        elif mode == 'stopped':
            make(db, 'create table acct(id, who, bal)',
                 'insert into acct values(1, 2, 3)')
        else:
            bank(w, db, MODES[mode])
            w.sql('begin immediate')
        before = snapshot(d)
        capture(db, f'{out}/p')
        recover(f'{out}/p')
        same(snapshot(d), before)


def test_check_says_who_holds_what_and_pauses_nobody():
    with folder() as d, Writer() as w:
        db = bank(w, f'{d}/app.db')
        trace = f'{d}/trace'
        r = run('capture', '--check', '--json', db,
                prefix=[need_tool('strace'), '-f', '-e', 'trace=ptrace',
                        '-o', trace])
        got = r.expect(YES, NOT_CHECKED).json()
        same([x['pid'] for x in got['writers']], [w.pid])
        same(got['binding'], 'sole')
        assert 'pause_ns' in got, got
        with open(trace) as f:
            assert 'ptrace(' not in f.read()
        same([n for n in os.listdir(d) if n.endswith('.holdfast')], [])


def test_an_existing_packet_is_replaced_only_with_force():
    with folder() as d, Writer() as w:
        db = bank(w, f'{d}/app.db')
        with open(f'{d}/p', 'w') as f:
            f.write('precious')
        r = run('capture', '-o', f'{d}/p', db).expect(USAGE, TROUBLE)
        has(r.err, '--force')
        with open(f'{d}/p') as f:
            same(f.read(), 'precious')
        capture(db, f'{d}/p', '--force')
        same(query(f'{d}/p', SUM), [['20', '1000']])


def test_the_human_paragraph_says_what_from_whom_how_long_and_the_id():
    with folder() as d, Writer() as w:
        db = bank(w, f'{d}/app.db')
        r = run('capture', '-o', f'{d}/p', db).expect(YES, NOT_CHECKED)
        has(r.out, 'app.db', str(w.pid), 'sole', f'{d}/p',
            recover(f'{d}/p')['id'])


def test_json_prints_one_object_and_nothing_else():
    with folder() as d, Writer() as w:
        db = bank(w, f'{d}/app.db')
        got = capture(db, f'{d}/p')
        for key in ('packet', 'id', 'database', 'pause_ns', 'authority',
                    'binding', 'writers', 'files', 'not_checked'):
            assert key in got, key
        for key in ('pid', 'start_time', 'exe'):
            assert key in got['writers'][0], key
        for f in got['files']:
            st = os.stat(db + {'main': '', 'wal': '-wal',
                               'shm': '-shm'}[f['role']])
            same((f['bytes'], int(f['ino'])), (st.st_size, st.st_ino))


def test_the_packet_is_readable_by_its_owner_only():
    with folder() as d, Writer() as w:
        capture(bank(w, f'{d}/app.db'), f'{d}/p')
        same(os.stat(f'{d}/p').st_mode & 0o777, 0o600)


def test_a_writer_that_was_stopped_before_stays_stopped():
    with folder() as d, Writer() as w:
        db = bank(w, f'{d}/app.db')
        os.kill(w.pid, signal.SIGSTOP)
        os.waitid(os.P_PID, w.pid, os.WSTOPPED | os.WNOWAIT)
        told = capture(db, f'{d}/p')
        same(told['writers'][0]['was_stopped'], True)
        same(query(f'{d}/p', SUM), [['20', '1000']])
        with open(f'/proc/{w.pid}/stat') as f:
            same(f.read().rsplit(')', 1)[1].split()[0], 'T')
        os.kill(w.pid, signal.SIGCONT)
        w.sql('update acct set bal = bal')


def test_a_traced_writer_is_refused_with_the_pid_of_its_tracer():
    strace = need_tool('strace')
    with folder() as d, Writer() as w:
        db = bank(w, f'{d}/app.db')
        tracer = subprocess.Popen(
            [strace, '-f', '-p', str(w.pid), '-o', '/dev/null'],
            stderr=subprocess.PIPE)
        try:
            tracer.stderr.readline()
            r = run('capture', '-o', f'{d}/p', db).expect(REFUSED, TROUBLE)
            has(r.err, str(tracer.pid), 'trace')
            assert not os.path.exists(f'{d}/p')
        finally:
            tracer.terminate()
            tracer.communicate()
        w.sql('update acct set bal = bal')


def without_ptrace(how):
    """A command line in front that keeps root, but may not trace others:
    as in a container, or by a choice that could be another."""
    if how == 'container':
        return [need_tool('setpriv'), '--bounding-set=-sys_ptrace']
    kept = ','.join('+' + c for c in (
        'dac_override', 'kill', 'setgid', 'setpcap', 'setuid'))
    return [need_tool('setpriv'), '--securebits=+noroot',
            f'--inh-caps={kept}', f'--ambient-caps={kept}']


@each('user', 'user in a container', 'root in a container', 'dropped')
def test_without_rights_the_answer_is_trouble_and_what_helps(who):
    need_root()
    prefix, helps, never = {
        'user': (as_nobody(), 'as root (sudo)', 'container'),
        'user in a container': (without_ptrace('container') + as_nobody(),
                                '--cap-add SYS_PTRACE', 'sudo'),
        'root in a container': (without_ptrace('container'),
                                '--cap-add SYS_PTRACE', 'sudo'),
        'dropped': (without_ptrace('choice'), 'this root', 'container'),
    }[who]
    with folder() as d, folder() as out:
        program = beside(d)
        other = {} if who.startswith('user') else \
            {'prefix': as_nobody(), 'script': reachable_writer(d)}
        os.chmod(out, 0o777)
        with Writer(**other) as w:
            db = bank(w, f'{out}/app.db')
            before = os.listdir(out)
            r = run('capture', '-o', f'{out}/p', '--pid', str(w.pid), db,
                    program=program, prefix=prefix)
            r.expect(TROUBLE)
            has(r.err, 'another user', helps, 'CAP_SYS_PTRACE')
            lacks(r.err, never)
            same(os.listdir(out), before)
            w.sql('update acct set bal = bal')


@each('text', 'short')
def test_what_is_no_database_is_kept_and_never_called_checked(which):
    with folder() as d:
        with open(f'{d}/app.db', 'wb') as f:
            f.write(b'no database\n' * (1000 if which == 'text' else 1))
        r = run('capture', '-o', f'{d}/p', f'{d}/app.db')
        has(r.expect(NOT_CHECKED).text(),
            {'text': 'not a database', 'short': 'truncated'}[which])
        run('recover', f'{d}/p').expect(DAMAGED)


def test_a_writer_that_may_not_be_seen_is_never_called_nobody():
    need_root()
    with folder() as d, folder() as out, Writer() as w:
        db = bank(w, f'{d}/app.db')
        os.chmod(d, 0o755)
        os.chmod(db, 0o644)
        program = beside(d)
        os.chmod(out, 0o777)
        for command in (['capture', '-o', f'{out}/p'],
                        ['capture', '--check'], ['recover']):
            r = run(*command, db, program=program, prefix=as_nobody())
            r.expect(TROUBLE)
            has(r.err, f'process {w.pid} has a lock on')
        same(os.listdir(out), [])


def test_the_same_uid_may_capture_its_own_writer_without_root():
    need_root()
    with folder() as d, folder() as work:
        program = beside(d)
        os.chown(work, NOBODY, NOBODY)
        with Writer(prefix=as_nobody(), script=reachable_writer(d)) as w:
            db = bank(w, f'{work}/app.db')
            run('capture', '-o', f'{work}/p', db, program=program,
                prefix=as_nobody()).expect(YES, NOT_CHECKED)
            r = run('query', '--csv', f'{work}/p', SUM, program=program,
                    prefix=as_nobody()).expect(YES, NOT_CHECKED)
            has(r.out, '20,1000')
            w.sql('update acct set bal = bal')


def test_the_writer_runs_again_before_anything_is_checked():
    """The helper is ready before the pause, and asked after it."""
    with folder() as d, Writer() as w:
        db = bank(w, f'{d}/app.db')
        trace = f'{d}/trace'
        run('capture', '-o', f'{d}/p', db,
            prefix=[need_tool('strace'), '-f', '-e',
                    'trace=ptrace,execveat,seccomp,sendto', '-o', trace]
            ).expect(YES, NOT_CHECKED)
        with open(trace) as f:
            calls = f.read().splitlines()

        def first(text):
            return next(i for i, x in enumerate(calls) if text in x)

        detached = [i for i, x in enumerate(calls) if 'PTRACE_DETACH' in x]
        asked = [i for i, x in enumerate(calls) if ' sendto(' in x]
        assert first(' execveat(') < first('PTRACE_SEIZE'), calls
        assert detached, 'nothing was detached'
        same(len(asked), 1, 'asks')
        assert asked[0] > detached[-1], (
            'the helper was asked in the pause', calls)


def test_a_sole_writer_does_not_wait_until_every_process_was_looked_at():
    """Nobody opened its files meanwhile, so the look before it stands, but
    for processes that are new."""
    with folder() as d, Writer() as w:
        db = bank(w, f'{d}/app.db')
        trace = f'{d}/trace'
        run('capture', '-o', f'{d}/p', db,
            prefix=[need_tool('strace'), '-f', '-e', 'trace=ptrace,openat',
                    '-o', trace]).expect(YES, NOT_CHECKED)
        with open(trace) as f:
            calls = f.read().splitlines()
        seized, detached = (next(i for i, x in enumerate(calls) if what in x)
                            for what in ('PTRACE_SEIZE', 'PTRACE_DETACH'))
        looks = [i for i, x in enumerate(calls) if '"maps"' in x]
        before = [i for i in looks if i < seized]
        inside = [i for i in looks if seized < i < detached]
        assert before and 2 * len(inside) < len(before), (
            len(before), len(inside))


def test_nobody_is_paused_where_the_sandbox_does_not_stand():
    with folder() as d, Writer() as w:
        db = bank(w, f'{d}/app.db')
        trace = f'{d}/trace'
        r = run('capture', '-o', f'{d}/p', db,
                prefix=[need_tool('strace'), '-f', '-o', trace, '-e',
                        'trace=ptrace,seccomp', '-e',
                        'inject=seccomp:error=EPERM'])
        r.expect(TROUBLE)
        with open(trace) as f:
            text = f.read()
        assert 'seccomp(' in text and 'PTRACE_SEIZE' not in text, text
        w.sql('update acct set bal = bal')


def test_a_pause_past_its_limit_is_given_up_and_the_writer_runs():
    with folder() as d, Writer() as w:
        db = bank(w, f'{d}/app.db')
        r = run('capture', '--max-pause', '0.000001', '-o', f'{d}/p', db)
        r.expect(TROUBLE, REFUSED)
        assert not os.path.exists(f'{d}/p')
        w.sql('update acct set bal = bal')


def test_a_database_that_nobody_holds_is_captured_as_stopped():
    with folder() as d:
        db = make(f'{d}/app.db', 'create table acct(id, bal)',
                  'insert into acct values(1, 1000)')
        got = capture(db, f'{d}/p')
        same((got['authority'], got['writers']), ('stopped', []))
        same(query(f'{d}/p', SUM), [['1', '1000']])


def test_processes_that_open_it_for_a_moment_are_no_reason_to_refuse():
    """What comes and goes before the reads is tried again; what comes in
    them is told, and never as a process that we can't see."""
    need_tool('sqlite3')
    with folder() as d:
        db = make(f'{d}/app.db', 'create table acct(id, bal)',
                  'insert into acct values(1, 1000)')
        loop = subprocess.Popen(
            ['sh', '-c', 'while :; do sqlite3 "$1" '
             '"select sum(bal) from acct"; done', 'sh', db],
            stdout=subprocess.DEVNULL, start_new_session=True)
        try:
            for i in range(25):
                r = run('capture', '-o', f'{d}/p{i}', db)
                r.expect(YES, NOT_CHECKED, REFUSED)
                lacks(r.err, "can't see", 'ended')
        finally:
            os.killpg(loop.pid, signal.SIGKILL)
            loop.wait()


@each('', '-wal', '-shm', '-journal')
def test_a_packet_never_gets_a_name_of_the_database(suffix):
    """SQLite would take it for a journal and delete it."""
    with folder() as d, Writer() as w:
        db = bank(w, f'{d}/app.db', DELETE)
        before = snapshot(d)
        r = run('capture', '--force', '-o', f'{db}{suffix}', db)
        r.expect(USAGE)
        has(r.err, f'{db}{suffix}')
        same(snapshot(d), before)


def test_a_journal_that_persists_and_undoes_nothing_is_nothing_to_check():
    with folder() as d, Writer() as w:
        db = bank(w, f'{d}/app.db', ('journal_mode=persist',))
        assert os.path.getsize(db + '-journal') > 0
        # Who may not see all processes is told so.
        same([x for x in capture(db, f'{d}/p')['not_checked']
              if x['what'] != 'holders'], [])
        same(query(f'{d}/p', SUM), [['20', '1000']])


def test_a_stopped_database_that_is_refused_is_not_tried_again():
    with folder() as d, folder() as out, Writer() as w:
        os.mkdir(f'{d}/open')
        db = bank(w, f'{d}/open/app.db')
        w.crash()
        os.chmod(f'{d}/open', 0o777)
        r = run('capture', '-o', f'{out}/p', db).expect(REFUSED)
        lacks(r.err, 'attempts')


def test_a_crashed_writers_wal_is_captured_with_its_committed_rows():
    with folder() as d, Writer() as w:
        db = bank(w, f'{d}/app.db')
        w.crash()
        got = capture(db, f'{d}/p')
        assert 'wal' in [f['role'] for f in got['files']], got
        same(query(f'{d}/p', SUM), [['20', '1000']])


def test_an_idle_connection_after_a_crash_is_captured_with_the_wal():
    with folder() as d, Writer() as w, Writer() as idle:
        db = bank(w, f'{d}/app.db')
        w.crash()
        idle.ask('open_file', 'raw', db, os.O_RDWR)
        capture(db, f'{d}/p')
        same(query(f'{d}/p', SUM), [['20', '1000']])


def test_sidecars_in_a_folder_that_anybody_may_write_are_refused():
    with folder() as d, folder() as out, Writer() as w:
        os.mkdir(f'{d}/open')
        db = bank(w, f'{d}/open/app.db')
        w.crash()
        os.chmod(f'{d}/open', 0o777)
        r = run('capture', '--timeout', '0.2', '-o', f'{out}/p', db)
        r.expect(REFUSED)
        has(r.err, '--accept-names')
        capture(db, f'{out}/p', '--accept-names')
        same(query(f'{out}/p', SUM), [['20', '1000']])


def test_journal_mode_memory_inside_a_transaction_is_refused():
    with folder() as d, Writer() as w:
        db = bank(w, f'{d}/app.db', ('journal_mode=memory',), rows=400)
        w.sql('pragma cache_size=2')
        w.sql('begin immediate')
        w.sql("update acct set who = who || 'xxxxxxxxxxxxxxxxxxxxxxxxxxxxx'")
        r = run('capture', '--timeout', '0.2', '-o', f'{d}/p', db)
        r.expect(REFUSED)
        has(r.err, 'EXCLUSIVE')
        w.sql('commit')
        capture(db, f'{d}/p')
        same(query(f'{d}/p', SUM), [['400', '20000']])


@each('opened', 'copied')
def test_the_same_in_a_thread_with_a_descriptor_table_of_its_own(when):
    code = ('import ctypes, sqlite3, sys, threading\n'
            'def connect():\n'
            '    c = sqlite3.connect(sys.argv[1], isolation_level=None,'
            ' check_same_thread=False)\n'
            '    c.execute("pragma journal_mode=memory")\n'
            '    c.execute("select * from t").fetchall()\n'
            '    return c\n'
            'def work():\n'
            '    assert ctypes.CDLL(None).unshare(0x400) == 0\n'
            '    c = early or connect()\n'
            '    c.execute("begin exclusive")\n'
            '    print("inside", flush=True)\n'
            '    sys.stdin.read()\n'
            'early = connect() if sys.argv[2] == "copied" else None\n'
            'threading.Thread(target=work).start()\n')
    with folder() as d:
        db = make(f'{d}/app.db', 'create table t(x)')
        w = subprocess.Popen([sys.executable, '-c', code, db, when],
                             stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        try:
            same(w.stdout.readline(), b'inside\n')
            r = run('capture', '--timeout', '0.2', '-o', f'{d}/p', db)
            r.expect(REFUSED)
            has(r.err, 'MEMORY')
        finally:
            w.communicate()


def test_an_idle_begin_immediate_in_delete_mode_is_no_reason_to_refuse():
    with folder() as d, Writer() as w:
        db = bank(w, f'{d}/app.db', DELETE)
        w.sql('begin immediate')
        capture(db, f'{d}/p')
        same(query(f'{d}/p', SUM), [['20', '1000']])


def test_a_reader_without_a_writable_descriptor_is_listed_and_not_paused():
    with folder() as d, Writer() as w, Writer() as reader:
        db = bank(w, f'{d}/app.db')
        reader.ask('open_file', 'raw', db, os.O_RDONLY)
        got = capture(db, f'{d}/p', '--pid', str(w.pid))
        listed = {x['pid']: x for x in got['writers'] + got.get('holders', [])}
        assert reader.pid in listed, got


def test_a_forked_child_that_inherited_the_descriptors_is_paused_too():
    with folder() as d, Writer() as w, Writer() as heir:
        db = bank(w, f'{d}/app.db')
        heir.ask('open_file', 'raw', db, os.O_RDWR)
        got = capture(db, f'{d}/p')
        same(sorted(x['pid'] for x in got['writers']),
             sorted([w.pid, heir.pid]))


def test_a_relative_name_and_a_symlink_select_the_same_inode():
    with folder() as d, Writer() as w:
        db = bank(w, f'{d}/app.db')
        os.symlink(db, f'{d}/link')
        for name, out in (('app.db', 'p1'), ('link', 'p2')):
            r = finish(spawn('capture', '--json', '-o', out, name, cwd=d))
            got = r.expect(YES, NOT_CHECKED).json()
            same(int(got['files'][0]['ino']), os.stat(db).st_ino)


@limit(120)
def test_memory_does_not_grow_with_the_database():
    with folder() as d, Writer() as w:
        db = bank(w, f'{d}/app.db')
        w.many('insert into acct values(?, zeroblob(?), 0)',
               [(1000 + i, 1 << 20) for i in range(150)])
        peak = peak_memory('capture', '-o', f'{d}/p', db)
        assert os.path.getsize(f'{d}/p') > 150 << 20
        assert peak <= 64 << 20, f'{peak} bytes resident'
