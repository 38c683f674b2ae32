"""How a run of the attack harness ends, and who puts the files back."""
import contextlib
import os
import signal
import sys
import time

from attack_bed import (CONTROLS, DEADLINE, EINVAL, LISTENER, MODES, NEVER,
                        NOT_FOUND, NOT_HERE, NOT_RUN, TROUBLE, Bed, bed,
                        compiled, inode)
from holdfast import (as_nobody, beside, each, finish, folder, has, lacks,
                      need_root, run, same, spawn)

GUARDIAN = 'attack-guard'


# How it ends

def test_the_exit_status_is_the_commands():
    with bed() as b:
        read = f'cat {b.app} >/dev/null; '
        b.attack(command=['sh', '-c', read + 'exit 42']).expect(42)
        b.attack(command=['sh', '-c', read + 'kill -9 $$']).expect(128 + 9)
        b.attack(command=[b.target, 'die', b.app]).expect(128 + 9)
        b.attack(command=['./nobody-has-this']).expect(NOT_FOUND)
        b.attack(command=[b.app]).expect(NOT_RUN)


def test_a_command_that_never_opens_it_has_a_status_of_its_own():
    with bed() as b:
        for mode in MODES:
            r = b.attack('--mode', mode, command=['true']).expect(NEVER)
            has(r.err, 'the attack on app never took place', '0 opens')


def test_what_cannot_be_done_is_said():
    with bed() as b:
        for args, text in (
                ((), '--swap NAME=SUBSTITUTE is missing'),
                (('--swap', 'x'), 'not NAME=SUBSTITUTE'),
                (('--swap', f'{b.app}={b.d}/none'), 'No such file'),
                (('--swap', f'{b.app}={b.app}'), 'same file'),
                (('--swap', f'{b.d}/no/app={b.evil}'), 'No such file'),
                (('--swap', f'{b.app}={b.evil}', '--swap',
                  f'{b.d}/./app={b.evil}'), 'named twice'),
                (('--swap', f'{b.app}={b.evil}', '--mode', 'both'),
                 'rename or inject'),
                (('--swap', f'{b.app}={b.evil}', '--at', '0'), 'a number'),
                (('--swap', f'{b.app}={b.evil}', '--at', '1', '--every'),
                 'exclude')):
            r = run('attack', *args, '--', 'true', program=CONTROLS)
            has(r.expect(TROUBLE).err, text)
        r = run('attack', '--swap', f'{b.app}={b.evil}', program=CONTROLS)
        has(r.expect(TROUBLE).err, 'the command is missing')


def test_a_folder_that_can_not_be_written_is_no_other_run():
    with bed() as b:
        more = {}
        if os.geteuid() == 0:
            beside(b.d)
            b.listing = b.look()
            more = {'program': f'{b.d}/programs/bin/holdfast-controls',
                    'prefix': as_nobody()}
        os.chmod(b.d, 0o555)
        r = b.attack(command=['true'], **more).expect(TROUBLE)
        has(r.err, "the folder of app can't be written: Permission denied",
            '--mode inject touches none')
        lacks(r.err, 'another run')
        r = b.attack('--mode', 'inject', command=['cat', b.app], **more)
        same(r.expect(0).out, 'EVIL\n')
        os.chmod(b.d, 0o755)


def test_what_inject_can_not_answer_is_said_and_rename_attacks_it():
    with bed() as b:
        script = ('import os, sys; fd = os.open(sys.argv[1], os.O_PATH);'
                  'print(os.fstat(fd).st_ino)')
        command = [sys.executable, '-c', script, b.app]
        r = b.attack('--mode', 'inject', command=command).expect(NEVER)
        has(r.err, '1 open by that name; 1 with O_PATH',
            "--mode inject can't answer", '--mode rename attacks it')
        same(r.out, f'{b.good_ino}\n')
        same(b.attack(command=command).expect(0).out, f'{b.evil_ino}\n')


def test_without_user_notification_it_says_so():
    with bed() as b:
        older = compiled('attack_seccomp.c', f'{b.d}/older')
        b.listing = b.look()
        r = b.attack(command=['true'], prefix=[older, str(LISTENER),
                                               str(EINVAL)])
        has(r.expect(NOT_HERE).err, 'no seccomp user notification here')


def test_one_inside_another_says_why_not():
    with bed() as b:
        r = b.attack(command=[CONTROLS, *b.args(swap=f'{b.d}/two={b.evil}'),
                              '--', 'cat', b.app])
        r.expect(NEVER)
        has(r.err, 'under a seccomp supervisor already')


def test_the_deadline_ends_all_that_it_started():
    with bed() as b:
        mark = f'holdfast-attack-{os.getpid()}'
        script = (f'setsid {b.target} hang {b.app} {mark} </dev/null '
                  f'>/dev/null 2>&1 & {b.target} hang {b.app} {mark}')
        r = b.attack('--deadline', '1', command=['sh', '-c', script])
        has(r.expect(DEADLINE).err, 'deadline of 1 s')
        same(ended(mark), [])


def test_what_it_leaves_running_is_ended():
    with bed() as b:
        mark = f'holdfast-attack-{os.getpid()}'
        script = (f'setsid {b.target} hang {b.app} {mark} </dev/null '
                  f'>/dev/null 2>&1 & cat {b.app}')
        b.attack(command=['sh', '-c', script]).expect(0)
        same(ended(mark), [])


def ended(mark):
    """Which ones were still there; they are not any more."""
    found = running(mark)
    for pid in found:
        os.kill(pid, signal.SIGKILL)
    return found


def running(mark):
    found = []
    for pid in filter(str.isdigit, os.listdir('/proc')):
        with contextlib.suppress(OSError):
            with open(f'/proc/{pid}/cmdline', 'rb') as f:
                words = f.read().split(b'\0')
            if words[1:2] == [b'hang'] and mark.encode() in words:
                found.append(int(pid))
    return found


# Whoever is killed in the window

def state(pid):
    with open(f'/proc/{pid}/stat') as f:
        return f.read().rsplit(')', 1)[1].split()[0]


def children(pid, name):
    found = []
    for other in filter(str.isdigit, os.listdir('/proc')):
        with contextlib.suppress(OSError):
            with open(f'/proc/{other}/stat') as f:
                text = f.read()
            comm = text.split('(', 1)[1].rsplit(')', 1)[0]
            if comm == name and text.rsplit(')', 1)[1].split()[1] == str(pid):
                found.append(int(other))
    return found


def until(condition, seconds=20):
    end = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > end:
            return False
        os.sched_yield()
    return True


class Window(Bed):
    """The supervisor stands still while the names are crossed: the open of
    a FIFO that nobody writes keeps the window open for a moment."""

    def __init__(self, d):
        super().__init__(d)
        self.child = None
        os.unlink(self.evil)
        os.mkfifo(self.evil)
        self.evil_ino = inode(self.evil)
        self.listing = self.look()

    def crossed(self):
        return inode(self.app) == self.evil_ino and \
            inode(self.evil) == self.good_ino

    def begin(self):
        for _ in range(20):
            child = spawn(*self.args(), '--', self.target, 'hang', self.app,
                          program=CONTROLS)
            assert until(self.crossed), 'never exchanged'
            os.kill(child.pid, signal.SIGSTOP)
            assert until(lambda: state(child.pid) == 'T')
            if self.crossed():
                self.child = child
                assert until(lambda: children(child.pid, GUARDIAN))
                self.guardian, = children(child.pid, GUARDIAN)
                return self
            child.kill()
            finish(child)
        raise AssertionError('it was never stopped in the window')

    def kill(self):
        self.child.kill()
        return finish(self.child)


@contextlib.contextmanager
def window():
    with folder() as d:
        w = Window(d)
        try:
            yield w.begin()
            w.straight()
        finally:
            w.child.kill()
            finish(w.child)


def test_the_guardian_puts_back_when_the_supervisor_is_killed():
    with window() as w:
        r = w.kill()
        assert not w.crossed(), 'still crossed'
        has(r.err, 'app is put back by its guardian')
        same(running(w.app), [])


def test_the_next_run_puts_back_when_both_were_killed():
    with window() as w:
        os.kill(w.guardian, signal.SIGKILL)
        w.kill()
        assert w.crossed(), 'who put it back?'
        r = run('attack', '--swap', f'{w.app}={w.evil}', '--', 'true',
                program=CONTROLS).expect(NEVER)
        has(r.err, 'app is put back by this run')


def test_the_next_run_leaves_names_that_were_made_anew():
    with window() as w:
        os.kill(w.guardian, signal.SIGKILL)
        w.kill()
        os.rename(w.evil, f'{w.d}/saved')
        os.rename(w.app, f'{w.d}/fifo')
        with open(w.app, 'w') as f:
            f.write('NEW\n')
        os.symlink('nowhere', w.evil)
        new = inode(w.app), inode(w.evil)
        r = run('attack', '--swap', f'{w.app}={w.evil}', '--', 'true',
                program=CONTROLS).expect(NEVER)
        lacks(r.err, 'put back')
        same((inode(w.app), inode(w.evil)), new)
        w.listing = w.look()
        same(sorted(w.listing), ['app', 'evil', 'fifo', 'saved', 'target'])


def test_a_run_does_not_touch_names_that_another_run_attacks():
    with window() as w:
        r = run('attack', '--swap', f'{w.app}={w.evil}', '--', 'true',
                program=CONTROLS).expect(TROUBLE)
        has(r.err, 'attacked by another run')
        assert w.crossed(), 'put back under a run that lives'
        w.kill()


def test_the_journal_of_another_user_is_in_the_way_and_named():
    need_root()
    with window() as w, folder() as d:
        beside(d)
        os.kill(w.guardian, signal.SIGKILL)
        w.kill()
        os.chmod(w.d, 0o777)
        attack = ('attack', '--swap', f'{w.app}={w.evil}', '--', 'true')
        r = run(*attack, program=f'{d}/programs/bin/holdfast-controls',
                prefix=as_nobody()).expect(TROUBLE)
        has(r.err, '.holdfast-attack-', 'of uid 0, is in the way',
            'Permission denied')
        lacks(r.err, 'another run')
        run(*attack, program=CONTROLS).expect(NEVER)


@each(signal.SIGTERM, signal.SIGINT, signal.SIGHUP)
def test_a_signal_puts_back_and_is_the_status(number):
    with window() as w:
        w.child.send_signal(number)
        w.child.send_signal(signal.SIGCONT)
        r = finish(w.child)
        r.expect(128 + number)
        same(running(w.app), [])


def test_a_file_that_is_in_the_way_is_said_and_nothing_is_lost():
    with window() as w:
        os.rename(w.app, f'{w.d}/fifo')
        w.child.send_signal(signal.SIGTERM)
        w.child.send_signal(signal.SIGCONT)
        r = finish(w.child).expect(TROUBLE)
        has(r.err, 'left as they are', str(w.good_ino))
        same(inode(w.evil), w.good_ino)
        os.rename(f'{w.d}/fifo', w.app)
        r = run('attack', '--swap', f'{w.app}={w.evil}', '--', 'true',
                program=CONTROLS).expect(NEVER)
        has(r.err, 'app is put back by this run')
