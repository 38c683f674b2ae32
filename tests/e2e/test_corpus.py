"""Real database files, with what stock SQLite said of each."""
import csv
import os
import shutil
import subprocess

from holdfast import (DAMAGED, NO, NOT_CHECKED, REFUSED, SIDECARS, Skip, YES,
                      each, fingerprint, folder, limit, need_tool, run, same,
                      shared)

GROUPS = ['app', 'encrypted', 'equiv', 'gen', 'geo', 'hexdb', 'near', 'odd',
          'orphan', 'plain', 'sidecar', 'walonly']


def corpus():
    try:
        return os.environ.get('HOLDFAST_CORPUS') or shared('corpus')
    except Skip:
        raise Skip('no shared/corpus beside the project') from None


def manifest(group):
    with open(os.path.join(corpus(), 'manifest.tsv')) as f:
        return [r for r in csv.DictReader(f, delimiter='\t',
                                          quoting=csv.QUOTE_NONE)
                if r['file'].startswith(group + '/')]


def copied(row, sub):
    """The file with its sidecars, in a folder that is ours."""
    source = os.path.join(corpus(), row['file'])
    target = os.path.join(sub, os.path.basename(source))
    for suffix in SIDECARS:
        if os.path.exists(source + suffix):
            shutil.copy(source + suffix, target + suffix)
            os.chmod(target + suffix, 0o600)
    return target


@each(*GROUPS)
@limit(240)
def test_every_file_has_a_documented_answer(group):
    wrong = []
    for row in manifest(group):
        with folder() as d:
            db = copied(row, d)
            for args in (['recover', '--json', db], ['diff', db, db]):
                r = run(*args, timeout=120)
                if r.status not in (YES, NO, REFUSED, DAMAGED, NOT_CHECKED):
                    wrong.append((row['file'], args[0], r.status, r.err))
                if r.status not in (YES, NO, NOT_CHECKED) and not r.err:
                    wrong.append((row['file'], args[0], 'no sentence'))
    same(wrong, [])


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


@each('encrypted', 'hexdb')
def test_no_damaged_file_is_called_sound(group):
    for row in manifest(group):
        if row['integrity'] == 'ok':
            continue
        with folder() as d:
            r = run('recover', copied(row, d), timeout=120)
            assert r.status not in (YES, NOT_CHECKED), (row['file'], r.out)


def test_equivalent_files_have_one_fingerprint():
    seen = set()
    for row in manifest('equiv'):
        with folder() as d:
            seen.add(fingerprint(copied(row, d)))
    same(len(seen), 1)


def test_near_files_all_have_their_own_fingerprint_and_a_delta():
    rows = manifest('near')
    with folder() as d:
        paths = [copied(row, d) for row in rows]
        same(len({fingerprint(p) for p in paths}), len(paths))
        base = f'{d}/base.db'
        for p in paths:
            run('diff', base, p).expect(YES if p == base else NO)
            run('verify', '--unchanged', base, p).expect(
                YES if p == base else NO)
