"""The programs that run tests: what they are told, and what they leave."""
import os
import shutil
import signal
import subprocess
import sys

from holdfast import BUILD, ROOT, each, folder, lacks, same

# In place of a test that goes on for long: it says who it is, and waits.
RUN = '''
import os, sys
sys.path.insert(0, 'tests/mutants')
import scratch, threading
with scratch.Scratch() as s:
    open(s.where + '/file', 'w').close()
    def work():
        s.run([sys.executable, '-c', 'import os, sys; '
               'os.write(int(sys.argv[1]), f"{os.getpid()} ".encode()); '
               'sys.stdin.read()', sys.argv[1]],
              stdin=int(sys.argv[2]), pass_fds=[int(sys.argv[1])])
    if sys.argv[1] == 'at once':
        sys.exit()
    t = threading.Thread(target=work)
    t.start()
    t.join()
'''


def gnu_make(*args):
    return subprocess.run(
        ['make', '-s', '-o', 'all', '-o', 'unit',
         f'BUILD={os.path.relpath(BUILD, ROOT)}', *args],
        cwd=ROOT, capture_output=True, text=True,
        env={k: v for k, v in os.environ.items()
             if k not in ('MAKEFLAGS', 'MAKELEVEL', 'MFLAGS')})


@each('mutants', 'check')
def test_make_gives_a_pattern_on_as_it_is(target):
    if target == 'mutants':
        r = gnu_make(target, 'ARGS=--list --only ^(sidecar|rights)-.*n$')
        names = [x.split(':')[0] for x in r.stdout.splitlines()]
        want = {'sidecar-taken-for-main', 'sidecar-captured-as-main'}
        assert want <= set(names), (r.stdout, r.stderr)
    else:
        r = gnu_make(target, 'ARGS=--list --only "^(t_buf|t_tar)$"')
        names = r.stdout.splitlines()
        same(sorted(names), ['t_buf', 't_tar'], r.stderr)
    same((r.returncode, r.stderr), (0, ''))
    for name in names:
        lacks(name, 'memory')


class Scratch:
    """A run in a folder for temporary files of its own, at its work."""

    def __init__(self, tmp):
        self.alive, told = os.pipe()
        held, self.hold = os.pipe()
        self.child = subprocess.Popen(
            [sys.executable, '-B', '-c', RUN, str(told), str(held)],
            cwd=ROOT, env={**os.environ, 'TMPDIR': tmp},
            pass_fds=[told, held], stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT)
        os.close(told)
        os.close(held)
        said = b''
        while not said.endswith(b' '):
            more = os.read(self.alive, 1)
            assert more, self.child.communicate()
            said += more
        self.worker = int(said)

    def end(self, signo):
        self.child.send_signal(signo)
        self.child.communicate(timeout=30)
        same(self.child.returncode, -signo)

    def nobody_is_left(self):
        """All that had the pipe to write to has ended."""
        return os.read(self.alive, 1) == b''

    def __enter__(self):
        return self

    def __exit__(self, *_):
        os.close(self.hold)
        self.child.kill()
        self.child.communicate()
        os.close(self.alive)


@each('SIGTERM', 'SIGINT', 'SIGHUP')
def test_mutants_that_are_ended_leave_neither_folder_nor_process(name):
    with folder() as d, Scratch(d) as s:
        same(len(os.listdir(d)), 1)
        s.end(getattr(signal, name))
        same(os.listdir(d), [])
        assert s.nobody_is_left()


def test_mutants_remove_what_a_killed_run_left_and_nothing_in_use():
    with folder() as d, Scratch(d) as lives:
        used = os.listdir(d)
        with Scratch(d) as killed:
            left = set(os.listdir(d)) - set(used)
            same(len(left), 1)
            killed.end(signal.SIGKILL)
            same(set(os.listdir(d)), left | set(used))
            os.mkdir(f'{d}/holdfast-mutants-of-somebody')
            subprocess.run([sys.executable, '-B', '-c', RUN, 'at once'],
                           cwd=ROOT, check=True,
                           env={**os.environ, 'TMPDIR': d})
            same(set(os.listdir(d)),
                 {*used, 'holdfast-mutants-of-somebody'})
        assert os.path.exists(f'{d}/{used[0]}/file')
        same(lives.child.poll(), None)


def test_a_test_does_not_outlive_the_run_that_is_ended():
    """tests/run gives each test a session of its own."""
    with folder() as d:
        for part in ('tests/unit', 'tests/e2e', 'build/tests/unit'):
            os.makedirs(f'{d}/{part}')
        shutil.copy(f'{ROOT}/tests/run', f'{d}/tests/run')
        for name in ('up', 'never'):
            os.mkfifo(f'{d}/{name}')
        open(f'{d}/tests/unit/t_waits.c', 'w').close()
        program = f'{d}/build/tests/unit/t_waits'
        with open(program, 'w') as f:
            f.write(f'#!/bin/sh\nexec > {d}/up\necho up\n'
                    f'read -r x < {d}/never\n')
        os.chmod(program, 0o755)
        env = {k: v for k, v in os.environ.items() if k != 'HOLDFAST_BUILD'}
        ends = subprocess.Popen(
            [sys.executable, '-B', f'{d}/tests/run'], env=env,
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        with open(f'{d}/up') as f:
            same(f.readline(), 'up\n')
            ends.terminate()
            same(ends.wait(30), 128 + signal.SIGTERM)
            same(f.read(), '')
