"""The folder of one run: gone at its end, however it ends.

An end by SIGKILL leaves it behind, and the next run removes it: who works in
a folder has a lock on the file "lock" in it, and the kernel drops that lock
with the process.
"""
import fcntl
import glob
import os
import shutil
import signal
import subprocess
import tempfile
import threading

PREFIX = 'holdfast-mutants-'
SIGNALS = signal.SIGINT, signal.SIGTERM, signal.SIGHUP


def locked(path):
    """A descriptor with the lock of a folder, or None: somebody has it, or
    the folder has none."""
    try:
        fd = os.open(os.path.join(path, 'lock'), os.O_RDWR | os.O_CLOEXEC)
    except OSError:
        return None
    try:
        fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        os.close(fd)
        return None
    return fd


def remove_abandoned():
    for path in glob.glob(os.path.join(tempfile.gettempdir(), PREFIX + '*')):
        fd = locked(path)
        if fd is not None:
            shutil.rmtree(path, ignore_errors=True)
            os.close(fd)


class Scratch:
    def __init__(self):
        self.children, self.guard, self.ended = set(), threading.Lock(), False

    def __enter__(self):
        remove_abandoned()
        self.fd = None
        # Whoever looks between the two lines takes it for abandoned.
        while self.fd is None:
            self.where = tempfile.mkdtemp(prefix=PREFIX)
            os.close(os.open(os.path.join(self.where, 'lock'),
                             os.O_CREAT | os.O_WRONLY, 0o600))
            self.fd = locked(self.where)
        os.chmod(self.where, 0o755)
        for s in SIGNALS:
            signal.signal(s, self.die_of)
        return self

    def __exit__(self, *_):
        self.clear()

    def clear(self):
        # A thread may still put a file back meanwhile.
        for _ in range(10):
            shutil.rmtree(self.where, ignore_errors=True)

    def die_of(self, signo, _):
        """As the signal would end us, but for what would be left."""
        for s in SIGNALS:
            signal.signal(s, signal.SIG_IGN)
        with self.guard:
            self.ended = True
        for child in list(self.children):
            child.terminate()
        for child in list(self.children):
            child.wait()
        self.clear()
        signal.signal(signo, signal.SIG_DFL)
        os.kill(os.getpid(), signo)

    def run(self, argv, **more):
        """(exit status, output) of a child that does not outlive us."""
        with self.guard:
            if self.ended:
                raise SystemExit('ended by a signal')
            child = subprocess.Popen(argv, stdout=subprocess.PIPE,
                                     stderr=subprocess.STDOUT, text=True,
                                     **more)
            self.children.add(child)
        try:
            output, _ = child.communicate()
        finally:
            self.children.discard(child)
        return child.returncode, output
