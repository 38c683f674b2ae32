"""However holdfast ends, the writer runs on and no half packet is left."""
import os
import random
import resource
import signal
import subprocess
import time

from holdfast import (HOLDFAST, NOT_CHECKED, TROUBLE, WAL, YES, Skip, Writer,
                      bank, each, finish, folder, has, limit, need_root,
                      need_tool, query, recover, run, same, spawn)

LOAD = ('journal_mode=wal', 'synchronous=off')
SUM = 'select sum(bal) from acct'


def busy(d, w):
    w.ask('load', [f'{d}/app.db'], LOAD, 4)
    w.ask('beyond', 20)
    return f'{d}/app.db'


def whole_or_nothing(out):
    """What a killed run may leave: nothing, or a packet that reads well."""
    for name in os.listdir(out):
        same(query(f'{out}/{name}', SUM), [['1000']])
        os.unlink(f'{out}/{name}')


def not_traced(pid):
    with open(f'/proc/{pid}/status') as f:
        has(f.read(), 'TracerPid:\t0')


def shortest(out, db):
    """The time of a whole capture, so that most random instants within it
    find one under way."""
    times = []
    for _ in range(5):
        started = time.monotonic()
        run('capture', '-o', f'{out}/p', db).expect(YES, NOT_CHECKED, 3)
        times.append(time.monotonic() - started)
        whole_or_nothing(out)
    return min(times)


@limit(300)
def test_two_hundred_kills_at_random_instants_leave_the_writer_running():
    with folder() as d, folder() as out, Writer() as w:
        db = busy(d, w)
        whole = shortest(out, db)
        r = random.Random(2)
        killed = 0
        for i in range(200):
            child = spawn('capture', '-o', f'{out}/p{i}', db)
            try:
                child.wait(r.uniform(0, whole))
            except subprocess.TimeoutExpired:
                killed += 1
            child.kill()
            child.communicate()
            w.progress()
            not_traced(w.pid)
            whole_or_nothing(out)
        assert killed >= 100, f'only {killed} runs were killed midway'
        same(w.ask('unload')[1], [])


@each('SIGINT', 'SIGTERM')
@limit(120)
def test_a_signal_at_any_instant_resumes_the_writer_and_leaves_nothing(name):
    with folder() as d, folder() as out, Writer() as w:
        db = busy(d, w)
        whole = shortest(out, db)
        r = random.Random(3)
        interrupted = 0
        for i in range(30):
            child = spawn('capture', '-o', f'{out}/p{i}', db)
            try:
                child.wait(r.uniform(0, whole))
            except subprocess.TimeoutExpired:
                child.send_signal(getattr(signal, name))
            done = finish(child)
            if done.status == -getattr(signal, name):
                interrupted += 1
            elif done.status == TROUBLE:
                has(done.err, 'interrupt')
                interrupted += 1
            else:
                done.expect(YES, NOT_CHECKED, 3)
            if 'interrupt' not in done.err:
                whole_or_nothing(out)   # it came when the packet was there
            same(os.listdir(out), [])
            w.progress()
            not_traced(w.pid)
        assert interrupted > 0


def test_sigterm_that_stops_holdfast_in_the_pause_resumes_the_writer():
    """The signal comes while the writer is seen to be stopped by us."""
    with folder() as d, folder() as out, Writer() as w:
        db = bank(w, f'{d}/app.db')
        w.many('insert into acct values(?, zeroblob(?), 0)',
               [(1000 + i, 1 << 20) for i in range(200)])
        child = spawn('capture', '-o', f'{out}/p', db)
        while child.poll() is None:
            with open(f'/proc/{w.pid}/status') as f:
                if 'TracerPid:\t0\n' not in f.read():
                    break
        child.send_signal(signal.SIGTERM)
        done = finish(child)
        if done.status == TROUBLE:
            has(done.err, 'interrupt')
            same(os.listdir(out), [])
        else:
            done.expect(-signal.SIGTERM, YES, NOT_CHECKED)
        w.sql('update acct set bal = bal where id = 1')
        not_traced(w.pid)


def in_the_pause(w, child):
    """Waits until the writer is seen to be stopped by the capture."""
    while child.poll() is None:
        with open(f'/proc/{w.pid}/status') as f:
            if 'TracerPid:\t0\n' not in f.read():
                return
    raise AssertionError('it ended without a pause')


def large(d, w):
    db = bank(w, f'{d}/app.db')
    w.many('insert into acct values(?, zeroblob(?), 0)',
           [(1000 + i, 1 << 20) for i in range(200)])
    return db


def test_what_would_end_or_stop_us_waits_in_the_pause():
    """SIGCHLD too, which announces the stops that we wait for."""
    with folder() as d, folder() as out, Writer() as w:
        child = spawn('capture', '-o', f'{out}/p', large(d, w))
        in_the_pause(w, child)
        with open(f'/proc/{child.pid}/status') as f:
            blocked = int(f.read().split('SigBlk:')[1].split()[0], 16)
        finish(child).expect(YES, NOT_CHECKED)
        for name in ('INT', 'TERM', 'HUP', 'CHLD', 'TSTP', 'TTIN', 'TTOU'):
            number = getattr(signal, 'SIG' + name)
            assert blocked >> (number - 1) & 1, f'SIG{name} does not wait'


def test_ctrl_z_in_the_pause_stops_us_when_the_writer_runs():
    with folder() as d, folder() as out, Writer() as w:
        # A group of its own below ours: an orphaned one ignores the stop.
        child = spawn('capture', '-o', f'{out}/p', large(d, w),
                      preexec_fn=lambda: os.setpgid(0, 0))
        in_the_pause(w, child)
        child.send_signal(signal.SIGTSTP)
        _, status = os.waitpid(child.pid, os.WUNTRACED)
        assert os.WIFSTOPPED(status), status
        not_traced(w.pid)
        w.sql('update acct set bal = bal where id = 1')
        child.send_signal(signal.SIGCONT)
        finish(child).expect(YES, NOT_CHECKED)


def test_a_full_disk_is_trouble_and_leaves_nothing():
    need_root()
    unshare = need_tool('unshare')
    if subprocess.run([unshare, '-m', 'true'], capture_output=True).returncode:
        raise Skip('no mounts of our own here, as in a chroot')
    with folder() as d, folder() as out, Writer() as w:
        db = bank(w, f'{d}/app.db')
        w.many('insert into acct values(?, zeroblob(?), 0)',
               [(1000 + i, 100000) for i in range(20)])
        script = ('mount -t tmpfs -o size=512k tmpfs "$1" || exit 77; '
                  '"$2" capture -o "$1/p" "$3"; status=$?; '
                  'echo "left:" $(ls -A "$1"); exit $status')
        r = finish(spawn('-m', 'sh', '-c', script, 'sh', out,
                         HOLDFAST, db, program=unshare))
        if r.status == 77:
            raise Skip('no tmpfs may be mounted here')
        r.expect(TROUBLE)
        has(r.out, 'left:\n')
        has(r.err, 'No space left')
        w.sql('update acct set bal = bal where id = 1')
        not_traced(w.pid)


def test_a_file_size_limit_is_trouble_and_leaves_nothing():
    with folder() as d, folder() as out, Writer() as w:
        db = bank(w, f'{d}/app.db')
        w.many('insert into acct values(?, zeroblob(?), 0)',
               [(1000 + i, 100000) for i in range(20)])
        r = run('capture', '-o', f'{out}/p', db, preexec_fn=lambda:
                resource.setrlimit(resource.RLIMIT_FSIZE,
                                   (512 << 10, 512 << 10)))
        r.expect(TROUBLE)
        same(os.listdir(out), [])
        w.sql('update acct set bal = bal where id = 1')
        not_traced(w.pid)


def test_too_few_descriptors_are_trouble_and_hide_no_writer():
    """Of two writers both are paused, or it is trouble: at any number."""
    with folder() as d, folder() as out, Writer() as w, Writer() as other:
        db = bank(w, f'{d}/app.db')
        other.open(db)
        other.sql('select 1 from acct')
        for n in range(8, 40):
            r = run('capture', '--json', '-o', f'{out}/p', db,
                    preexec_fn=lambda: resource.setrlimit(
                        resource.RLIMIT_NOFILE, (n, n)))
            r.expect(YES, NOT_CHECKED, TROUBLE)
            if r.status != TROUBLE:
                same(len(r.json()['writers']), 2, f'writers, {n} descriptors')
                os.unlink(f'{out}/p')
            same(os.listdir(out), [])


def test_a_folder_that_does_not_take_the_packet_is_trouble():
    with folder() as d, Writer() as w:
        db = bank(w, f'{d}/app.db', WAL)
        r = run('capture', '-o', f'{d}/none/p', db).expect(TROUBLE)
        has(r.err, f'{d}/none')
        w.sql('update acct set bal = bal where id = 1')


def test_a_writer_that_ends_meanwhile_is_no_crash_of_ours():
    with folder() as d, folder() as out:
        for i in range(10):
            with Writer() as w:
                db = bank(w, f'{d}/app{i}.db')
                child = spawn('capture', '-o', f'{out}/p{i}', db)
                w.child.kill()
                w.child.wait()
                done = finish(child)
                done.expect(YES, NOT_CHECKED, 3, TROUBLE)
                if done.status in (YES, NOT_CHECKED):
                    recover(f'{out}/p{i}')
                else:
                    same(os.path.exists(f'{out}/p{i}'), False)
