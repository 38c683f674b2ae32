"""The shared scenarios: the truth, or a refusal, and never the trap."""
import ast
import contextlib
import os
import re
import subprocess
import sys

from holdfast import (DAMAGED, NO, NOT_CHECKED, REFUSED, TROUBLE, YES,
                      capture, each, folder, has, limit, need_tool, query,
                      recover, run, same, shared, snapshot)

HOLD = '30'


@contextlib.contextmanager
def held(script, *args):
    """The scenario as it holds its state: (pid, all that it printed)."""
    with subprocess.Popen([sys.executable, '-B', shared('scenarios', script),
                           *args], stdout=subprocess.PIPE, text=True,
                          bufsize=1) as child:
        said = ''
        pid = None
        for line in child.stdout:
            said += line
            if m := re.match(r'PID (\d+)', line):
                pid = int(m.group(1))
            if pid and settled(script, said):
                break
        try:
            yield pid, said
        finally:
            child.kill()


def settled(script, said):
    """It printed its last line before it waits."""
    last = {'s01': 'PID', 's08': 'path view', 's09': 'TRUTH', 's18': 'PID'}
    return last[script[:3]] in said


def built(script, *args):
    interpreter = ['bash'] if script.endswith('.sh') else [sys.executable,
                                                           '-B']
    r = subprocess.run([*interpreter, shared('scenarios', script), *args],
                       capture_output=True, text=True)
    same(r.returncode, 0, r.stderr)
    return r.stdout


def test_s01_a_capture_has_the_rows_that_are_only_in_the_wal():
    """The writer has a copy of the database open as well: its one WAL may
    be of either. Once it is dead the directory is ours alone."""
    with folder() as d:
        with held('s01_main_only_copy.py', d, '--hold', HOLD) as (_, said):
            truth = re.search(r'TRUTH rows (\d+)', said).group(1)
            r = run('capture', '--timeout', '0.2', '-o', f'{d}/live',
                    f'{d}/app.db')
            if r.status == REFUSED:
                has(r.err, 'ambiguous')
            else:
                same(query(f'{d}/live', 'select count(*) from notes'),
                     [[truth]])
        capture(f'{d}/app.db', f'{d}/p')
        same(query(f'{d}/p', 'select count(*) from notes'), [[truth]])


@each('main_then_wal', 'wal_then_main')
def test_s02_a_torn_pair_is_never_called_consistent(which):
    with folder() as d:
        built('s02_torn_pair.py', d)
        r = run('recover', '--json', f'{d}/{which}/live.db')
        r.expect(NO, REFUSED, DAMAGED, NOT_CHECKED)
        if r.status == NOT_CHECKED:
            has(str(r.json()['not_checked']).lower(), 'wal')


@each('same_schema', 'other_schema')
def test_s03_a_stale_wal_never_shows_its_old_rows_as_checked(which):
    with folder() as d:
        built('s03_stale_wal_replaced.py', d)
        sql, truth = {
            'same_schema': ('select v, count(*) from t group by 1',
                            [['NEW', '40']]),
            'other_schema': ('select count(*) from zz', [['400']])}[which]
        r = run('query', '--csv', f'{d}/{which}/s.db', sql)
        if r.status != REFUSED:
            same(query(f'{d}/{which}/s.db', sql), truth)
        else:
            has(r.err, 'WAL')


def test_s04_an_alias_shows_the_real_rows_or_is_refused():
    with folder() as d:
        built('s04_hardlink_alias.py', d)
        for name, sql, truth in (
                ('alias.db', 'select count(*) from t', [['50']]),
                ('hot_alias.db', 'select substr(x,1,3), count(*) from t '
                 'group by 1', [['old', '400']])):
            r = run('query', '--csv', f'{d}/{name}', sql)
            if r.status != REFUSED:
                same(query(f'{d}/{name}', sql), truth, name)
            else:
                has(r.err, 'link')
        same(query(f'{d}/hot.db', 'select substr(x,1,3), count(*) from t '
                   'group by 1', '--accept-names'), [['old', '400']])


def test_s08_a_deleted_wal_is_the_writers_own_generation_and_labelled():
    with folder() as d, held('s08_deleted_wal_split.py', d,
                             HOLD) as (_, said):
        truth = ast.literal_eval(
            re.search(r'writer A view (.*)', said).group(1))
        run('capture', '-o', f'{d}/p', f'{d}/split.db').expect(REFUSED)
        got = capture(f'{d}/split.db', f'{d}/p', '--displaced')
        same(got['displaced'], True)
        same(query(f'{d}/p', 'select who, count(*) from t group by 1'),
             [[who, str(n)] for who, n in truth])


def test_s09_a_replaced_main_does_not_borrow_the_sidecars_of_the_other():
    with folder() as d, held('s09_replaced_while_open.py', d,
                             HOLD) as (pid, _):
        for options in ([], ['--pid', str(pid)], ['--displaced']):
            r = run('capture', *options, '-o', f'{d}/p', f'{d}/r.db')
            if options != ['--displaced']:
                r.expect(REFUSED)
                continue
            r.expect(YES, NOT_CHECKED)
            same(query(f'{d}/p', 'select x, count(*) from t group by 1'),
                 [['after', '5'], ['old', '20']])


def test_s13_inspection_has_no_side_effects():
    with folder() as d, folder() as out:
        built('s13_inspector_side_effects.sh', f'{d}/s')
        for kind in ('closed', 'crashed', 'hot', 'ro'):
            sub = f'{d}/s/{kind}'
            before = snapshot(sub)
            recover(f'{sub}/e.db')
            capture(f'{sub}/e.db', f'{out}/{kind}')
            same(query(f'{out}/{kind}', 'select count(*) from t'), [['300']])
            run('diff', f'{sub}/e.db', f'{out}/{kind}').expect(YES,
                                                               NOT_CHECKED)
            same(snapshot(sub), before)


@limit(90)
def test_s18_swapped_names_give_one_held_inode_or_a_refusal():
    with folder() as d, folder() as out, held(
            's18_toctou_swap.py', d, HOLD, '--swap-only'):
        outcomes = []
        for i in range(60):
            packet = f'{out}/p{i}'
            r = run('capture', '--timeout', '0.2', '-o', packet,
                    f'{d}/x.db')
            r.expect(YES, NOT_CHECKED, REFUSED, DAMAGED, TROUBLE)
            outcomes.append(r.status)
            if r.status in (YES, NOT_CHECKED):
                with open(packet, 'rb') as f:
                    assert b'SECRET-CONTENT' not in f.read()
                rows = query(packet, 'select x, count(*) from t group by 1')
                assert rows in ([['AAAA', '100']], [['BBBB', '300']]), rows
        print(outcomes)


@each('before', 'after')
def test_mk_super_a_commit_over_two_databases_is_refused(which):
    need_tool('gcc')
    need_tool('sqlite3')
    with folder() as d:
        built('mk_super.sh', f'{d}/s', which)
        for args in (['recover', f'{d}/s/a.db'],
                     ['query', f'{d}/s/a.db', 'select 1'],
                     ['export', f'{d}/s/a.db', '-o', f'{d}/x'],
                     ['capture', '-o', f'{d}/p', f'{d}/s/a.db']):
            r = run(*args).expect(REFUSED)
            has(r.err, 'super-journal', 'a.db-mj')
        same(sorted(os.listdir(d)), ['s'])
