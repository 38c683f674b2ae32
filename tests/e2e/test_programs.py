"""Real programs that commit all the time, captured in the middle of it.

Each puts a row with the next number and moves a balance in one transaction,
and prints the number when the commit has returned. A capture has every row
that was printed before it began, none that is missing in between, and no
half of a transaction.

node needs a folder with the module better-sqlite3: HOLDFAST_NODE_MODULES, as
made by "npm install better-sqlite3". The others are Debian packages: perl and
libdbd-sqlite3-perl, php-cli and php-sqlite3, tcl and libsqlite3-tcl, sqlite3.
"""
import contextlib
import os
import signal
import subprocess
import sys

from holdfast import (NOT_CHECKED, YES, Skip, each,
                      folder, limit, make, need_tool, query, recover, run,
                      same)

CAPTURES = 6

PYTHON = '''
import sqlite3, sys
c = sqlite3.connect(sys.argv[1], isolation_level=None, timeout=60)
c.execute('pragma synchronous=off')
i = 0
while True:
    i += 1
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
for (let i = 1; ; i++) { one.immediate(i); fs.writeSync(1, i + '\\n'); }
'''
TCL = '''
package require sqlite3
sqlite3 c [lindex $argv 0]
c eval {pragma synchronous=off}
for {set i 1} {1} {incr i} {
    set x [string repeat x [expr {$i % 900}]]
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
begin immediate; insert into log values($i, printf('%.*c', $i % 900, 'x'));
update acct set bal = bal - 1 where id = 1;
update acct set bal = bal + 1 where id = 2; commit; select $i;"; done; } |
exec stdbuf -oL sqlite3 -bail "$1"
'''

# name: (source, command line before it, what must end well for it to run)
PROGRAMS = {
    'python': (PYTHON, [sys.executable], None),
    'perl': (PERL, ['perl'], ['-MDBD::SQLite', '-e', '1']),
    'php': (PHP, ['php'], ['-r', 'exit(class_exists("SQLite3") ? 0 : 1);']),
    'node': (NODE, ['node'], ['-e', 'require(process.env.'
                              'HOLDFAST_NODE_MODULES + "/better-sqlite3")']),
    'tcl': (TCL, ['tclsh'], None),
    'shell': (SHELL, ['sh'], None),
}


def able(name):
    _, argv, probe = PROGRAMS[name]
    tool = need_tool(argv[0])
    if name == 'shell':
        need_tool('sqlite3')
        need_tool('stdbuf')
    if name == 'node' and not os.environ.get('HOLDFAST_NODE_MODULES'):
        raise Skip('needs better-sqlite3 in $HOLDFAST_NODE_MODULES')
    if name == 'tcl':
        done = subprocess.run([tool], input=b'package require sqlite3',
                              capture_output=True)
        if done.stderr:
            raise Skip('needs libsqlite3-tcl')
    if probe and subprocess.run([tool, *probe],
                                capture_output=True).returncode:
        raise Skip(f'{name} has no SQLite')


@contextlib.contextmanager
def at_work(name, d, db):
    source, argv, _ = PROGRAMS[name]
    script = f'{d}/program'
    with open(script, 'w') as f:
        f.write(source)
    child = subprocess.Popen([*argv, script, db], stdout=subprocess.PIPE,
                             start_new_session=True)
    try:
        yield child
    finally:
        os.killpg(child.pid, signal.SIGKILL)
        child.communicate()


def committed(child, beyond):
    """Reads until the program has told of a commit beyond that number."""
    last = 0
    while last <= beyond:
        line = child.stdout.readline()
        assert line, 'the program ended'
        last = int(line)
    return last


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
def test_every_commit_told_before_is_in_a_capture_of(which):
    name, mode = which.rsplit('-', 1)
    able(name)
    with folder() as d, folder() as out:
        db = make(f'{d}/app.db', f'pragma journal_mode={mode}',
                  'create table log(i integer primary key, x)',
                  'create table acct(id integer primary key, bal int)',
                  'insert into acct values(1, 1000), (2, 0)')
        with at_work(name, out, db) as child:
            told, seen = committed(child, 20), 0
            for i in range(CAPTURES):
                r = run('capture', '--timeout', '30', '-o', f'{out}/p{i}', db)
                r.expect(YES, NOT_CHECKED)
                rows = check(f'{out}/p{i}', told)
                assert rows >= seen, (rows, seen)
                seen = rows
                # It goes on, beyond what was captured.
                told = committed(child, max(told, rows))
