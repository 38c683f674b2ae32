"""Real programs that commit all the time, captured in the middle of it.

Each puts a row with the next number and moves a balance in one transaction.
It prints the number with a plus before it begins, and bare when the commit has
returned. A capture has every row whose commit was told before the capture
began, none whose transaction began when it was over, none missing in between,
and no half of a transaction.

node needs the module better-sqlite3: need_better_sqlite3 in holdfast.py. The
others are Debian packages: perl and libdbd-sqlite3-perl, php-cli and
php-sqlite3, tcl and libsqlite3-tcl, sqlite3.
"""
import contextlib
import os
import select
import signal
import subprocess
import sys

from holdfast import (NOT_CHECKED, YES, Skip, each, folder, limit, make,
                      need_better_sqlite3, need_tool, query, recover, run,
                      same)

CAPTURES = 6

PYTHON = '''
import sqlite3, sys
c = sqlite3.connect(sys.argv[1], isolation_level=None, timeout=60)
c.execute('pragma synchronous=off')
i = 0
while True:
    i += 1
    print(f'+{i}', flush=True)
    c.execute('begin immediate')
    c.execute('insert into log values(?, ?)', (i, 'x' * (i % 900)))
    c.execute('update acct set bal = bal - 1 where id = 1')
    c.execute('update acct set bal = bal + 1 where id = 2')
    c.execute('commit')
    print(i, flush=True)
'''
PERL = '''
use DBI;
my $c = DBI->connect("dbi:SQLite:dbname=$ARGV[0]", "", "",
                     { RaiseError => 1, AutoCommit => 1 });
$c->do("pragma synchronous=off");
$| = 1;
for (my $i = 1; ; $i++) {
    print "+$i\\n";
    $c->begin_work;
    $c->do("insert into log values(?, ?)", undef, $i, "x" x ($i % 900));
    $c->do("update acct set bal = bal - 1 where id = 1");
    $c->do("update acct set bal = bal + 1 where id = 2");
    $c->commit;
    print "$i\\n";
}
'''
PHP = '''<?php
$c = new SQLite3($argv[1]);
$c->exec("pragma synchronous=off");
for ($i = 1; ; $i++) {
    fwrite(STDOUT, "+$i\\n");
    $c->exec("begin immediate");
    $s = $c->prepare("insert into log values(?, ?)");
    $s->bindValue(1, $i);
    $s->bindValue(2, str_repeat("x", $i % 900));
    $s->execute();
    $c->exec("update acct set bal = bal - 1 where id = 1");
    $c->exec("update acct set bal = bal + 1 where id = 2");
    $c->exec("commit");
    fwrite(STDOUT, "$i\\n");
}
'''
NODE = '''
const fs = require('fs');
const c = require(process.env.HOLDFAST_NODE_MODULES + '/better-sqlite3')(
    process.argv[2]);
c.pragma('synchronous=off');
const put = c.prepare('insert into log values(?, ?)');
const less = c.prepare('update acct set bal = bal - 1 where id = 1');
const more = c.prepare('update acct set bal = bal + 1 where id = 2');
const one = c.transaction((i) => {
    put.run(i, 'x'.repeat(i % 900)); less.run(); more.run();
});
for (let i = 1; ; i++) {
    fs.writeSync(1, '+' + i + '\\n');
    one.immediate(i);
    fs.writeSync(1, i + '\\n');
}
'''
TCL = '''
package require sqlite3
sqlite3 c [lindex $argv 0]
c eval {pragma synchronous=off}
for {set i 1} {1} {incr i} {
    set x [string repeat x [expr {$i % 900}]]
    puts +$i
    flush stdout
    c transaction immediate {
        c eval {insert into log values($i, $x)}
        c eval {update acct set bal = bal - 1 where id = 1}
        c eval {update acct set bal = bal + 1 where id = 2}
    }
    puts $i
    flush stdout
}
'''
SHELL = '''
{ echo 'pragma synchronous=off;'; i=0; while :; do i=$((i + 1)); echo "
select '+$i'; begin immediate; insert into log values($i, printf('%.*c', $i % 900, 'x'));
update acct set bal = bal - 1 where id = 1;
update acct set bal = bal + 1 where id = 2; commit; select $i;"; done; } |
exec stdbuf -oL sqlite3 -bail "$1"
'''

# name: (source, command line before it, what must end well for it to run)
PROGRAMS = {
    'python': (PYTHON, [sys.executable], None),
    'perl': (PERL, ['perl'], ['-MDBD::SQLite', '-e', '1']),
    'php': (PHP, ['php'], ['-r', 'exit(class_exists("SQLite3") ? 0 : 1);']),
    'node': (NODE, ['node'], None),
    'tcl': (TCL, ['tclsh'], None),
    'shell': (SHELL, ['sh'], None),
}


def able(name):
    _, argv, probe = PROGRAMS[name]
    tool = need_tool(argv[0])
    if name == 'shell':
        need_tool('sqlite3')
        need_tool('stdbuf')
    if name == 'node':
        need_better_sqlite3()
    if name == 'tcl':
        done = subprocess.run([tool], input=b'package require sqlite3',
                              capture_output=True)
        if done.stderr:
            raise Skip('needs libsqlite3-tcl')
    if probe and subprocess.run([tool, *probe],
                                capture_output=True).returncode:
        raise Skip(f'{name} has no SQLite')


class Told:
    """What a program printed, in the order in which it happened: we write
    into the same pipe when a capture is over."""

    def __init__(self):
        self.read, self.write = os.pipe()
        # The program's own end waits where the pipe is full; ours must not.
        self.mark_end = os.open(f'/proc/self/fd/{self.write}',
                                os.O_WRONLY | os.O_NONBLOCK)
        self.rest, self.lines = b'', []

    def start(self, argv):
        self.child = subprocess.Popen(argv, stdout=self.write,
                                      start_new_session=True)
        self.ended = os.pidfd_open(self.child.pid)

    def fill(self):
        # Our own ends of the pipe keep it from telling the program's end.
        ready, _, _ = select.select([self.read, self.ended], [], [])
        assert self.read in ready, 'the program ended'
        more = os.read(self.read, 1 << 16)
        *whole, self.rest = (self.rest + more).split(b'\n')
        self.lines += whole

    def next(self):
        while not self.lines:
            self.fill()
        return self.lines.pop(0)

    def committed(self, beyond):
        """The number of a commit beyond that one, when it is told."""
        while True:
            line = self.next()
            if line.isdigit() and int(line) > beyond:
                return int(line)

    def begun_from_now(self):
        """The first transaction that begins behind this call."""
        while True:
            try:
                # Some print a line and its end by two writes.
                os.write(self.mark_end, b'\nnow\n')
                break
            except BlockingIOError:
                self.fill()
        while self.next() != b'now':
            pass
        while True:
            line = self.next()
            if line.startswith(b'+'):
                return int(line)

    def end(self):
        os.killpg(self.child.pid, signal.SIGKILL)
        self.child.wait()
        for fd in self.read, self.write, self.mark_end, self.ended:
            os.close(fd)


@contextlib.contextmanager
def at_work(name, d, db):
    source, argv, _ = PROGRAMS[name]
    script = f'{d}/program'
    with open(script, 'w') as f:
        f.write(source)
    program = Told()
    program.start([*argv, script, db])
    try:
        yield program
    finally:
        program.end()


def check(packet, told):
    rows, low, high, total = map(int, query(
        packet, 'select count(*), min(i), max(i), (select sum(bal) from acct)'
        ' from log')[0])
    same((low, high, total), (1, rows, 1000), 'a state between two commits')
    assert rows >= told, f'{told} was committed before, {rows} is the last'
    moved = query(packet, 'select bal from acct order by id')
    same(moved, [[str(1000 - rows)], [str(rows)]], 'balances')
    same(recover(packet)['integrity'], 'ok')
    return rows


@each(*[f'{name}-{mode}' for name in PROGRAMS
        for mode in ('wal', 'delete', 'persist')])
@limit(180)
def test_every_commit_told_before_and_none_begun_after_is_in_a_capture_of(
        which):
    name, mode = which.rsplit('-', 1)
    able(name)
    with folder() as d, folder() as out:
        db = make(f'{d}/app.db', f'pragma journal_mode={mode}',
                  'create table log(i integer primary key, x)',
                  'create table acct(id integer primary key, bal int)',
                  'insert into acct values(1, 1000), (2, 0)')
        with at_work(name, out, db) as program:
            told, seen = program.committed(20), 0
            for i in range(CAPTURES):
                r = run('capture', '--timeout', '30', '-o', f'{out}/p{i}', db)
                after = program.begun_from_now()
                r.expect(YES, NOT_CHECKED)
                rows = check(f'{out}/p{i}', told)
                assert rows < after, f'{after} began after it, {rows} is in it'
                assert rows >= seen, (rows, seen)
                seen = rows
                # It goes on, beyond what was captured.
                told = program.committed(max(told, rows))
