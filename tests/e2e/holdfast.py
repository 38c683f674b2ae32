"""What the tests of whole programs share: a live writer, runs, snapshots."""
import contextlib
import csv
import hashlib
import io
import json
import os
import pickle
import re
import shutil
import signal
import sqlite3
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
BUILD = os.path.join(ROOT, os.environ.get('HOLDFAST_BUILD', 'build'))
HOLDFAST = os.path.join(BUILD, 'bin', 'holdfast')
SANITIZED = os.path.exists(os.path.join(BUILD, 'libexec', 'holdfast',
                                        'holdfast-recover-san'))

YES, NO, USAGE, REFUSED, DAMAGED, TROUBLE, NOT_CHECKED = 0, 1, 2, 3, 4, 5, 6
WRITER = 'writer.py'
SIDECARS = ('', '-wal', '-shm', '-journal')
NOBODY = 65534

WAL = ('journal_mode=wal', 'wal_autocheckpoint=0')
DELETE = ('journal_mode=delete',)


class Skip(Exception):
    """The case cannot run here; the text says why."""


def limit(seconds):
    def mark(fn):
        fn.limit = seconds
        return fn
    return mark


def each(*values):
    """One case for each value, given as the argument."""
    def mark(fn):
        fn.each = values
        return fn
    return mark


def long(fn):
    """Only in check-long."""
    fn.long = True
    return fn


# Assertions that show what they compared

def same(got, want, what=''):
    assert got == want, f'{what or "value"}: got {got!r}, want {want!r}'


def has(text, *words):
    for word in words:
        assert word in text, f'{word!r} is not in: {text!r}'


def lacks(text, *words):
    for word in words:
        assert word not in text, f'{word!r} is in: {text!r}'


# Folders

@contextlib.contextmanager
def folder():
    """A fresh folder that the stopped rules accept; gone afterwards."""
    path = tempfile.mkdtemp(prefix='holdfast-test-')
    try:
        yield path
    finally:
        shutil.rmtree(path, ignore_errors=True)


def need_root():
    if os.geteuid() != 0:
        raise Skip('needs root')


def need_tool(name):
    path = shutil.which(name)
    if not path:
        raise Skip(f'needs {name}')
    return path


def need_better_sqlite3():
    """node, where HOLDFAST_NODE_MODULES names the folder node_modules in which
    "npm install better-sqlite3" has put that module."""
    node = need_tool('node')
    if not os.environ.get('HOLDFAST_NODE_MODULES') or subprocess.run(
            [node, '-e', "new (require(process.env.HOLDFAST_NODE_MODULES + "
             "'/better-sqlite3'))(':memory:')"], stdin=subprocess.DEVNULL,
            capture_output=True).returncode:
        raise Skip('needs better-sqlite3 in $HOLDFAST_NODE_MODULES')
    return node


def shared(*parts):
    """A path below the shared reference data, or Skip."""
    base = os.environ.get('HOLDFAST_SHARED') or \
        os.path.join(os.path.dirname(ROOT), 'shared')
    path = os.path.join(base, *parts)
    if not os.path.exists(path):
        raise Skip(f'no {os.path.join("shared", *parts)} beside the project')
    return path


# Running the product

class Run:
    def __init__(self, args, status, out, err):
        self.args, self.status, self.out, self.err = args, status, out, err

    def text(self):
        return self.out + self.err

    def lines(self):
        return [json.loads(x) for x in self.out.splitlines()]

    def json(self):
        return json.loads(self.out)

    def summary(self):
        return self.lines()[-1]

    def expect(self, *statuses):
        assert self.status in statuses, (
            f'{self.args}: exit {self.status}, want {statuses}\n'
            f'stdout: {self.out[-3000:]}\nstderr: {self.err[-3000:]}')
        return self


def spawn(*args, prefix=(), program=None, **more):
    if SANITIZED and prefix and 'env' not in more:
        # LeakSanitizer can't work where strace has it traced already.
        more['env'] = {**os.environ, 'ASAN_OPTIONS': 'detect_leaks=0'}
    return subprocess.Popen(
        [*prefix, program or HOLDFAST, *map(os.fspath, args)],
        stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
        stderr=subprocess.PIPE, **more)


def finish(child, args=(), timeout=60):
    try:
        out, err = child.communicate(timeout=timeout)
    except subprocess.TimeoutExpired:
        child.kill()
        out, err = child.communicate()
        raise AssertionError(f'{args}: no end within {timeout} s\n{err!r}')
    return Run(args, child.returncode, out.decode('utf-8', 'replace'),
               err.decode('utf-8', 'replace'))


def run(*args, timeout=60, **more):
    return finish(spawn(*args, **more), args, timeout)


def capture(db, packet, *options, **more):
    """A capture that works: its JSON object."""
    r = run('capture', '--json', '-o', packet, *options, db, **more)
    return r.expect(YES, NOT_CHECKED).json()


def recover(evidence, *options, status=(YES, NOT_CHECKED)):
    return run('recover', '--json', *options, evidence).expect(
        *status).json()


def fingerprint(evidence):
    return recover(evidence)['fingerprint']


def query(evidence, sql, *options):
    """Rows as lists of text, without the header line."""
    r = run('query', '--csv', *options, evidence, sql)
    r.expect(YES, NOT_CHECKED)
    return list(csv.reader(io.StringIO(r.out)))[1:]


def diff(before, after, *options):
    """(status, records without the summary, summary)"""
    r = run('diff', '--json', *options, before, after)
    r.expect(YES, NO, NOT_CHECKED)
    lines = r.lines()
    same(lines[-1]['kind'], 'summary')
    return r.status, lines[:-1], lines[-1]


def beside(sub):
    """A copy of both programs that every user can reach."""
    where = os.path.join(sub, 'programs')
    for part in ('bin', 'libexec'):
        shutil.copytree(os.path.join(BUILD, part), os.path.join(where, part))
    subprocess.run(['chmod', '-R', 'a+rX', sub], check=True)
    return os.path.join(where, 'bin', 'holdfast')


def as_nobody():
    """A command line in front that gives up root for good."""
    return [need_tool('setpriv'), f'--reuid={NOBODY}', f'--regid={NOBODY}',
            '--clear-groups']


def reachable_writer(sub):
    """A copy of the writer that every user can read."""
    path = shutil.copy(os.path.join(HERE, WRITER), sub)
    os.chmod(path, 0o644)
    os.chmod(sub, 0o755)
    return path


def peak_memory(*args, timeout=600):
    """The most resident bytes of the run or of a process it started."""
    script = ('import resource, subprocess, sys; '
              'subprocess.run(sys.argv[1:], stdout=subprocess.DEVNULL)'
              '.returncode in (0, 6) or sys.exit(1); '
              'print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)')
    r = finish(spawn('-c', script, HOLDFAST, *args, program=sys.executable),
               args, timeout)
    return int(r.expect(0).out) * 1024


# A live writer

class Writer:
    def __init__(self, prefix=(), script=None):
        python = '/usr/bin/python3' if script else sys.executable
        self.child = subprocess.Popen(
            [*prefix, python, '-B', script or os.path.join(HERE, WRITER)],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        self.pid = self.ask('ping')

    def ask(self, verb, *args):
        self.send(verb, *args)
        return self.answer()

    def send(self, verb, *args):
        pickle.dump((verb, *args), self.child.stdin)
        self.child.stdin.flush()

    def answer(self):
        kind, value = pickle.load(self.child.stdout)
        if kind == 'error':
            raise AssertionError(f'writer: {value}')
        return value

    def open(self, path, pragmas=WAL, name='main'):
        self.ask('open', name, path, pragmas)
        return self

    def sql(self, sql, params=(), name='main'):
        return self.ask('sql', name, sql, params)

    def many(self, sql, rows, name='main'):
        self.ask('many', name, sql, list(rows))

    def script(self, sql, name='main'):
        self.ask('script', name, sql)

    def progress(self):
        """The writer runs: it answers, and where it works it gets on."""
        return self.ask('beyond', self.ask('commits'))

    def descriptor_of(self, path):
        """(dev, inode) of what the writer itself holds under a name."""
        table = f'/proc/{self.pid}/fd'
        for fd in os.listdir(table):
            to = os.readlink(f'{table}/{fd}').removesuffix(' (deleted)')
            if to == os.path.realpath(path):
                st = os.stat(f'{table}/{fd}')
                return st.st_dev, st.st_ino
        raise AssertionError(f'the writer does not hold {path}')

    def crash(self):
        self.send('die')
        self.child.wait()
        self.close()

    def close(self):
        with contextlib.suppress(BrokenPipeError):
            self.child.stdin.close()
        self.child.stdout.close()
        if self.child.poll() is None:
            os.kill(self.child.pid, signal.SIGCONT)
        try:
            self.child.wait(10)
        except subprocess.TimeoutExpired:
            self.child.kill()
            self.child.wait()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()


def hold(writer, *databases):
    """Has them open to write by calls of its own: no memory tells more."""
    for db in databases:
        for suffix in SIDECARS:
            if os.path.exists(db + suffix):
                writer.ask('open_file', db + suffix, db + suffix, os.O_RDWR)


def unreadable():
    """A prefix under which the memory of no process may be read."""
    return [need_tool('strace'), '-f', '-qq', '-o', '/dev/null', '-e',
            'trace=process_vm_readv', '-e',
            'inject=process_vm_readv:error=EPERM']


def bank(writer, path, pragmas=WAL, rows=20, name='main'):
    """The usual small database: committed rows, in WAL mode only there."""
    writer.open(path, pragmas, name)
    writer.script('create table acct(id integer primary key, who text,'
                  ' bal int);', name)
    writer.many('insert into acct values(?, ?, ?)',
                [(i, f'owner {i}', 50) for i in range(1, rows + 1)], name)
    return path


def make(path, *statements, encoding='UTF-8', page_size=4096):
    """A database that nobody has open any more."""
    c = sqlite3.connect(path, isolation_level=None)
    c.execute(f'pragma page_size={page_size}')
    c.execute(f"pragma encoding='{encoding}'")
    for s in statements:
        c.execute(*s) if isinstance(s, tuple) else c.executescript(s)
    c.close()
    return path


def patch(path, old, new):
    """The bytes in place, wherever they are; they have one length."""
    assert len(old) == len(new)
    with open(path, 'r+b') as f:
        raw = f.read()
        assert old in raw, old
        f.seek(0)
        f.write(raw.replace(old, new))


def put(path, offset, raw):
    with open(path, 'r+b') as f:
        f.seek(offset)
        f.write(raw)


# What must not change

def digest(path):
    h = hashlib.sha256()
    with open(path, 'rb') as f:
        while chunk := f.read(1 << 20):
            h.update(chunk)
    return h.hexdigest()


def locks(inodes):
    """The rows of /proc/locks on these inodes, without their numbers."""
    found = []
    with open('/proc/locks') as f:
        for line in f:
            m = re.search(r':(\d+) \S+ \S+$', line.strip())
            if m and int(m.group(1)) in inodes:
                found.append(line.split(':', 1)[1].strip())
    return sorted(found)


def snapshot(path):
    """All that may tell that somebody touched a folder."""
    entries = {}
    st = os.stat(path)
    entries['.'] = (st.st_mtime_ns, st.st_ctime_ns, st.st_ino)
    for name in sorted(os.listdir(path)):
        full = os.path.join(path, name)
        st = os.lstat(full)
        entries[name] = (st.st_ino, st.st_size, st.st_mtime_ns,
                         st.st_ctime_ns, st.st_mode, st.st_nlink,
                         digest(full))
    entries['locks'] = locks({e[0] for n, e in entries.items() if n != '.'})
    return entries


def identity(path):
    """dev:inode as the messages write it."""
    st = os.stat(path)
    return f'{os.major(st.st_dev)}:{os.minor(st.st_dev)}:{st.st_ino}'


def opened_by_name(trace, db):
    """Successful opens of main or a sidecar by name, without O_PATH."""
    names = {os.path.basename(db) + s for s in SIDECARS}
    hits = []
    call = re.compile(r'(?:open|openat|openat2)\((?:[^"]*, )?"([^"]*)"(.*)'
                      r' = (-?\d+)')
    with open(trace) as f:
        for line in f:
            m = call.search(line)
            if m and int(m.group(3)) >= 0 and 'O_PATH' not in m.group(2) \
                    and os.path.basename(m.group(1)) in names:
                hits.append(line.strip())
    return hits
