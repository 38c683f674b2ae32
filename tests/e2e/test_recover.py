"""recover, query and export: stock SQLite's answers, from the packet."""
import csv
import io
import json
import os
import sqlite3
import struct
import subprocess

import fingerprint_oracle
from holdfast import (DAMAGED, HOLDFAST, NO, NOT_CHECKED, REFUSED, TROUBLE,
                      USAGE, WAL, YES, Writer, as_nobody, bank, beside,
                      capture, each, fingerprint, folder, has, identity, limit,
                      make, need_root, need_tool, query, recover, run, same)

PAGE_SIZES = [512 << i for i in range(8)]
ENCODINGS = ['UTF-8', 'UTF-16le', 'UTF-16be']
WORDS = ['', 'abc', 'naïve', '日本語', '𝄞 clef', 'nul\0inside', 'x' * 3000]


def variety(c):
    """Tables of every kind that a logical snapshot must see."""
    c.executescript('''
        create table plain(id integer primary key, t text, r real, b blob);
        create table keyed(a text, b int, v, primary key(a, b)) without rowid;
        create table gen(x int, y int as (x * 2) stored, z as (x + 1));
        create table loose(v);
        create index loose_v on loose(v);
        create view doubled as select x, y from gen;
        create trigger plain_log after insert on plain begin
            insert into loose values(new.t); end;
        create virtual table words using fts5(body);
        create table auto(id integer primary key autoincrement, v);
        pragma user_version=7; pragma application_id=99;
    ''')
    c.executemany('insert into plain values(?, ?, ?, ?)',
                  [(i, w, i / 7, os.urandom(i)) for i, w in
                   enumerate(WORDS, 1)])
    c.executemany('insert into keyed values(?, ?, ?)',
                  [(w, i, None) for i, w in enumerate(WORDS)])
    c.executemany('insert into gen(x) values(?)', [(1,), (-5,), (None,)])
    c.executemany('insert into words values(?)', [('one two',), ('three',)])
    c.execute("insert into auto(v) values('only')")
    c.commit()


def test_a_value_larger_than_the_limit_is_trouble_that_names_it():
    with folder() as d:
        make(f'{d}/a.db', 'create table t(x)')
        r = run('query', f'{d}/a.db', 'select randomblob(900000000)')
        has(r.expect(TROUBLE).err, 'limit of 512 MiB')


@each(*[f'{p}/{e}' for p in PAGE_SIZES for e in ENCODINGS])
def test_page_size_and_encoding(which):
    size, encoding = which.split('/')
    with folder() as d:
        db = make(f'{d}/app.db', page_size=int(size), encoding=encoding)
        c = sqlite3.connect(db)
        c.execute(f'pragma page_size={size}')
        c.execute(f"pragma encoding='{encoding}'")
        variety(c)
        c.execute('pragma journal_mode=wal')
        c.execute('insert into auto(v) values(?)', ('in the WAL',))
        c.commit()
        c.text_factory = bytes
        truth = fingerprint_oracle.fingerprints(c)[0]
        with Writer() as w:
            w.open(db, ())
            w.sql('select count(*) from auto')
            c.close()
            capture(db, f'{d}/p')
        got = recover(f'{d}/p')
        same((got['page_size'], got['encoding']), (int(size), encoding))
        same((got['integrity'], got['foreign_keys']), ('ok', 0))
        same(got['views']['agree'], True)
        same(got['fingerprint'], truth)
        run('export', f'{d}/p', '-o', f'{d}/plain').expect(YES, NOT_CHECKED)
        same(fingerprint(f'{d}/plain'), truth)
        c = sqlite3.connect(f'{d}/plain')
        same(c.execute('pragma integrity_check').fetchall(), [('ok',)])
        same(c.execute('select v from auto order by id').fetchall(),
             [('only',), ('in the WAL',)])
        same(c.execute('pragma journal_mode').fetchone(), ('delete',))
        c.close()


def test_the_account_of_the_wal_counts_what_the_writer_did():
    with folder() as d, Writer() as w:
        db = bank(w, f'{d}/app.db')
        for i in range(5):
            w.sql('update acct set bal = bal + 1 where id = ?', (i + 1,))
        w.sql('pragma cache_size=2')
        w.sql('begin')
        w.many('insert into acct(who) values(?)',
               [('x' * 900,) for _ in range(200)])
        capture(db, f'{d}/p')
        got = recover(f'{d}/p')
        size = os.path.getsize(db + '-wal')
        same(got['wal']['frames'], (size - 32) // (4096 + 24))
        same(got['wal']['commits'], 1 + 20 + 5)
        assert got['wal']['uncommitted_frames'] > 0, got['wal']
        same(got['wal']['committed_frames'] +
             got['wal']['uncommitted_frames'] + got['wal']['stale_frames'],
             got['wal']['frames'])
        same(got['wal']['damaged'], 0)
        same(query(f'{d}/p', 'select count(*) from acct'), [['20']])


def test_frames_of_an_earlier_generation_are_stale():
    with folder() as d, Writer() as w:
        db = bank(w, f'{d}/app.db')
        w.sql('pragma wal_checkpoint(restart)')
        w.sql('update acct set bal = bal + 1 where id = 1')
        capture(db, f'{d}/p')
        got = recover(f'{d}/p')['wal']
        same(got['commits'], 1)
        assert got['stale_frames'] > 0, got


def wal_frame(path, frame, page_size=4096):
    return 32 + (frame - 1) * (page_size + 24)


@each('recovery', 'live')
def test_a_flipped_wal_byte_that_loses_live_commits_is_damage(view):
    with folder() as d, Writer() as w:
        db = bank(w, f'{d}/app.db')
        for _ in range(5):
            w.sql('update acct set bal = bal + 1 where id = 1')
        frames = (os.path.getsize(db + '-wal') - 32) // 4120
        with open(db + '-wal', 'r+b') as f:
            f.seek(wal_frame(db, frames - 2) + 24 + 4000)
            byte = f.read(1)[0]
            f.seek(-1, 1)
            f.write(bytes([byte ^ 1]))
        r = run('capture', '-o', f'{d}/p', db)
        if r.status in (YES, NOT_CHECKED):
            r = run('recover', '--view', view, f'{d}/p')
        r.expect(DAMAGED)
        has(r.err, 'WAL')


def test_an_integrity_violation_is_a_no():
    with folder() as d:
        db = make(f'{d}/app.db', 'create table t(a unique, b);'
                  "insert into t values(1, 'x'), (2, 'y');"
                  'pragma writable_schema=1;')
        c = sqlite3.connect(db)
        root = c.execute("select rootpage from sqlite_schema where "
                         "type='index'").fetchone()[0]
        c.close()
        with open(db, 'r+b') as f:      # the index becomes an empty leaf
            f.seek((root - 1) * 4096)
            f.write(b'\x0a\0\0\0\0\x10\0\0')
        r = run('recover', '--json', db).expect(NO)
        assert r.json()['integrity'] != 'ok', r.out


def test_messages_that_quote_long_names_are_cut_and_still_a_no():
    name = '\u00fc' * 300000
    with folder() as d:
        db = make(f'{d}/app.db', f'create table {name}(x not null);'
                  'create table y(x); insert into y values(null), (null),'
                  ' (null); pragma writable_schema=1;'
                  'update sqlite_schema set rootpage = (select rootpage from'
                  " sqlite_schema where name='y') where name <> 'y';"
                  "delete from sqlite_schema where name='y'")
        got = run('recover', '--json', db).expect(NO).json()
        has(got['integrity'], f'NULL value in {name}.x')
        assert len(got['integrity'].encode()) <= 1 << 20


def test_a_broken_foreign_key_is_a_no():
    with folder() as d:
        db = make(f'{d}/app.db', 'create table p(id integer primary key);'
                  'create table c(p references p);'
                  'insert into c values(1), (2)')
        got = recover(db, status=(NO,))
        same((got['integrity'], got['foreign_keys']), ('ok', 2))


@each('zero-byte', 'empty')
def test_an_empty_database(kind):
    with folder() as d:
        db = f'{d}/app.db'
        if kind == 'zero-byte':
            open(db, 'w').close()
        else:
            make(db, 'create table t(x); drop table t; vacuum;')
        capture(db, f'{d}/p')
        got = recover(f'{d}/p')
        same(got['integrity'], 'ok')
        same(got['tables'], [])
        same(query(f'{d}/p', 'select count(*) from sqlite_schema'), [['0']])
        run('export', f'{d}/p', '-o', f'{d}/x').expect(YES, NOT_CHECKED)
        same(fingerprint(f'{d}/x'), got['fingerprint'])


SENTENCES = {
    'encrypted': (lambda raw: os.urandom(8192), 'encrypted'),
    'not-a-database': (lambda raw: b'Dear diary, ' * 1000, 'not a database'),
    'short': (lambda raw: raw[:60], 'truncated'),
    'truncated': (lambda raw: raw[:len(raw) // 2 // 4096 * 4096],
                  'truncated'),
}


@each(*SENTENCES)
def test_a_file_that_is_no_database_is_damage_and_the_sentence_says(kind):
    spoil, word = SENTENCES[kind]
    with folder() as d:
        db = make(f'{d}/app.db', 'create table t(x)', *[
            ('insert into t values(?)', ('y' * 3000,)) for _ in range(20)])
        with open(db, 'rb') as f:
            raw = f.read()
        with open(db, 'wb') as f:
            f.write(spoil(raw))
        capture(db, f'{d}/p')
        for evidence in (db, f'{d}/p'):
            for args in (['recover', evidence],
                         ['query', evidence, 'select 1'],
                         ['export', evidence, '-o', f'{d}/x'],
                         ['diff', evidence, evidence]):
                r = run(*args).expect(DAMAGED)
                has(r.err, word)
        assert not os.path.exists(f'{d}/x')


@limit(120)
def test_a_blob_of_a_hundred_megabytes_survives_the_whole_path():
    with folder() as d:
        db = make(f'{d}/app.db', 'create table t(id integer primary key, b)',
                  ('insert into t values(1, randomblob(?))', (100 << 20,)))
        capture(db, f'{d}/p')
        same(recover(f'{d}/p')['fingerprint'], fingerprint(db))
        same(query(f'{d}/p', 'select length(b) from t'), [[str(100 << 20)]])
        run('export', f'{d}/p', '-o', f'{d}/x').expect(YES, NOT_CHECKED)
        run('diff', f'{d}/x', f'{d}/p').expect(YES, NOT_CHECKED)
        c = sqlite3.connect(db)
        c.execute('update t set b = zeroblob(length(b))')
        c.commit()
        c.close()
        run('diff', f'{d}/p', db).expect(NO)


def test_the_helper_runs_in_its_sandbox_as_seen_by_the_parent():
    with folder() as d:
        db = make(f'{d}/app.db', 'create table t(x)')
        box = recover(db)['sandbox']
        same((box['seccomp'], box['no_new_privs']), (2, True))
        same(int(str(box['capabilities']), 0), 0)
        if os.geteuid() == 0:
            same((box['uid'], box['gid']), (65534, 65534))


def test_the_sandbox_of_an_ordinary_user_holds_no_capability_either():
    need_root()
    with folder() as d:
        db = make(f'{d}/app.db', 'create table t(x)')
        r = run('recover', db, program=beside(d), prefix=as_nobody())
        has(r.expect(YES, NOT_CHECKED).out, 'capabilities 0,')


# query

VALUES = [('int', 9223372036854775807), ('min', -9223372036854775808),
          ('big', 9007199254740993), ('real', 0.1), ('text', 'a "q", b'),
          ('null', None), ('empty', ''), ('blob', b'\0\1\2')]


def test_query_json_gives_typed_cells_exactly():
    with folder() as d:
        db = make(f'{d}/app.db', 'create table t(k, v)', *[
            ('insert into t values(?, ?)', v) for v in VALUES])
        r = run('query', '--json', db, 'select k, v from t')
        rows = [x for x in r.expect(YES, NOT_CHECKED).lines()
                if x['kind'] == 'row']
        same(r.summary()['kind'], 'summary')
        cells = {x['cells'][0][1]: x['cells'][1] for x in rows}
        same(cells['int'], ['int', '9223372036854775807'])
        same(cells['min'], ['int', '-9223372036854775808'])
        same(cells['big'], ['int', '9007199254740993'])
        same(float.fromhex(cells['real'][1]), 0.1)
        same(cells['text'], ['text', 'a "q", b'])
        same(cells['null'], None)
        same(cells['empty'], ['text', ''])
        same(cells['blob'][1]['bytes'], 3)


def test_query_csv_is_what_a_csv_reader_reads():
    with folder() as d:
        db = make(f'{d}/app.db', 'create table t(k, v)',
                  ("insert into t values('line\nbreak', 'say \"hi\"')",),
                  ('insert into t values(?, 0.1)', (2 ** 62 + 1,)))
        r = run('query', '--csv', db, 'select k, v from t')
        rows = list(csv.reader(io.StringIO(r.out, newline='')))
        same(rows, [['k', 'v'], ['line\nbreak', 'say "hi"'],
                    [str(2 ** 62 + 1), '0.1']])


def test_query_csv_gives_large_blobs_and_invalid_text_as_they_are():
    with folder() as d:
        db = make(f'{d}/app.db', 'create table t(b, s)',
                  ('insert into t values(?, cast(? as text))',
                   (bytes(range(256)) * 40, b'a\xff\xc0')))
        r = subprocess.run([HOLDFAST, 'query', '--csv', db,
                            'select b, s from t'], capture_output=True)
        same((r.returncode, r.stderr), (YES, b''))
        same(r.stdout.split(b'\n')[1].rstrip(b'\r'),
             b"x'" + bytes(range(256)).hex().encode() * 40 + b"',a\xff\xc0")


def test_query_prints_a_table_without_control_characters_of_the_evidence():
    with folder() as d:
        db = make(f'{d}/app.db', 'create table t(k)',
                  ('insert into t values(?)', ('\x1b[31mred\u202e',)))
        r = run('query', db, 'select k from t').expect(YES, NOT_CHECKED)
        has(r.out, 'k', 'red')
        assert '\u202e' not in r.out, r.out


@each('insert into t values(1)', 'delete from t', 'create table u(x)',
      "attach '/tmp/other' as o", 'pragma user_version=1',
      "select load_extension('x')", 'vacuum', 'pragma writable_schema=1')
def test_query_takes_only_what_reads(sql):
    with folder() as d:
        db = make(f'{d}/app.db', 'create table t(x)')
        before = os.stat(db)
        r = run('query', db, sql)
        assert r.status in (USAGE, TROUBLE), (r.status, r.out)
        same(os.stat(db).st_ctime_ns, before.st_ctime_ns)


def test_now_in_a_query_is_the_time_of_the_capture():
    with folder() as d, Writer() as w:
        db = bank(w, f'{d}/app.db')
        capture(db, f'{d}/p')
        with subprocess.Popen(['tar', 'xOf', f'{d}/p', 'manifest.json'],
                              stdout=subprocess.PIPE) as t:
            manifest = json.load(t.stdout)
        taken = int(manifest['time']['utc_ns']) // 10 ** 9
        same(query(f'{d}/p', "select strftime('%s', 'now')"), [[str(taken)]])


def test_a_query_without_end_hits_a_cap_that_is_named():
    with folder() as d:
        db = make(f'{d}/app.db', 'create table t(x)')
        endless = ('with recursive c(n) as (select 1 union all select n+1 '
                   'from c) select count(*) from c')
        r = run('query', '--time-limit', '1', db, endless).expect(TROUBLE)
        has(r.err, 'limit')


def test_a_query_that_wants_too_much_memory_hits_a_cap_that_is_named():
    with folder() as d:
        db = make(f'{d}/app.db', 'create table t(x)')
        r = run('query', '--memory-limit', '64', db,
                'select group_concat(hex(zeroblob(8000000))) from '
                '(values(1),(2),(3),(4),(5),(6),(7),(8))')
        r.expect(TROUBLE)
        has(r.err, 'memory')


# export

def test_export_replaces_nothing_without_force():
    with folder() as d:
        db = make(f'{d}/app.db', 'create table t(x)')
        with open(f'{d}/x', 'w') as f:
            f.write('precious')
        r = run('export', db, '-o', f'{d}/x').expect(USAGE, TROUBLE)
        has(r.err, '--force')
        with open(f'{d}/x') as f:
            same(f.read(), 'precious')
        os.mkdir(f'{d}/sub')
        r = run('export', db, '-o', f'{d}/sub').expect(TROUBLE)
        has(r.err, 'no regular file')
        assert '--force' not in r.err, r.err


@each('delete', 'wal')
def test_export_replaces_no_file_under_a_program(mode):
    with folder() as d, Writer() as w:
        make(f'{d}/a.db', 'create table t(x)')
        live = bank(w, f'{d}/live.db', (f'journal_mode={mode}',))
        before = identity(live)
        r = run('export', f'{d}/a.db', '--force', '-o', live)
        if mode == 'delete':
            has(r.expect(REFUSED).err, f'process {w.pid} has live.db open')
        else:
            r.expect(TROUBLE)
        same(identity(live), before)
        w.sql('update acct set bal = bal')


@each('-wal', '-journal')
def test_export_appears_beside_no_sidecar_of_another_file(suffix):
    with folder() as d:
        db = make(f'{d}/app.db', "create table t(k); insert into t values(1)")
        with open(f'{d}/x.db{suffix}', 'wb') as f:
            f.write(b'a stranger')
        r = run('export', db, '-o', f'{d}/x.db').expect(TROUBLE)
        has(r.err, f'x.db{suffix} is there already')
        same(sorted(os.listdir(d)), ['app.db', f'x.db{suffix}'])
        os.truncate(f'{d}/x.db{suffix}', 0)     # as SQLite leaves it at times
        run('export', db, '-o', f'{d}/x.db').expect(YES, NOT_CHECKED)


@each('-wal', '-shm', '-journal')
def test_an_export_never_gets_the_name_of_a_sidecar(suffix):
    with folder() as d, Writer() as w:
        db = bank(w, f'{d}/app.db', WAL)
        capture(db, f'{d}/p')
        names = sorted(os.listdir(d))
        r = run('export', f'{d}/p', '--force', '-o', db + suffix)
        has(r.expect(USAGE).err, f'app.db{suffix}', 'of app.db')
        same(sorted(os.listdir(d)), names)
        run('export', f'{d}/p', '-o', f'{d}/other{suffix}').expect(
            YES, NOT_CHECKED)


def test_export_of_a_captured_wal_agrees_with_stock_sqlite():
    sqlite = need_tool('sqlite3')
    with folder() as d, Writer() as w:
        db = bank(w, f'{d}/app.db', WAL)
        capture(db, f'{d}/p')
        run('export', f'{d}/p', '-o', f'{d}/x').expect(YES, NOT_CHECKED)
        w.close()
        sums = [subprocess.run([sqlite, p, '.sha3sum --schema'], check=True,
                               capture_output=True).stdout
                for p in (f'{d}/x', db)]
        same(sums[0], sums[1])
        with open(f'{d}/x', 'rb') as f:
            head = f.read(100)
        same(struct.unpack('BB', head[18:20]), (1, 1))


def test_the_live_view_is_what_the_writers_index_says():
    with folder() as d, Writer() as w:
        db = bank(w, f'{d}/app.db')
        capture(db, f'{d}/p')
        got = recover(f'{d}/p', '--view', 'live')
        same(got['views']['live'], got['views']['recovery'])
        same(query(f'{d}/p', 'select count(*) from acct', '--view', 'live'),
             [['20']])


def test_a_plain_file_that_a_process_holds_is_refused_with_the_command():
    with folder() as d, Writer() as w:
        db = bank(w, f'{d}/app.db')
        for args in (['recover', db], ['query', db, 'select 1'],
                     ['export', db, '-o', f'{d}/x'], ['diff', db, db],
                     ['verify', '--unchanged', db, db]):
            r = run(*args).expect(3)
            has(r.err, 'holdfast capture', str(w.pid))
