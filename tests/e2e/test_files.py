"""Files as they are: what SQLite can write, and some that it can't."""
import math
import os
import sqlite3
import struct
import subprocess

import stock
from holdfast import (DAMAGED, NO, TROUBLE, YES, diff, each, fingerprint,
                      folder, has, limit, long, make, need_tool, patch, put,
                      query, recover, run, same)

PAGE = 4096


def made(path, *statements, before=(), **more):
    """make, with pragmas that only count before the first page."""
    before = ('pragma synchronous=off', *before)
    return make(path, *before, *statements, **more)


def byte(path, offset):
    with open(path, 'rb') as f:
        f.seek(offset)
        return f.read(1)[0]


# Kinds of content that stock SQLite makes: rows, checks and fingerprint.

def strict(db):
    made(db, 'create table s(i int, r real, t text, b blob, a any, '
         'primary key(i)) strict',
         "insert into s values(1, 2, '3', x'04', 5.0), (2, 1e9, '', x'', '6')",
         'create table w(a any primary key, b text) strict, without rowid',
         "insert into w values(1.0, 'one'), ('1', 'text'), (x'01', 'blob')")


def serial_types(db):
    edges = [0, 1] + [s * (2 ** b + d) for b in (7, 15, 23, 31, 47, 63)
                      for d in (-1, 0, 1) for s in (1, -1)]
    edges = [n for n in edges if -2 ** 63 <= n < 2 ** 63]
    made(db, 'create table t(id integer primary key, v)', *[
        ('insert into t(v) values(?)', (v,)) for v in
        edges + [0.0, -0.0, 1.5, math.inf, -math.inf, 5e-324, None, '', b'',
                 'x' * 56, b'y' * 57]])


def long_chains(db):
    made(db, 'create table t(id integer primary key, v, w)',
         ('insert into t values(1, ?, ?)', ('ä' * 900000, b'z' * 2000000)),
         ('insert into t values(2, ?, ?)', (b'', 'x' * 460)), page_size=512)


def long_keys(db):
    made(db, 'create table k(a text, b blob, v, primary key(a, b)) '
         'without rowid', *[
             ('insert into k values(?, ?, ?)',
              ('key' * 3000 + str(i), bytes(5000), i)) for i in range(30)])


def far_rowids(db):
    made(db, 'create table t(v)', 'insert into t(rowid, v) values'
         "(-9223372036854775808, 'least'), (-1, 'minus'), (0, 'zero'), "
         "(9223372036854775807, 'most')",
         'create table p(id integer primary key, v)',
         "insert into p select rowid, v from t")


def deep_freelist(db):
    made(db, 'create table t(b)', 'create table kept(x)',
         ('insert into t values(zeroblob(?))', (40000 * 508,)),
         'insert into kept values(1), (2)', 'delete from t', page_size=512)
    assert struct.unpack('>I', open(db, 'rb').read(40)[36:])[0] > 32766


def wide(db):
    names = [f'c{i}' for i in range(2000)]
    made(db, f'create table w({", ".join(names)})',
         *[(f'insert into w(c0, c{i}, c1999) values(?, ?, ?)',
            (i, 'middle', -i)) for i in (1, 777, 1998)])


def hidden_rowid(db):
    made(db, 'create table t(rowid, _rowid_, oid)',
         "insert into t values(1, 2, 3), ('a', 'b', 'c'), (1, 2, 3)",
         'create table one(oid, v)', "insert into one values(9, 'x')",
         'create table quoted("rowid" text primary key, oid)',
         "insert into quoted values('k', 1)")


def odd_names(db):
    made(db, *[f'create table {n}(a, {n} unique); insert into {n} values(1,'
               ' 2)' for n in
               ('"new\nline"', '"do""uble"', '"sin\'gle"', '"back`tick"',
                '"brack]et"', '"select"', '"order"', '"a.b"', '" "',
                '"\x1b[31m"', '"123"', '"%s%n"', '"🙂"', '"main"')])


def long_name(db):
    n = 'n' * 100000
    made(db, f'create table {n}(c{n}); insert into {n} values(1)')


def rtree_and_fts(db):
    made(db, 'create virtual table r using rtree(id, a, b, +note)',
         "insert into r values(1, 0, 5, 'n'), (2, -1, 1, null)",
         'create virtual table r1 using rtree_i32(id, a, b)',
         *[f'create virtual table {f} using {f}(title, body);'
           f"insert into {f} values('one two', 'three'), ('four', 'five');"
           f"delete from {f} where {f} match 'four'"
           for f in ('fts3', 'fts4', 'fts5')],
         "create virtual table less using fts5(x, content='')",
         "insert into less(rowid, x) values(1, 'nothing is kept')")


def statistics(db):
    made(db, 'create table t(a, b); create index i on t(a, b)', *[
        ('insert into t values(?, ?)', (i % 7, i)) for i in range(300)],
        'analyze')


def no_statistics_left(db):
    statistics(db)
    make(db, 'delete from sqlite_stat1')


def reals_in_integer_columns(db):
    made(db, 'create table t(r real, i int, n numeric)',
         'insert into t values(1, 1.0, 1.0), (1.5, 1.5, 1.5), '
         "('x', 'x', 'x'), (9007199254740993, 9e15, '9007199254740993')")


def added_columns(db):
    """Records that are shorter than their table."""
    made(db, 'create table t(a)', 'insert into t values(1)',
         "alter table t add column b default 'old'",
         'insert into t values(2, 3)', 'alter table t add column c not null '
         'default 7', 'alter table t drop column a')


def generated(db):
    made(db, 'create table g(x int, v as (x * 2), s text as (x || 1) stored, '
         'n as (null))', 'insert into g(x) values(1), (null), (9)',
         'create index gi on g(v) where s is not null')


KINDS = [strict, serial_types, long_chains, long_keys, far_rowids,
         deep_freelist, wide, hidden_rowid, odd_names, long_name,
         rtree_and_fts, statistics, no_statistics_left,
         reals_in_integer_columns, added_columns, generated]


@each(*[k.__name__ for k in KINDS])
def test_is_read_as_stock_sqlite_reads_it(kind):
    with folder() as d:
        db = f'{d}/app.db'
        globals()[kind](db)
        got = stock.agrees(db, status=(YES,))
        same(got['integrity'], 'ok')
        same(diff(db, db)[2]['equal'], True)


# Header fields

@each(*[f'{kind}/{mode}' for kind in (0, 1, 2) for mode in
        ('delete', 'wal')])
def test_every_auto_vacuum(which):
    kind, mode = which.split('/')
    with folder() as d:
        db = made(f'{d}/app.db', 'create table t(a, b)', *[
            ('insert into t values(?, ?)', (i, 'x' * 900))
            for i in range(60)], 'delete from t where a > 9',
            before=[f'pragma auto_vacuum={kind}',
                    f'pragma journal_mode={mode}'])
        stock.agrees(db, status=(YES,))
        with stock.opened(db) as c:
            same(c.execute('pragma auto_vacuum').fetchone(), (int(kind),))


@each('512/1', '512/32', '1024/8', '4096/255', '65536/100')
def test_bytes_reserved_on_every_page(which):
    size, reserved = which.split('/')
    sqlite = need_tool('sqlite3')
    with folder() as d:
        db = f'{d}/app.db'
        script = (f'pragma page_size={size}; create table t(a, b);\n'
                  f'.filectrl reserve_bytes {reserved}\nvacuum;\n'
                  'insert into t select value, zeroblob(value * 50) from '
                  "generate_series(1, 40); create index i on t(b, a);\n")
        subprocess.run([sqlite, db], input=script, text=True, check=True,
                       capture_output=True)
        same(byte(db, 20), int(reserved))
        stock.agrees(db, status=(YES,))
        run('export', db, '-o', f'{d}/x').expect(YES)
        same(byte(f'{d}/x', 20), int(reserved))
        same(fingerprint(f'{d}/x'), fingerprint(db))


@each(1, 2, 3, 4)
def test_every_schema_format(number):
    """1 ignores DESC; from 3 on a record may be shorter than its table."""
    sqlite = need_tool('sqlite3')
    with folder() as d:
        db = f'{d}/app.db'
        legacy = 'off' if number == 4 else 'on'
        script = (f'.dbconfig legacy_file_format {legacy}\n'
                  'create table t(a, b); create index i on t(a desc, b);\n'
                  'insert into t select value % 3, value from '
                  'generate_series(1, 300);\n')
        if number == 3:
            script += "alter table t add column c default 'd';\n"
        subprocess.run([sqlite, db], input=script, text=True, check=True,
                       capture_output=True)
        if number == 2:     # as 1, for a program of long ago
            put(db, 47, b'\2')
        same(byte(db, 47), number)
        stock.agrees(db, status=(YES,))
        same(query(db, 'select b from t where a = 2 order by a desc, b'),
             [[str(i)] for i in range(2, 301, 3)])


@each(*[0, 1, 0x47504b47, 0x7fffffff, -1, -0x80000000])
def test_every_application_id(number):
    with folder() as d:
        db = made(f'{d}/app.db', 'create table t(x)',
                  f'pragma application_id={number}',
                  f'pragma user_version={-number - 1}')
        got = stock.agrees(db, status=(YES,))
        same((got['application_id'], got['user_version']),
             (number, -number - 1))


# Text and names as no program should write them

@each('UTF-8', 'UTF-16le', 'UTF-16be')
def test_text_that_is_no_text(encoding):
    odd = ['00D8', 'D800', '00DC00D8', '3DD8', '4100', '410042', '0000',
           'FF', 'C080', 'EDA080', 'F4908080', '61FFC0', 'FEFF', 'FFFE', '']
    with folder() as d:
        db = made(f'{d}/app.db', 'create table t(id integer primary key, v)',
                  'create table k(v primary key) without rowid', *[
                      f"insert or ignore into {t}(v) values(cast(x'{x}' as "
                      'text))' for x in odd for t in 'tk'], encoding=encoding)
        stock.agrees(db, status=(YES,))


@each('UTF-8', 'UTF-16le')
def test_names_that_are_no_text(encoding):
    sqlite = need_tool('sqlite3')
    codec, bad = {'UTF-8': ('utf-8', b'\xff\xc0\x80\xed'),
                  'UTF-16le': ('utf-16-le', b'\0\xdc\0\xd8' * 2)}[encoding]
    with folder() as d:
        db = made(f'{d}/app.db', 'create table oddT(a, oddC); create index '
                  "oddI on oddT(oddC); insert into oddT values(1, 'oddV')",
                  'create table t(x); insert into t values(2)',
                  encoding=encoding)
        for x in 'TCI':
            patch(db, f'odd{x}'.encode(codec), bad[:-1] + x.encode(codec)[:1]
                  if codec == 'utf-8' else bad[:-2] + x.encode(codec))
        said = [subprocess.run([sqlite, stock.copy(db, sub), sql], text=False,
                               capture_output=True).stdout
                for sql in ('pragma integrity_check',)
                for sub in [os.path.join(d, 'copy')] if not os.mkdir(sub)]
        same(said, [b'ok\n'])
        got = recover(db, status=(YES,))
        same(sorted(t['rows'] for t in got['tables']), [1, 1])
        same(diff(db, db)[2]['equal'], True)


def test_names_that_differ_by_case_alone():
    """Forged: SQLite itself makes no second one, and reads none."""
    with folder() as d:
        db = made(f'{d}/app.db', 'create table t(a, b); create index ii on '
                  't(a); create index jj on t(b); insert into t values(1, 2)')
        patch(db, b'indexjj', b'indexII')
        patch(db, b'CREATE INDEX jj', b'CREATE INDEX II')
        with stock.opened(db) as c:
            has(stock.integrity(c), 'malformed database schema (II)')
        r = run('recover', db).expect(DAMAGED)
        has(r.err, 'malformed database schema (II)')


def test_a_stored_nan_reads_as_null():
    with folder() as d:
        db = made(f'{d}/app.db', 'create table t(id integer primary key, r '
                  'real); insert into t values(1, 1.2345e67), (2, 2.5)')
        patch(db, struct.pack('>d', 1.2345e67), b'\x7f\xf8\0\0\0\0\0\1')
        stock.agrees(db, status=(YES, NO))
        same(query(db, 'select typeof(r) from t order by id'),
             [['null'], ['real']])


# Size

def test_a_blob_larger_than_the_answer_may_be_hits_a_cap_that_is_named():
    with folder() as d:
        db = made(f'{d}/app.db', 'create table t(b)',
                  ('insert into t values(zeroblob(?))', (3 << 20,)))
        same(recover(db, '--output-limit', '1')['tables'][0]['rows'], 1)
        r = run('query', '--csv', '--output-limit', '1', db,
                'select b from t').expect(TROUBLE)
        has(r.err, 'limit')


LOCK_PAGE = (1 << 30) // PAGE + 1


def across_the_lock_page(db):
    """
    Rows right before and behind the page that nobody may use. All pages
    before are free and were never written: the file is a hole.
    """
    made(db, 'create table low(x); insert into low values(1)',
         'create table t(id integer primary key, b)')
    used = os.path.getsize(db) // PAGE
    last = LOCK_PAGE - 3
    os.truncate(db, last * PAGE)
    put(db, 28, struct.pack('>I', last))
    make(db, *[('insert into t values(?, ?)', (i, bytes([i]) * 4000))
               for i in range(8)])
    free = list(range(used + 1, last + 1))
    each_trunk = PAGE // 4 - 8      # as SQLite fills them
    trunks = [free[i:i + each_trunk + 1]
              for i in range(0, len(free), each_trunk + 1)]
    for i, (page, *leaves) in enumerate(trunks):
        following = trunks[i + 1][0] if i + 1 < len(trunks) else 0
        put(db, (page - 1) * PAGE, struct.pack(
            f'>{2 + len(leaves)}I', following, len(leaves), *leaves))
    put(db, 32, struct.pack('>2I', free[0], len(free)))
    return db


def reads_across_the_lock_page(*options):
    with folder() as d:
        db = across_the_lock_page(f'{d}/app.db')
        assert os.path.getsize(db) > LOCK_PAGE * PAGE
        assert os.stat(db).st_blocks < 20000, 'no sparse files here'
        got = stock.agrees(db, *options, status=(YES,))
        same({t['name']: t['rows'] for t in got['tables']},
             {'low': 1, 't': 8})
        # What lies behind is read, not only counted.
        c = sqlite3.connect(db)
        c.execute("update t set b = 'x' where id = 7")
        c.commit()
        c.close()
        again = stock.agrees(db, *options, status=(YES,))
        assert again['fingerprint'] != got['fingerprint']
        return got['in_memory']


def test_rows_on_both_sides_of_the_lock_page():
    same(reads_across_the_lock_page('--memory-limit', '64'), False)


@long
@limit(300)
def test_rows_on_both_sides_of_the_lock_page_in_memory():
    same(reads_across_the_lock_page('--memory-limit', '6000'), True)


# No database at all

@each('zeros', 'noise', 'text', 'header alone', 'header and zeros',
      'page size 0', 'page size 3000', 'newer read version')
def test_what_is_no_database_is_damage(which):
    with folder() as d:
        db = made(f'{d}/app.db', 'create table t(x); insert into t values(1)')
        with open(db, 'rb') as f:
            raw = f.read()
        content = {
            'zeros': bytes(8192),
            'noise': bytes((i * 131 + i // 7) % 256 for i in range(8192)),
            'text': b'SQLite format 2\0' + b'** This file contains ' * 300,
            'header alone': raw[:100],
            'header and zeros': raw[:100] + bytes(len(raw) - 100),
            'page size 0': raw[:16] + b'\0\0' + raw[18:],
            'page size 3000': raw[:16] + b'\x0b\xb8' + raw[18:],
            'newer read version': raw[:18] + b'\3\3' + raw[20:],
        }[which]
        with open(db, 'wb') as f:
            f.write(content)
        with stock.opened(db) as c:
            assert stock.integrity(c) != 'ok'
        for args in (['recover', db], ['query', db, 'select 1 from t'],
                     ['export', db, '-o', f'{d}/x'], ['diff', db, db]):
            r = run(*args).expect(DAMAGED)
            assert r.err.strip()
        same(sorted(os.listdir(d)), ['app.db'])
