"""What odd operands are told: what is wrong, in which file, and what to do."""
import ctypes
import os
import re
import shutil
import subprocess

from holdfast import (BUILD, DAMAGED, NOT_CHECKED, REFUSED, SANITIZED,
                      TROUBLE, USAGE, YES, Writer, bank, beside, capture,
                      each, folder, has, lacks, make, need_tool, run, same)

COMMANDS = {
    'recover': ('recover',),
    'query': ('query',),
    'diff': ('diff', 'p'),
    'verify': ('verify', '--unchanged', 'p'),
    'export': ('export', '-o', 'new'),
    'capture': ('capture', '-o', 'new'),
    'check': ('capture', '--check'),
}


def asked(command, path, d):
    tail = ('select 1',) if command == 'query' else ()
    r = run(*COMMANDS[command], path, *tail, cwd=d)
    assert not os.path.exists(f'{d}/new'), r.text()
    return r


@each(*COMMANDS)
def test_a_path_that_leads_to_no_file_is_called_what_it_is(command):
    with folder() as d:
        make(f'{d}/app.db', 'create table t(a)')
        capture(f'{d}/app.db', f'{d}/p')
        os.mkdir(f'{d}/dir')
        os.mkfifo(f'{d}/fifo')
        os.symlink('nowhere', f'{d}/dangling')
        os.symlink('loop', f'{d}/loop')
        for path, status, words in (
                ('missing', TROUBLE, 'missing: not found'),
                ('missing/x', TROUBLE, 'missing/x: not found'),
                ('dangling', TROUBLE, 'what it names is not there'),
                ('loop', TROUBLE, 'symbolic links'),
                ('app.db/x', TROUBLE, 'Not a directory'),
                ('dir', REFUSED, 'a directory, not a regular file'),
                ('fifo', REFUSED, 'a FIFO, not a regular file'),
                ('/dev/null', REFUSED, 'a device, not a regular file'),
                ('', USAGE, 'an empty argument')):
            r = asked(command, path, d).expect(status)
            has(r.err, words, path)


@each(*COMMANDS)
def test_who_names_a_sidecar_is_shown_the_database(command):
    with folder() as d, Writer() as w:
        bank(w, f'{d}/app.db')
        capture(f'{d}/app.db', f'{d}/p')
        for suffix in ('-wal', '-shm'):
            r = asked(command, f'app.db{suffix}', d).expect(REFUSED)
            has(r.err, f'by its name it is the {suffix[1:]} of the database '
                'app.db', 'name the database itself')
        r = asked(command, 'app.db-journal', d).expect(TROUBLE)
        has(r.err, 'not found', 'the database itself is there: app.db')


def test_a_journal_is_a_sidecar_too_but_no_file_without_a_database():
    with folder() as d:
        db = make(f'{d}/app.db', 'create table t(a)')
        shutil.copy(db, f'{d}/app.db-journal')
        shutil.copy(db, f'{d}/sole-journal')
        has(asked('recover', 'app.db-journal', d).expect(REFUSED).err,
            'the journal of the database app.db')
        run('recover', 'sole-journal', cwd=d).expect(YES, NOT_CHECKED)


def test_a_packet_may_have_the_name_of_a_sidecar():
    with folder() as d, folder() as e:
        db = make(f'{d}/app.db', 'create table t(a)')
        capture(db, f'{e}/p')
        shutil.copy(f'{e}/p', f'{e}/app-wal')
        shutil.copy(db, f'{e}/app')
        run('recover', f'{e}/app-wal').expect(YES, NOT_CHECKED)


def test_of_two_files_the_one_that_is_wrong_is_named():
    with folder() as d:
        make(f'{d}/good', 'create table t(a)')
        with open(f'{d}/bad', 'wb') as f:
            f.write(b'?')
        for pair, words in ((('good', 'bad'), 'bad: after: truncated'),
                            (('bad', 'good'), 'bad: before: truncated')):
            r = run('diff', *pair, cwd=d).expect(DAMAGED)
            has(r.err, words, 'main has 1 byte, and')
            lacks(r.err, 'good')


@each('capture -o', 'export -o', 'recover --expect-id', 'recover --view',
      'verify --policy', 'verify --unchanged --bind', 'capture --pid',
      'capture --timeout')
def test_an_empty_value_is_told_with_its_option(line):
    with folder() as d:
        make(f'{d}/a', 'create table t(x)')
        words = line.split()
        r = run(*words, '', 'a', *(['a'] if words[0] == 'verify' else []),
                cwd=d).expect(USAGE)
        has(r.err, words[-1], 'the value is empty')
        same(os.listdir(d), ['a'])


RANGES = {
    'recover --view liv': 'neither recovery nor live',
    'capture --journal no': 'neither rollback nor refuse',
    'recover --memory-limit 0': 'MiB from 1 to 16777216',
    'recover --time-limit 1.5': 'seconds from 1 to 86400',
    'capture --timeout 0': 'seconds above 0 and up to a day',
    'capture --timeout 86401': 'seconds above 0 and up to a day',
    'capture --pid 0': 'a process id from 1 to 2147483647',
}


@each(*RANGES)
def test_a_value_out_of_range_is_told_with_the_range(line):
    with folder() as d:
        db = make(f'{d}/a', 'create table t(x)')
        r = run(*line.split(), db).expect(USAGE)
        has(r.err, line.split(' ', 1)[1] + ': n', RANGES[line])


def test_one_id_for_two_packets_is_told_from_two_for_one():
    with folder() as d:
        db = make(f'{d}/app.db', 'create table t(a)')
        ids = ['--expect-id', capture(db, f'{d}/p')['id']]
        for command in (['diff'], ['verify', '--unchanged']):
            r = run(*command, *ids, f'{d}/p', f'{d}/p').expect(USAGE)
            has(r.err, 'given once, and two packets are compared',
                '--expect-id ID-OF-BEFORE --expect-id ID-OF-AFTER')
        r = run('recover', *ids, *ids, f'{d}/p').expect(USAGE)
        has(r.err, 'given twice, and one packet is read')


def test_one_is_not_many():
    with folder() as d, Writer() as w:
        db = f'{d}/app.db'
        w.open(db, ('journal_mode=wal', 'wal_autocheckpoint=0'))
        w.script('create table p(a integer primary key);'
                 'create table one(a references p);'
                 'pragma wal_checkpoint(truncate);')
        w.sql('insert into one values(7)')
        capture(db, f'{d}/p')
        out = run('recover', f'{d}/p').out
        has(out, '1 frame: 1 committed in 1 commit,', 'keys  1 violation\n',
            '1 row  one\n', '0 rows  p\n')
        for i in range(2):
            w.sql('insert into one values(8)')
        capture(db, f'{d}/q')
        out = run('recover', f'{d}/q').out
        has(out, '3 frames: 3 committed in 3 commits,', '3 violations\n',
            '3 rows  one\n')
        has(run('diff', f'{d}/q', f'{d}/p').out, '(3 \u2192 1 row)')
        has(run('diff', f'{d}/p', f'{d}/q').out, '(1 \u2192 3 rows)')


def test_a_table_that_is_not_there_is_answered_with_those_that_are():
    with folder() as d:
        few = make(f'{d}/few', 'create table accounts(id, bal)',
                   'create view rich as select id from accounts')
        r = run('query', few, 'select * from account').expect(USAGE)
        has(r.err, 'no such table: account\n',
            'the tables and views: accounts, rich')
        r = run('query', few, 'select balance from accounts').expect(USAGE)
        has(r.err, 'no such column: balance', 'PRAGMA table_xinfo(TABLE)')
        r = run('query', make(f'{d}/none', 'pragma user_version=1'),
                'select * from t').expect(USAGE)
        has(r.err, 'the database has no table and no view')


def test_where_a_hint_can_not_hold_all_tables_it_says_how_to_list_them():
    with folder() as d:
        many = make(f'{d}/many', *(f'create table "table number {i}"(a)'
                                   for i in range(100)))
        r = run('query', many, 'select * from t').expect(USAGE)
        sql = re.search(r'all of them: (.*)', r.err).group(1)
        out = run('query', '--csv', many, sql).expect(YES, NOT_CHECKED).out
        same(len(out.splitlines()), 101)


@each('', 'attak')
def test_a_verb_that_is_none_is_answered_with_those_that_are(verb):
    r = run('controls', *verb.split()).expect(USAGE)
    has(r.err, verb or 'a verb is missing',
        'one of list, run, attack, bootstrap, help, version\n')
    lacks(r.err, '?;')
    for known in 'list', 'run', 'attack', 'bootstrap':
        has(run('controls', 'help').expect(YES).out,
            f'holdfast controls {known} ')


def test_the_pause_that_check_expects_is_called_a_guess():
    with folder() as d, Writer() as w:
        db = bank(w, f'{d}/app.db')
        out = run('capture', '--check', db).expect(YES, NOT_CHECKED).out
        assert re.search(r'; pause by guess at most [\d.]+ ms\.\n', out), out


def linked_sqlite():
    """Version and source id of the SQLite that the helper loads; a helper of
    one file has the archive that was installed with this machine's."""
    name = 'holdfast-recover' + ('-san' if SANITIZED else '')
    r = subprocess.run(
        [need_tool('ldd'), f'{BUILD}/libexec/holdfast/{name}'],
        capture_output=True, text=True)
    path = re.search(r'libsqlite3\S* => (\S+)', r.stdout)
    library = ctypes.CDLL(path.group(1) if path else 'libsqlite3.so.0')
    library.sqlite3_libversion.restype = ctypes.c_char_p
    library.sqlite3_sourceid.restype = ctypes.c_char_p
    return (library.sqlite3_libversion().decode(),
            library.sqlite3_sourceid().decode())


def test_version_names_the_sqlite_of_the_helper():
    version, source = linked_sqlite()
    has(run('version').expect(YES).out, 'holdfast ', 'cJSON ', 'OpenSSL ',
        f'\nSQLite {version}, {source}\n')
    got = run('version', '--json').expect(YES).json()
    same((got['sqlite'], got['sqlite_source']), (version, source))
    assert got['version'] and got['cjson'] and got['openssl'], got


def test_version_says_its_own_and_why_it_knows_no_other():
    with folder() as d:
        program = beside(d)
        own = run('version', program=program).expect(YES).out.splitlines()[0]
        shutil.rmtree(f'{d}/programs/libexec')
        r = run('version', program=program).expect(TROUBLE)
        same(r.out, own + '\n')
        has(r.err, "SQLite's version is not known", 'holdfast-recover')
        lines = run('version', '--json',
                    program=program).expect(TROUBLE).lines()
        same((lines[0]['sqlite'], lines[0]['sqlite_source']), (None, None))
        has(own, lines[0]['version'])
        same(lines[1]['kind'], 'error')
