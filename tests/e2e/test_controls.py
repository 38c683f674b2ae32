"""The attack controls: each one holds, and the run is honest about it."""
import ctypes
import json
import os
import re
import shlex
import shutil
import signal
import subprocess
import xml.etree.ElementTree

from holdfast import (BUILD, HOLDFAST, NO, ROOT, SANITIZED, TROUBLE, USAGE,
                      YES, Skip, each, folder, has, lacks, limit, need_tool,
                      run, same, spawn)

CONTROLS = os.path.join(BUILD, 'bin', 'holdfast-controls')
FIELDS = ('id', 'title', 'attack', 'predecessor', 'symptom', 'expected',
          'inverse', 'needs')
# Two that stock programs suffice for, and one of them only git.
COPY, GIT = 'main-only-copy', 'swapped-program'
FILTER = 'forbidden-calls'


def listed():
    if not os.path.exists(CONTROLS):
        return []
    out = subprocess.run([CONTROLS, 'list', '--json'], check=True,
                         capture_output=True, text=True).stdout
    return [json.loads(line) for line in out.splitlines()]


def controls(*args, **more):
    return run(*args, program=CONTROLS, **more)


@limit(120)
@each(*(c['id'] for c in listed()))
def test_control_holds(name):
    if SANITIZED and name == FILTER:
        raise Skip('a sanitizer build has a wider filter')
    r = controls('run', '--json', name, timeout=100)
    told = r.lines()[0]
    if told['outcome'] == 'skipped':
        raise Skip(told['reasons'][0])
    same((told['outcome'], told['reasons'], told['left']), ('held', [], []))
    assert told['examined'] > 0, told
    r.expect(YES)


# What it is made of

def test_nothing_of_the_other_rooms_is_included_or_linked():
    room = os.path.join(ROOT, 'controls')
    for name in sorted(os.listdir(room)):
        with open(os.path.join(room, name)) as f:
            for header in re.findall(r'^#\s*include\s+"([^"]+)"', f.read(),
                                     re.M):
                same((name, os.path.dirname(header)), (name, 'controls'))
    build = os.path.relpath(BUILD, ROOT)
    out = subprocess.run(
        ['make', '-n', '-W', 'controls/main.c', f'BUILD={build}',
         f'{build}/bin/holdfast-controls'], cwd=ROOT, check=True,
        capture_output=True, text=True).stdout
    line = [x for x in out.splitlines() if f'{build}/bin/holdfast-con' in x]
    words = shlex.split(line[-1])
    objects = [w for w in words if w.endswith(('.o', '.a'))]
    same({os.path.dirname(o) for o in objects}, {f'{build}/controls'})
    same(len(objects), len([n for n in os.listdir(room)
                            if n.endswith('.c')]))
    same(sorted(w for w in words if w.startswith('-l')),
         ['-lcjson', '-lcrypto', '-lseccomp', '-lsqlite3'])


def test_the_page_of_the_controls_is_what_the_list_says():
    with open(os.path.join(ROOT, 'docs', 'CONTROLS.md')) as f:
        same(f.read(), controls('list', '--markdown').expect(YES).out)


def test_every_control_says_all_that_one_wants_to_know():
    ids = [c['id'] for c in listed()]
    same(len(ids), len(set(ids)))
    text = controls('list').expect(YES).out
    for c in listed():
        assert re.fullmatch('[a-z0-9]+(-[a-z0-9]+)*', c['id']), c
        for field in FIELDS:
            assert c[field].strip(), (c['id'], field)
            has(text, c[field])


def test_the_jobs_to_copy_run_as_they_stand():
    with open(os.path.join(ROOT, 'docs', 'CI.md')) as f:
        lines = re.findall(r'build/bin/holdfast (controls run .*)', f.read())
    same(len(lines), 2)
    for line in lines:
        with folder() as d:
            run(*line.split(), COPY, cwd=d).expect(YES)
            xml.etree.ElementTree.parse(f'{d}/controls.xml')


# Who is fooled, and how that is told

def fake(d):
    """A product whose capture is a copy of main under its name."""
    path = f'{d}/fake'
    with open(path, 'w') as f:
        f.write('#!/bin/sh\ncase $1 in capture) ;; *) exec '
                f'{shlex.quote(HOLDFAST)} "$@";; esac\n'
                'while [ $# -gt 1 ]; do case $1 in -o) to=$2;; esac; shift;'
                ' done\ncp "$1" "$to" && echo "{}"\n')
    os.chmod(path, 0o755)
    return path


def test_a_product_that_is_fooled_fails_the_run_and_is_named():
    with folder() as d:
        junit = f'{d}/j.xml'
        args = ('run', '--product', fake(d), '--junit', junit, COPY)
        r = controls(*args).expect(NO)
        has(r.out, 'FOOLED', f'{COPY}: the product is fooled: shows 40|2000')
        r = controls(*args, '--tap').expect(NO)
        has(r.out, f'not ok 1 - {COPY}\n', 'outcome: "FOOLED"')
        r = controls(*args, '--json').expect(NO)
        same([x.get('outcome') for x in r.lines()], ['FOOLED', None])
        same((r.summary()['verdict'], r.summary()['fooled']), ('fail', 1))
        same(r.summary()['product'], fake(d))
        suite = xml.etree.ElementTree.parse(junit).getroot()[0]
        same((suite.get('tests'), suite.get('failures')), ('1', '1'))
        same(suite[0].find('failure').get('type'), 'FOOLED')


def test_a_product_that_refuses_all_fails_without_the_attack():
    with folder() as d:
        path = f'{d}/no'
        with open(path, 'w') as f:
            f.write('#!/bin/sh\necho app.db-wal: no >&2; exit 3\n')
        os.chmod(path, 0o755)
        r = controls('run', '--product', path, COPY,
                     'sidecar-symlink').expect(NO)
        has(r.out, 'the product is wrong without the attack: exit 3')


def test_each_form_of_a_run_that_holds_is_well_formed():
    with folder() as d:
        r = controls('run', '--tap', '--junit', f'{d}/j.xml', COPY,
                     'journal-left-out').expect(YES)
        lines = r.out.splitlines()
        same(lines[:2], ['TAP version 13', '1..2'])
        same([x for x in lines if re.match('(not )?ok ', x)],
             [f'ok 1 - {COPY}', 'ok 2 - journal-left-out'])
        same(lines.count('  ---'), 2)
        same(lines.count('  ...'), 2)
        suite = xml.etree.ElementTree.parse(f'{d}/j.xml').getroot()[0]
        same([c.get('name') for c in suite], [COPY, 'journal-left-out'])
        same((suite.get('tests'), suite.get('failures'),
              suite.get('skipped')), ('2', '0', '0'))
        same(sorted(os.listdir(d)), ['j.xml'])
        r = controls('run', '--json', COPY).expect(YES)
        told, summary = r.lines()
        for field in FIELDS + ('outcome', 'examined', 'left', 'reasons',
                               'predecessor_showed', 'product_did',
                               'predecessor_without', 'product_without'):
            assert field in told, field
        same((summary['kind'], summary['verdict'], summary['held']),
             ('summary', 'pass', 1))
        same(summary['examined'], told['examined'])


def path_without_sqlite3(d):
    """PATH of a folder that has git, sh and what they need, no sqlite3."""
    os.mkdir(f'{d}/path')
    for name in ('git', 'sh', 'sha256sum', 'cp'):
        os.symlink(shutil.which(name) or need_tool(name), f'{d}/path/{name}')
    return {**os.environ, 'PATH': f'{d}/path'}


def test_what_cannot_run_fails_the_run_unless_that_is_allowed():
    with folder() as d:
        env = path_without_sqlite3(d)
        r = controls('run', '--tap', COPY, GIT, env=env).expect(NO)
        has(r.out, f'not ok 1 - {COPY}\n', 'needs sqlite3', f'ok 2 - {GIT}')
        r = controls('run', COPY, GIT, env=env).expect(NO)
        has(r.out, 'skipped', f'{COPY}: needs sqlite3', '--allow-skip')
        r = controls('run', '--tap', '--allow-skip', '--junit', f'{d}/j',
                     COPY, GIT, env=env).expect(YES)
        has(r.out, f'\nok 1 - {COPY} # SKIP needs sqlite3\n')
        suite = xml.etree.ElementTree.parse(f'{d}/j').getroot()[0]
        same((suite.get('failures'), suite.get('skipped')), ('0', '1'))
        controls('run', '--allow-skip', COPY, env=env).expect(NO)


@each('run nonsense', 'run --tap --json', 'run --product /nonexistent',
      'run --nonsense', 'list x', 'list --json --markdown', 'nonsense', '')
def test_a_wrong_command_line_is_exit_two_and_a_sentence(line):
    r = controls(*line.split()).expect(USAGE)
    assert r.err and not r.out, r.out


def test_a_junit_file_that_cannot_be_written_is_trouble():
    with folder() as d:
        r = controls('run', '--junit', f'{d}/none/j.xml', COPY)
        has(r.expect(TROUBLE).err, f'{d}/none/j.xml')


def test_the_front_end_hands_its_words_over():
    same(run('controls', '--help').expect(YES).out,
         controls('--help').expect(YES).out)
    same(run('controls', 'list').expect(YES).out,
         controls('list').expect(YES).out)


# What stays

PR_SET_CHILD_SUBREAPER = 36


def begun(tmp):
    """A run that has shown its first control, with orphans coming to us."""
    same(ctypes.CDLL(None).prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0), 0)
    child = spawn('run', '--json', program=CONTROLS,
                  env={**os.environ, 'TMPDIR': tmp})
    has(child.stdout.readline().decode(), '"outcome"')
    return child


def wait_for_all():
    try:
        while True:
            os.wait()
    except ChildProcessError:
        pass


@each('SIGINT', 'SIGTERM', 'SIGKILL')
def test_a_run_that_is_ended_leaves_no_process_and_no_file(name):
    with folder() as tmp:
        child = begun(tmp)
        child.send_signal(getattr(signal, name))
        same(child.wait(30), -getattr(signal, name))
        wait_for_all()
        same(os.listdir(tmp), [])
        child.stdout.close()
        child.stderr.close()


def test_a_run_leaves_nothing():
    with folder() as tmp:
        same(ctypes.CDLL(None).prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0), 0)
        controls('run', COPY, 'sidecar-fifo',
                 env={**os.environ, 'TMPDIR': tmp}).expect(YES)
        same(os.listdir(tmp), [])
        try:
            pid, _ = os.waitpid(-1, os.WNOHANG)
            raise AssertionError(f'process {pid} was left')
        except ChildProcessError:
            pass


def test_a_listing_has_no_path_of_this_machine():
    lacks(controls('list').expect(YES).out, ROOT, '/tmp')
