"""The attack harness: another file at the very open, and all names back."""
import os
import shutil
import signal
import sqlite3
import subprocess
import sys

from attack_bed import (CONTROLS, EINVAL, KILLABLE, MODES, NEVER, bed,
                        compiled, inode, lines, matched)
from holdfast import (SANITIZED, Skip, as_nobody, digest, each, folder, has,
                      lacks, limit, make, need_root, need_tool, run, same)


# The very open

@each(*((m, c) for m in MODES for c in ('open', 'openat', 'openat2', 'make',
                                        'no-link')))
def test_it_reads_the_substitute_and_the_name_shows_the_original(how):
    mode, call = how
    with bed() as b:
        b.fooled(b.opens(call, options=('--mode', mode)))


@each(*MODES)
def test_a_static_program_is_fooled(mode):
    with bed() as b:
        with folder() as d:
            try:
                target = compiled('attack_target.c', f'{d}/static', '-static')
            except subprocess.CalledProcessError:
                raise Skip('needs a static libc')
            b.fooled(b.opens('openat', target=target,
                             options=('--mode', mode)))


def databases(d):
    for name in ('app', 'evil'):
        make(f'{d}/{name}.db', 'create table t(x)',
             (f"insert into t values('{name} row')",))
    return {n: (inode(f'{d}/{n}'), digest(f'{d}/{n}'))
            for n in ('app.db', 'evil.db')}


@each(*MODES)
def test_sqlite3_dumps_the_substitute(mode):
    sqlite = need_tool('sqlite3')
    with folder() as d:
        before = databases(d)
        for command in ([sqlite, 'app.db', '.dump'],
                        ['sh', '-c', f'cd / && {sqlite} {d}/app.db .dump'],
                        ['env', 'sh', '-c', f'{sqlite} ./app.db .dump; true']):
            r = run('attack', '--swap', 'app.db=evil.db', '--mode', mode,
                    '--', *command, program=CONTROLS, cwd=d).expect(0)
            has(r.out, 'evil row')
            lacks(r.out, 'app row')
        same({n: (inode(f'{d}/{n}'), digest(f'{d}/{n}'))
              for n in os.listdir(d)}, before)


@each(*MODES)
def test_python_reads_the_substitute_and_its_checks_pass(mode):
    script = ('import os, sys; p = sys.argv[1]; a = os.stat(p)\n'
              'text = open(p).read(); b = os.stat(p)\n'
              'print(text.strip(), a.st_ino == b.st_ino, a.st_dev =='
              ' b.st_dev, os.path.realpath(p) == p)')
    with bed() as b:
        r = b.attack('--mode', mode,
                     command=[sys.executable, '-c', script, b.app])
        same(r.expect(0).out.split(), ['EVIL', 'True', 'True', 'True'])


@limit(240)
def test_two_hundred_of_two_hundred_opens_beside_threads_that_look():
    with bed() as b:
        for _ in range(200):
            words = b.opens('threads')
            same(words[:2], ['0', 'strange'])
            b.fooled(words[2:])
            b.straight()


@each(*MODES)
def test_a_thread_that_makes_no_call_does_not_hold_the_others(mode):
    with bed() as b:
        words = b.opens('threads', 'spin', options=('--mode', mode,
                                                    '--deadline', '20'))
        same(words[:2], ['0', 'strange'])
        b.fooled(words[2:])


# However the path is spelled

def spellings(b):
    os.makedirs(f'{b.d}/sub/deep')
    os.symlink(b.d, f'{b.d}/sub/folder')
    os.symlink('../app', f'{b.d}/sub/link')
    os.symlink('sub/link', f'{b.d}/first')
    b.listing = b.look()
    return {
        'relative': ('open', 'app'),
        'dots': ('open', f'./sub/..//sub/deep/../../app'),
        'root': ('open', '/..' + b.app),
        'folder link': ('open', 'sub/folder/app'),
        'link': ('open', 'sub/link'),
        'links': ('open', 'first'),
        'cwd': ('open', '/proc/self/cwd/app'),
        'root link': ('open', '/proc/self/root' + b.app),
        'below': ('below', 'app', 'sub', '../app'),
        'below link': ('below', 'app', 'sub', 'link'),
        'proc': ('through-proc', 'app', b.d, 'app'),
        'proc up': ('through-proc', 'app', 'sub', '../sub/folder/app'),
    }


SPELLINGS = ('relative', 'dots', 'root', 'folder link', 'link', 'links',
             'cwd', 'root link', 'below', 'below link', 'proc', 'proc up')


@each(*SPELLINGS)
def test_any_spelling_is_the_same_file(name):
    with bed() as b:
        verb, path, *more = spellings(b)[name]
        b.fooled(b.opens(verb, *more, path=path, cwd=b.d))
        b.fooled(b.opens(verb, *more, path=path, cwd=b.d,
                         options=('--mode', 'inject')))


def test_a_name_may_be_a_link_itself():
    with bed() as b:
        os.symlink('app', f'{b.d}/link')
        b.listing = b.look()
        swap = f'{b.d}/link={b.evil}'
        b.fooled(b.opens('open', path=f'{b.d}/link', swap=swap))


@each('another name', 'another folder', 'a link not followed', 'beneath')
def test_another_file_is_left_alone(what):
    with bed() as b:
        os.mkdir(f'{b.d}/sub')
        os.link(b.app, f'{b.d}/second')
        os.link(b.app, f'{b.d}/sub/app')
        os.symlink('app', f'{b.d}/link')
        b.listing = b.look()
        verb, path, *more = {
            'another name': ('open', 'second'),
            'another folder': ('open', 'sub/app'),
            'a link not followed': ('no-link', 'link'),
            # RESOLVE_BENEATH: the kernel refuses it, and so nothing is hit.
            'beneath': ('openat2', b.app, '8'),
        }[what]
        words = b.opens(verb, *more, path=path, cwd=b.d, status=NEVER)
        lacks(' '.join(words), 'EVIL')


def test_what_is_opened_again_by_descriptor_has_no_name():
    with bed() as b:
        report = f'{b.d}/report'
        b.listing['report'] = 0
        words = b.opens('again', options=('--report', report, '--at', '2'),
                        status=NEVER)
        same(words[0], 'GOOD')
        same([x['done'] for x in matched(report)],
             ['passed', 'by descriptor'])
        words = b.opens('again', options=('--report', report, '--mode',
                                          'inject'))
        same([x['done'] for x in matched(report)],
             ['not injected: O_PATH', 'injected'])
        b.fooled(words)
        os.unlink(report)
        del b.listing['report']


# Which open

def test_at_n_is_the_nth_open_of_the_run_alone():
    script = ('import sys, subprocess\n'
              'p = sys.argv[1]\n'
              'for i in range(2): print(open(p).read().strip())\n'
              'subprocess.run(["cat", p, p])')
    with bed() as b:
        for n in range(1, 5):
            r = b.attack('--at', str(n),
                         command=[sys.executable, '-uc', script, b.app])
            want = ['GOOD'] * 4
            want[n - 1] = 'EVIL'
            same(r.expect(0).out.split(), want)
        r = b.attack('--at', '5',
                     command=[sys.executable, '-uc', script, b.app])
        r.expect(NEVER)
        has(r.err, 'never took place', '4 opens', 'number 5')
        r = b.attack('--every',
                     command=[sys.executable, '-uc', script, b.app])
        same(r.expect(0).out.split(), ['EVIL'] * 4)


def test_several_names_are_attacked_in_one_run():
    with bed() as b:
        for n in ('two', 'evil-two'):
            with open(f'{b.d}/{n}', 'w') as f:
                f.write(n + '\n')
        b.listing = b.look()
        both = ('--swap', f'{b.d}/two={b.d}/evil-two')
        r = b.attack(*both, command=['cat', b.app, f'{b.d}/two'])
        same(r.expect(0).out.split(), ['EVIL', 'evil-two'])
        r = b.attack(*both, command=['cat', b.app])
        r.expect(NEVER)
        has(r.err, 'on two never took place')


@each('held off', 'may restart a call')
def test_no_open_is_lost_to_signals(signals):
    with bed() as b:
        prefix = [] if signals == 'held off' else \
            [compiled('attack_seccomp.c', f'{b.d}/older'), str(KILLABLE),
             str(EINVAL)]
        report = f'{b.d}/report'
        for mode in MODES:
            words = b.opens('signals', '200', 'EVIL', prefix=prefix,
                            options=('--mode', mode, '--report', report))
            same(words, ['200', '200', 'signals'])
            same(lines(report)[-1]['signals'], signals)
            same(lines(report)[-1]['swaps'][0]['attacks'], 200)
        b.listing = b.look()


# Files that are not there

def test_a_file_can_be_there_for_the_open_alone():
    with bed() as b:
        path = f'{b.d}/app-wal'
        swap = f'{path}={b.evil}'
        same(b.opens('open', path=path, swap=swap),
             ['EVIL', str(b.evil_ino), '0'])
        b.straight()
        words = b.opens('open', path=path, swap=swap,
                        options=('--mode', 'inject'))
        same(words, ['EVIL', str(b.evil_ino), '0'])


def test_a_file_can_be_absent_for_the_open_alone():
    with bed() as b:
        for mode in MODES:
            r = b.attack('--mode', mode, command=[b.target, 'open', b.app],
                         swap=f'{b.app}=-').expect(0)
            same(r.out.strip(), f'No such file or directory - {b.good_ino}')
            b.straight()
        words = b.opens('make', swap=f'{b.app}=-')
        assert words[0] != str(b.good_ino), words
        same(words[1], str(b.good_ino))


def test_an_exclusive_open_meets_the_substitute():
    with bed() as b:
        for mode in MODES:
            r = b.attack('--mode', mode,
                         command=[b.target, 'make-new', f'{b.d}/new'],
                         swap=f'{b.d}/new={b.evil}').expect(0)
            same(r.out, 'File exists - 0\n')


def test_a_wal_that_appears_at_the_open_plants_its_rows():
    sqlite = need_tool('sqlite3')
    with folder() as d:
        c = sqlite3.connect(f'{d}/made.db', isolation_level=None)
        c.executescript('pragma journal_mode=wal; create table t(x);'
                        "insert into t values('before');"
                        'pragma wal_checkpoint(truncate);')
        shutil.copy(f'{d}/made.db', f'{d}/app.db')
        c.execute("insert into t values('planted')")
        shutil.copy(f'{d}/made.db-wal', f'{d}/evil-wal')
        c.close()
        before = inode(f'{d}/app.db'), inode(f'{d}/evil-wal')
        ask = [sqlite, f'{d}/app.db', 'select x from t']
        same(subprocess.run(ask, capture_output=True, check=True).stdout,
             b'before\n')
        r = run('attack', '--swap', f'{d}/app.db-wal={d}/evil-wal', '--',
                *ask, program=CONTROLS).expect(0)
        same(r.out, 'before\nplanted\n')
        same((inode(f'{d}/app.db'), inode(f'{d}/evil-wal')), before)
        same(inode(f'{d}/app.db-wal'), 0)


# What the descriptor may

def test_an_injected_descriptor_has_the_mode_that_was_asked_for():
    with bed() as b:
        same(b.opens('flags', options=('--mode', 'inject')), ['1', '1'])
        script = f'exec 3<>{b.app}; echo CHANGED >&3'
        b.attack('--mode', 'inject', command=['sh', '-c', script]).expect(0)
        with open(b.evil) as f:
            same(f.read(), 'CHANGED\n')
        with open(b.evil, 'w') as f:
            f.write('EVIL\n')


def test_there_is_no_way_around_by_io_uring():
    with bed() as b:
        words = b.opens('uring')
        same(words[:3], ['Function', 'not', 'implemented'])
        b.fooled(words[3:])


def test_calls_of_other_tables_do_not_pass():
    if os.uname().machine != 'x86_64':
        raise Skip('needs x86_64')
    with bed() as b:
        bare = run('foreign', b.app, program=b.target)
        if 'went on' not in bare.out:
            raise Skip('this kernel runs no 32-bit calls')
        r = b.attack(command=[b.target, 'foreign', b.app])
        r.expect(128 + signal.SIGSYS)
        same(r.out, 'Function not implemented\n')


# Who runs it, and what it says

def test_it_works_without_any_rights():
    need_root()
    if SANITIZED:
        raise Skip('the sanitizer needs more rights')
    with bed() as b:
        copy = shutil.copy(CONTROLS, f'{b.d}/controls')
        subprocess.run(['chmod', '-R', 'a+rwX', b.d], check=True)
        subprocess.run(['chown', '-R', '65534:65534', b.d], check=True)
        b.listing = b.look()
        for mode in MODES:
            b.fooled(b.opens('open', options=('--mode', mode), program=copy,
                             prefix=as_nobody()))


def test_the_report_names_every_open():
    with bed() as b:
        report = f'{b.d}/report'
        os.symlink('app', f'{b.d}/l\udcffnk'.encode(errors='surrogateescape'))
        b.attack('--report', report, '--at', '2', cwd=b.d,
                 command=['sh', '-c', 'cat ./l*; cat app']).expect(0)
        first, second = matched(report)
        same((first['path'], first['done'], first['open'], first['resolved']),
             ('./l\\xffnk', 'passed', 1, os.path.realpath(b.app)))
        same((second['path'], second['done'], second['swap'], second['flags'],
              second['call']),
             ('app', 'exchanged', 'app', 'O_RDONLY', 'openat'))
        same(second['thread'], second['process'])
        assert second['descriptor'] > 2 and second['window_ns'] > 0, second
        summary = lines(report)[-1]
        same(summary['swaps'], [{'name': 'app', 'substitute': 'evil',
                                 'opens': 2, 'attacks': 1}])
        same((summary['kind'], summary['mode'], summary['status'],
              summary['opens']),
             ('summary', 'rename', 0, len(lines(report)) - 1))
        b.listing = b.look()
