"""diff and verify --unchanged: what sqldiff gets wrong, and the rest."""
import os
import shutil
import sqlite3
import subprocess

from holdfast import (DAMAGED, HOLDFAST, NO, NOT_CHECKED, REFUSED, YES,
                      Writer, bank, capture, diff, each, finish, folder, has,
                      limit, make, run, same, spawn)


def pair(d, *statements, before=(), after=()):
    a = make(f'{d}/a.db', *statements, *before)
    b = make(f'{d}/b.db', *statements, *after)
    return a, b


def differs(a, b, table=None, *options):
    status, records, summary = diff(a, b, *options)
    same((status, summary['equal']), (NO, False))
    return records, summary if table is None else summary['tables'][table]


def rows_of(records, table=None):
    return [r for r in records if r['kind'] == 'row' and
            table in (None, r['table'])]


T = 'create table t(id integer primary key, v)'

# Each pair is equal to sqldiff or to a naive comparison, and is not.
VALUES = {
    'text after a NUL': ('abc\0def', 'abc\0xyz'),
    'integer and real': (1, 1.0),
    'minus zero': (0.0, -0.0),
    'text and blob': ('abc', b'abc'),
    'null and empty text': (None, ''),
    'null and zero': (None, 0),
    'one ulp': (0.1 + 0.2, 0.3),
    'infinity and a large real': (float('inf'), 1.7976931348623157e308),
    'integers past 2^53': (2 ** 53, 2 ** 53 + 1),
    'number and its text': (5, '5'),
    'trailing blank': ('a', 'a '),
    'composed and decomposed': ('\u00e9', 'e\u0301'),
}


@each(*VALUES)
def test_values_that_look_alike_differ(which):
    before, after = VALUES[which]
    with folder() as d:
        a, b = pair(d, T,
                    before=[('insert into t values(1, ?)', (before,))],
                    after=[('insert into t values(1, ?)', (after,))])
        records, counts = differs(a, b, 't')
        same((counts['added'], counts['removed'], counts['changed']),
             (0, 0, 1))
        same(len(rows_of(records)), 1)
        status, _, summary = diff(a, a)
        same((status, summary['equal']), (YES, True))


def test_nocase_text_differs_by_case():
    with folder() as d:
        a, b = pair(d, 'create table t(k text collate nocase primary key, v)',
                    before=["insert into t values('abc', 1)"],
                    after=["insert into t values('ABC', 1)"])
        differs(a, b)


# A change of the schema or of a setting, alone.
OBJECTS = {
    'view': ('create view w as select 1', 'create view w as select 2'),
    'trigger': ('create trigger g after insert on t begin select 1; end',
                'create trigger g after insert on t begin select 2; end'),
    'index': ('create index i on t(v)', 'create index i on t(v desc)'),
    'check': ('create table c(x check (x > 0))',
              'create table c(x check (x > 1))'),
    'default': ('create table c(x default 0)', 'create table c(x default 1)'),
    'generated': ('create table c(x, y as (x + 1))',
                  'create table c(x, y as (x + 2))'),
    'collation': ('create table c(x)', 'create table c(x collate nocase)'),
    'without rowid': ('create table c(x primary key)',
                      'create table c(x primary key) without rowid'),
    'text alone': ('create table c(x)', 'create table c( x )'),
    'user_version': ('pragma user_version=0', 'pragma user_version=1'),
    'application_id': ('pragma application_id=0', 'pragma application_id=9'),
}


@each(*OBJECTS)
def test_a_change_of_schema_or_setting_is_seen(which):
    before, after = OBJECTS[which]
    with folder() as d:
        a, b = pair(d, T, before=[before], after=[after])
        records, _ = differs(a, b)
        kind = 'setting' if '_' in which else 'schema'
        assert any(r['kind'] == kind for r in records), records
        run('verify', '--unchanged', a, b).expect(NO)


def test_keyless_tables_and_null_keys_are_compared():
    with folder() as d:
        a, b = pair(d, 'create table t(a primary key, b)',
                    'create table k(x)',
                    before=['insert into t values(null, 1), (null, 2)',
                            'insert into k values(1), (1), (2)'],
                    after=['insert into t values(null, 1), (null, 3)',
                           'insert into k values(1), (2), (2)'])
        _, summary = differs(a, b)
        for name in ('t', 'k'):
            n = summary['tables'][name]
            assert n['added'] + n['removed'] + n['changed'] > 0, summary


def test_rowids_renumbered_by_vacuum_are_no_difference_with_ignore_rowid():
    with folder() as d:
        a = make(f'{d}/a.db', 'create table t(v)', *[
            ('insert into t values(?)', (i,)) for i in range(50)],
            'delete from t where v % 3 = 0')
        shutil.copy(a, f'{d}/b.db')
        c = sqlite3.connect(f'{d}/b.db', isolation_level=None)
        c.execute('vacuum')
        c.close()
        differs(a, f'{d}/b.db')
        same(diff(a, f'{d}/b.db', '--ignore-rowid')[2]['equal'], True)


def test_encodings_and_page_sizes_are_compared_by_content():
    with folder() as d:
        rows = [('insert into t values(?, ?)', (i, f'n\u00e4{i}'))
                for i in range(30)]
        a = make(f'{d}/a.db', T, *rows)
        b = make(f'{d}/b.db', T, *rows, encoding='UTF-16be', page_size=512)
        status, _, summary = diff(a, b)
        same((status, summary['equal']), (YES, True))


def test_lone_surrogates_are_not_taken_for_pairs():
    with folder() as d:
        utf16 = {'encoding': 'UTF-16le'}
        a = make(f'{d}/a.db', T, "insert into t values(1, "
                 "cast(x'00D84100' as text))", **utf16)
        b = make(f'{d}/b.db', T, "insert into t values(1, "
                 "cast(x'00D800DC' as text))", **utf16)
        records, _ = differs(a, b)
        has(str(records), 'text16')


def test_a_missing_second_file_is_not_created():
    with folder() as d:
        a = make(f'{d}/a.db', T)
        r = run('diff', a, f'{d}/none.db')
        assert r.status not in (YES, NO), r.status
        assert not os.path.exists(f'{d}/none.db')


def test_a_zeroed_leaf_page_is_never_called_equal():
    with folder() as d:
        a = make(f'{d}/a.db', T, *[
            ('insert into t values(?, ?)', (i, 'x' * 400))
            for i in range(100)])
        shutil.copy(a, f'{d}/b.db')
        with open(f'{d}/b.db', 'r+b') as f:
            f.seek(4096 * 4)
            f.write(bytes(4096))
        r = run('diff', a, f'{d}/b.db')
        assert r.status in (NO, 4), (r.status, r.text())


@each('left alone', 'changed meanwhile')
def test_damage_in_a_file_that_changes_meanwhile_is_unstable(which):
    many = ('with recursive n(i) as (select 1 union all select i + 1 from n '
            'where i < 30000) insert into a select {} from n')
    with folder() as d:
        a = make(f'{d}/a.db', 'create table a(v); create table b(v);',
                 many.format("hex(zeroblob(100)) || i"))
        shutil.copy(a, f'{d}/b.db')
        b = make(f'{d}/b.db', 'update a set v = v + 1')
        with open(b, 'r+b') as f:
            f.seek(4096 * 2)            # the root of table b
            f.write(bytes(4096))
        # More lines about table a than all pipes hold: the helper can't
        # be at table b before we read on.
        child = spawn('diff', '--json', a, b)
        child.stdout.readline()
        if which == 'changed meanwhile':
            os.utime(b)
        r = finish(child).expect(REFUSED if which == 'changed meanwhile'
                                 else DAMAGED)
        has(r.err, 'changed while it was read' if r.status == REFUSED
            else 'table b: after: read a row: database disk image is malformed')


def test_a_row_moved_between_tables_is_seen():
    with folder() as d:
        a, b = pair(d, 'create table t(x)', 'create table u(x)',
                    before=['insert into t values(1)'],
                    after=['insert into u values(1)'])
        _, summary = differs(a, b)
        same(summary['tables']['t']['removed'], 1)
        same(summary['tables']['u']['added'], 1)


def test_cells_are_not_glued_across_columns():
    with folder() as d:
        a, b = pair(d, 'create table t(x, y)',
                    before=["insert into t values('a3', 'b')"],
                    after=["insert into t values('a', '3b')"])
        differs(a, b)


def test_the_records_of_a_change_show_key_before_and_after():
    with folder() as d:
        a, b = pair(d, T, "insert into t values(1, 'same'), (2, 'old'), "
                    "(3, 'gone')",
                    after=["update t set v='new' where id=2",
                           'delete from t where id=3',
                           "insert into t values(4, 'come')"])
        records, counts = differs(a, b, 't')
        same((counts['added'], counts['removed'], counts['changed']),
             (1, 1, 1))
        by = {r['change']: r for r in rows_of(records, 't')}
        same(by['changed']['key'], {'id': ['int', '2']})
        has(str(by['changed']['before']), 'old')
        has(str(by['changed']['after']), 'new')
        has(str(by['removed']['before']), 'gone')
        has(str(by['added']['after']), 'come')
        r = run('diff', a, b).expect(NO)
        has(r.out, 't', 'old', 'new', 'gone', 'come')
        assert 'same' not in r.out, r.out


def test_an_added_column_and_three_changed_rows_are_exactly_that():
    with folder() as d:
        a = make(f'{d}/a.db', T, *[
            ('insert into t values(?, ?)', (i, i)) for i in range(100)])
        shutil.copy(a, f'{d}/b.db')
        make(f'{d}/b.db', 'update t set v = -v where id in (5, 6, 7)',
             'alter table t add column note text')
        records, counts = differs(a, f'{d}/b.db', 't')
        same((counts['added'], counts['removed'], counts['changed']),
             (0, 0, 3))
        same(len([r for r in records if r['kind'] == 'schema']), 1)


def test_fts_and_sqlite_sequence_are_ordinary_tables():
    with folder() as d:
        a, b = pair(d, 'create virtual table f using fts5(x)',
                    'create table s(id integer primary key autoincrement)',
                    'insert into s default values',
                    after=["insert into f values('word')",
                           'insert into s default values',
                           'delete from s where id=2'])
        _, summary = differs(a, b)
        same(summary['tables']['sqlite_sequence']['changed'], 1)
        assert any(n.startswith('f_') for n in summary['tables']), summary


def test_verify_unchanged_of_two_captures_of_an_idle_writer_passes():
    with folder() as d, Writer() as w:
        db = bank(w, f'{d}/app.db')
        capture(db, f'{d}/1')
        w.sql('pragma wal_checkpoint(restart)')
        capture(db, f'{d}/2')
        r = run('verify', '--unchanged', '--json', f'{d}/1', f'{d}/2')
        r.expect(YES, NOT_CHECKED)
        same((r.summary()['verdict'], r.summary()['equal']), ('pass', True))
        w.sql('update acct set bal = bal + 1 where id = 1')
        capture(db, f'{d}/3')
        r = run('verify', '--unchanged', '--json', f'{d}/2', f'{d}/3')
        r.expect(NO)
        same((r.summary()['verdict'], r.summary()['equal']), ('fail', False))


def test_equal_content_in_other_shapes_is_equal():
    with folder() as d:
        rows = [('insert into t values(?, ?)', (i, 'x' * i))
                for i in range(200)]
        a = make(f'{d}/a.db', T, *rows)
        b = make(f'{d}/b.db', T, *reversed(rows))
        c = sqlite3.connect(b, isolation_level=None)
        c.execute('pragma journal_mode=wal')
        c.execute('create index i on t(v)')
        c.execute('drop index i')
        c.close()
        same(diff(a, b)[2]['equal'], True)


@limit(180)
def test_a_million_changed_rows_are_streamed_in_bounded_memory():
    with folder() as d:
        fill = ('with recursive n(i) as (select 1 union all select i+1 from '
                'n where i < 1000000) insert into t select i, i from n')
        a = make(f'{d}/a.db', T, fill)
        shutil.copy(a, f'{d}/b.db')
        make(f'{d}/b.db', 'update t set v = v + 1')
        with open(f'{d}/out', 'wb') as f:
            status = subprocess.run(
                [HOLDFAST, 'diff', '--json', '--full', a, f'{d}/b.db'],
                stdout=f).returncode
        same(status, NO)
        with open(f'{d}/out', 'rb') as f:
            same(sum(1 for line in f if line.startswith(b'{"kind":"row"')),
                 1000000)
