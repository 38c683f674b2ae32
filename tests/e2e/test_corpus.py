"""Real database files, with what stock SQLite said of each."""
import collections
import csv
import os
import shutil
import subprocess

import stock
import walfile
from holdfast import (DAMAGED, NO, NOT_CHECKED, REFUSED, SIDECARS, Skip, YES,
                      diff, each, folder, limit, need_tool, run, same, shared)

GROUPS = ['app', 'encrypted', 'equiv', 'gen', 'geo', 'hexdb', 'near', 'odd',
          'orphan', 'plain', 'sidecar', 'walonly']

# Where stock SQLite says something else, and why that is no mistake here.
OTHERWISE = {
    'plain/libsql_vector_index_v2.db':
        'integrity_check can not be prepared, since an index calls a function'
        ' of libsql. Here the structure and the tables without it are'
        ' checked, and the answer says of which it was not.',
}


def corpus():
    try:
        return os.environ.get('HOLDFAST_CORPUS') or shared('corpus')
    except Skip:
        raise Skip('no shared/corpus beside the project') from None


def manifest(*groups):
    with open(os.path.join(corpus(), 'manifest.tsv')) as f:
        return [r for r in csv.DictReader(f, delimiter='\t',
                                          quoting=csv.QUOTE_NONE)
                if r['file'].split('/')[0] in groups]


def copied(row, sub):
    """The file with its sidecars, in a folder that is ours."""
    source = os.path.join(corpus(), row['file'])
    target = os.path.join(sub, os.path.basename(source))
    for suffix in SIDECARS:
        if os.path.exists(source + suffix):
            shutil.copy(source + suffix, target + suffix)
            os.chmod(target + suffix, 0o600)
    return target


def wal_account(db, got):
    """What recover says of the WAL is what its format says."""
    if not os.path.exists(db + '-wal'):
        same((got['wal']['frames'], got['wal']['damaged']), (0, 0))
        return
    with open(db + '-wal', 'rb') as f:
        want = walfile.account(f.read())
    same({k: got['wal'][k] for k in walfile.KEYS},
         {k: want[k] for k in walfile.KEYS}, 'account of the WAL')


def compare(row, db):
    """Answers are stock SQLite's, or both see damage."""
    r = run('recover', '--json', db, timeout=120)
    r.expect(YES, NO, REFUSED, DAMAGED, NOT_CHECKED)
    with stock.opened(db) as c:
        integrity, rows = stock.integrity(c), stock.rows(c)
        keys = stock.foreign_keys(c)
    if r.status in (REFUSED, DAMAGED):
        assert r.err.strip(), 'no sentence'
        assert integrity != 'ok' or None in rows.values(), integrity
        return
    got = stock.agrees(db, status=(r.status,)) if integrity == 'ok' or \
        row['file'] in OTHERWISE else r.json()
    same((got['integrity'] == 'ok', got['foreign_keys']),
         (integrity == 'ok', keys), 'integrity, foreign keys')
    same({t['name']: t['rows'] for t in got['tables']}, rows)
    same(r.status == NOT_CHECKED, bool(got['not_checked'])
         and got['integrity'].startswith('ok') and not keys, 'not checked')
    wal_account(db, got)


@each(*GROUPS)
@limit(240)
def test_every_file_is_read_as_stock_sqlite_reads_it(group):
    wrong = examined = 0
    for row in manifest(group):
        if group == 'sidecar' and row['kind'] not in ('db', 'empty'):
            continue
        with folder() as d:
            db = copied(row, d)
            try:
                compare(row, db)
            except AssertionError as e:
                print(row['file'], e)
                wrong += 1
            examined += 1
    same(wrong, 0)
    assert examined > 0


@each(*GROUPS)
@limit(240)
def test_every_command_has_a_documented_answer(group):
    wrong = []
    for row in manifest(group):
        if group == 'sidecar' and row['kind'] not in ('db', 'empty'):
            continue
        with folder() as d:
            db = copied(row, d)
            names = sorted(os.listdir(d))
            for args in (['diff', db, db], ['query', db, 'select 1']):
                r = run(*args, timeout=120)
                if r.status not in (YES, NO, REFUSED, DAMAGED, NOT_CHECKED) \
                        or (r.status in (REFUSED, DAMAGED) and not r.err):
                    wrong.append((row['file'], args[0], r.status, r.err))
            same(sorted(os.listdir(d)), names)
    same(wrong, [])


def test_sidecars_without_main_are_no_database():
    for row in manifest('orphan'):
        with folder() as d:
            db = copied(row, d)
            main = db.removesuffix('-wal').removesuffix('-shm')
            for args in (['recover', main], ['query', main, 'select 1'],
                         ['diff', main, main]):
                r = run(*args)
                assert r.status not in (YES, NO, NOT_CHECKED), (r.status, row)
            assert not os.path.exists(main)


def test_a_wal_is_read_beside_the_main_that_it_was_written_for():
    with folder() as d:
        db = f'{d}/app.db'
        shutil.copy(os.path.join(corpus(), 'plain/rqlite_plan_main.db'), db)
        shutil.copy(os.path.join(corpus(), 'walonly/rqlite_plan_wal-00'),
                    db + '-wal')
        got = stock.agrees(db)
        wal_account(db, got)
        assert got['wal']['commits'] > 0, got['wal']


@each('app', 'equiv', 'gen', 'geo', 'near', 'plain', 'sidecar')
@limit(240)
def test_an_export_has_the_content_that_stock_sqlite_saw(group):
    sqlite = need_tool('sqlite3')
    wrong = compared = 0
    for row in manifest(group):
        if row['kind'] != 'db' or row['integrity'] != 'ok':
            continue
        with folder() as d:
            db = copied(row, d)
            r = run('export', db, '-o', f'{d}/x', timeout=120)
            if r.status not in (YES, NO, NOT_CHECKED):
                print(row['file'], r.status, r.err)
                wrong += 1
                continue
            got = subprocess.run([sqlite, f'{d}/x', '.sha3sum --schema'],
                                 capture_output=True, text=True).stdout
            compared += 1
            if not got.startswith(row['sha3_schema']):
                print(row['file'], 'differs:', got)
                wrong += 1
    same(wrong, 0)
    assert compared > 0


SETTINGS = ('user_version', 'application_id', 'auto_vacuum')


def test_equal_by_fingerprint_exactly_where_sql_sees_no_difference():
    """Content by .sha3sum, and the settings that it leaves out."""
    by_content, by_print = (collections.defaultdict(set) for _ in range(2))
    for row in manifest('app', 'equiv', 'gen', 'geo', 'near', 'plain',
                        'sidecar'):
        if row['kind'] not in ('db', 'empty') or row['integrity'] != 'ok':
            continue
        with folder() as d:
            db = copied(row, d)
            got = run('recover', '--json', db).json()
            with stock.opened(db) as c:
                settings = tuple(c.execute(f'pragma {s}').fetchone()[0]
                                 for s in SETTINGS)
        by_content[row['sha3_schema'], settings].add(row['file'])
        by_print[got['fingerprint']].add(row['file'])
    groups = [sorted(map(sorted, x.values())) for x in (by_content, by_print)]
    same(groups[1], groups[0])
    assert sum(len(g) > 1 for g in groups[0]) >= 4, groups[0]


@each('equiv', 'near')
def test_diff_and_verify_judge_the_groups_as_they_were_made(group):
    rows = manifest('near', 'equiv')
    with folder() as d:
        paths = {}
        for row in rows:
            os.makedirs(f'{d}/{os.path.dirname(row["file"])}', exist_ok=True)
            paths[row['file']] = copied(row, f'{d}/'
                                        + os.path.dirname(row['file']))
        base = paths['near/base.db']
        for file, path in paths.items():
            if not file.startswith(group):
                continue
            equal = file.startswith('equiv') or file == 'near/base.db'
            status, _, summary = diff(base, path)
            same((status, summary['equal']), (YES if equal else NO, equal))
            run('verify', '--unchanged', base, path).expect(
                YES if equal else NO)
