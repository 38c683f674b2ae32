"""Schemas that hold what is no text: each byte of them counts, in diff and
under a policy, and a sentence allows no more than it can name."""
import json
import os
import shutil
import sqlite3
import subprocess

from holdfast import (NO, YES, diff, each, folder, has, make, need_tool,
                      patch, recover, run, same)

# Tables, an index, a trigger and a view to forge.
BASE = '''
CREATE TABLE t(id INTEGER PRIMARY KEY, v);
CREATE TABLE u(x);
CREATE INDEX i ON t(v);
CREATE TRIGGER g AFTER INSERT ON t BEGIN SELECT 1; END;
CREATE VIEW w AS SELECT v FROM t;
'''
TEXT = {
    'w': 'CREATE VIEW w AS SELECT v FROM t',
    'g': 'CREATE TRIGGER g AFTER INSERT ON t BEGIN SELECT 1; END',
    'i': 'CREATE INDEX i ON t(v)',
    'u': 'CREATE TABLE u(x)',
}
TYPE = {'w': 'view', 'g': 'trigger', 'i': 'index', 'u': 'table'}


def forge(db, name, column, value, encoding='UTF-8'):
    """value: SQL for what that column of sqlite_schema is to be."""
    make(db, 'pragma writable_schema=on',
         f"update sqlite_master set {column}={value} where name='{name}'",
         encoding=encoding)


def schema(db):
    """All that sqlite_schema holds, as bytes, with what kind they are."""
    c = sqlite3.connect(db)
    c.text_factory = bytes
    got = sorted(map(repr, c.execute(
        'select typeof(type), cast(type as blob), cast(name as blob),'
        ' cast(tbl_name as blob), typeof(sql), cast(sql as blob)'
        ' from sqlite_master')))
    c.close()
    return got


def document(d, **parts):
    path = f'{d}/policy.json'
    with open(path, 'w') as f:
        json.dump({'policy': 'holdfast-policy/1', **parts}, f)
    return path


def verify(d, **parts):
    return run('verify', '--json', '--policy', document(d, **parts),
               f'{d}/a.db', f'{d}/b.db')


def changes(name, **more):
    return {'change': [{'type': TYPE[name], 'name': name, **more}]}


def rules(r):
    r.expect(NO)
    return [(v['rule'], v['pointer']) for v in r.summary()['violations']]


# name: (object, column, before, after); {} stands for what is there.
TEXTS = {
    'behind the NUL of a view': (
        'w', 'sql', "{}||char(0)||'one'", "{}||char(0)||'two'"),
    'behind the NUL of a trigger': (
        'g', 'sql', '{}', "{}||char(0)||'x'"),
    'behind the NUL of an index': (
        'i', 'sql', "{}||char(0)||'x'", '{}'),
    'behind the NUL of a table': (
        'u', 'sql', '{}||char(0)', '{}||char(0)||char(0)'),
    'a blob': ('w', 'sql', '{}', 'cast({} as blob)'),
    'another blob': (
        'w', 'sql', "cast({}||char(0)||'a' as blob)",
        "cast({}||char(0)||'b' as blob)"),
}
NAMES = {
    'a name with a NUL': ('w', 'name', '{}', '{}||char(0)'),
    'another name behind a NUL': (
        'w', 'name', "{}||char(0)||'a'", "{}||char(0)||'b'"),
    'a table with a NUL': ('i', 'tbl_name', '{}', "{}||char(0)||'a'"),
    'a type with a NUL': ('g', 'type', '{}', "{}||char(0)||'a'"),
    'a type that is a blob': ('w', 'type', '{}', 'cast({} as blob)'),
}


def pair(d, case, encoding='UTF-8'):
    name, column, before, after = case
    for path, value in ((f'{d}/a.db', before), (f'{d}/b.db', after)):
        make(path, BASE, encoding=encoding)
        if value != '{}':
            forge(path, name, column, value.format(column), encoding)
    assert schema(f'{d}/a.db') != schema(f'{d}/b.db')


def one_object(d, name):
    """The record of diff, which must be there, and show it to a person."""
    status, records, summary = diff(f'{d}/a.db', f'{d}/b.db')
    same((status, summary['equal']), (NO, False))
    same([(r['kind'], r['change'], r['name']) for r in records],
         [('schema', 'changed', name)])
    assert records[0]['stored_before'] != records[0]['stored_after']
    text = run('diff', f'{d}/a.db', f'{d}/b.db').expect(NO).out
    was, now = (line[4:] for line in text.splitlines()
                if line[4:].startswith('stored as type='))
    assert was != now, text
    return records[0]


@each(*TEXTS)
def test_a_text_that_goes_on_where_sqlite_stops_is_another_text(which):
    name = TEXTS[which][0]
    with folder() as d:
        pair(d, TEXTS[which])
        record = one_object(d, name)
        same((record['before'], record['after'], record['structure']),
             (TEXT[name], TEXT[name], False))
        run('verify', '--unchanged', f'{d}/a.db', f'{d}/b.db').expect(NO)
        same(rules(verify(d)), [('change', '')])
        verify(d, schema=changes(name)).expect(YES)
        # The new text is not this one, but where nothing is behind it.
        status = YES if TEXTS[which][3] == '{}' else NO
        verify(d, schema=changes(name, sql=TEXT[name])).expect(status)
        run('verify', '--unchanged', f'{d}/b.db', f'{d}/b.db').expect(YES)


@each(*NAMES)
def test_a_name_that_goes_on_where_sqlite_stops_is_named_by_nothing(which):
    name = NAMES[which][0]
    with folder() as d:
        pair(d, NAMES[which])
        same(one_object(d, name)['structure'], True)
        same(rules(verify(d)), [('change', '')])
        found = rules(verify(d, schema=changes(name)))
        assert ('change', '/schema') in found, found
        run('verify', '--unchanged', f'{d}/b.db', f'{d}/b.db').expect(YES)


@each('utf-16-le', 'utf-16-be')
def test_a_text_of_lone_surrogates_is_not_what_it_is_converted_to(codec):
    """SQLite takes either half of a pair as the first, whatever follows: its
    UTF-8 of both texts is the same."""
    with folder() as d:
        said = set()
        for path, unit in (('a', '\ud800'), ('b', '\udc00')):
            db = f'{d}/{path}.db'
            make(db, "CREATE VIEW w AS SELECT '[odd]'",
                 encoding=codec.replace('utf-16-', 'UTF-16'))
            patch(db, '[odd]'.encode(codec),
                  f'[{unit}\ud800x]'.encode(codec, 'surrogatepass'))
            c = sqlite3.connect(db)
            said.add(c.execute('select sql from sqlite_master').fetchone())
            c.close()
        same(len(said), 1)
        assert schema(f'{d}/a.db') != schema(f'{d}/b.db')
        one_object(d, 'w')
        same(rules(verify(d)), [('change', '')])
        verify(d, schema=changes('w')).expect(YES)


def test_a_type_in_another_case_is_a_change_that_is_seen():
    with folder() as d:
        make(f'{d}/a.db', BASE)
        shutil.copy(f'{d}/a.db', f'{d}/b.db')
        forge(f'{d}/b.db', 'w', 'type', "'VIEW'")
        _, records, _ = diff(f'{d}/a.db', f'{d}/b.db')
        same([(r['type_before'], r['type'], r['structure'])
              for r in records], [('view', 'VIEW', True)])
        has(run('diff', f'{d}/a.db', f'{d}/b.db').expect(NO).out,
            'schema ~ VIEW w\n  was view w on w\n')


RENAME = {'rename_column': [{'table': 't', 'from': 'v', 'to': 'z'}]}


@each("name='w'", "name='i'", "name='t'")
def test_a_rename_excuses_nothing_behind_a_nul(where):
    with folder() as d:
        make(f'{d}/a.db', BASE)
        shutil.copy(f'{d}/a.db', f'{d}/b.db')
        make(f'{d}/b.db', 'alter table t rename column v to z')
        verify(d, schema=RENAME).expect(YES)
        make(f'{d}/b.db', 'pragma writable_schema=on',
             "update sqlite_master set sql=sql||char(0)||'; x' where "
             + where)
        found = rules(verify(d, schema=RENAME))
        same([rule for rule, _ in found], ['change'])


def test_a_rename_excuses_no_type_in_another_case():
    with folder() as d:
        make(f'{d}/a.db', BASE)
        shutil.copy(f'{d}/a.db', f'{d}/b.db')
        make(f'{d}/b.db', 'alter table t rename column v to z')
        forge(f'{d}/b.db', 'w', 'type', "'VIEW'")
        same([rule for rule, _ in rules(verify(d, schema=RENAME))],
             ['change'])


# Names of any bytes, as sqlite3 takes them from its input.

def play(db, script):
    subprocess.run([need_tool('sqlite3'), db], input=script, check=True,
                   capture_output=True)


def played(d, before, after):
    play(f'{d}/a.db', before)
    shutil.copy(f'{d}/a.db', f'{d}/b.db')
    play(f'{d}/b.db', after)


ODD_COLUMNS = b'create table t(id integer primary key, "c\xff", "c\xfe");' \
    b"insert into t values(1, 'a', 'b');"


def test_columns_whose_names_look_alike_are_not_taken_for_each_other():
    with folder() as d:
        played(d, ODD_COLUMNS, b"update t set \"c\xfe\"='z'")
        _, records, _ = diff(f'{d}/a.db', f'{d}/b.db')
        same([(r['before'], r['after']) for r in records],
             [({'c\\xfe': ['text', 'b']}, {'c\\xfe': ['text', 'z']})])
        has(run('diff', f'{d}/a.db', f'{d}/b.db').out,
            "~ t id=1: c\\xfe 'b' \u2192 'z'\n")
        any_change = {'t': {'changed': {}}}
        verify(d, tables=any_change).expect(YES)
        for name in ('c?', 'c\\xfe'):
            found = rules(verify(d, tables={'t': {'changed': {
                'columns': [name]}}}))
            same([rule for rule, _ in found], ['columns', 'columns'])


def test_a_table_whose_name_is_no_text_is_named_by_no_policy():
    with folder() as d:
        played(d, b'create table "t\xff"(x); create table "t\xfe"(x);',
               b'insert into "t\xfe" values(7)')
        _, records, summary = diff(f'{d}/a.db', f'{d}/b.db')
        same([(r['table'], r['table64'], r['after']) for r in records],
             [('t\\xfe', 'dP4=', {'x': ['int', '7']})])
        same(summary['tables']['t\\xff']['added'], 0)
        same(summary['tables']['t\\xfe']['added'], 1)
        for name in ('t?', 't\\xfe', 't\u00fe'):
            found = rules(verify(d, tables={name: {'any': True}}))
            same(found, [('added', '/tables'), ('tables', f'/tables/{name}')])
        same(sorted((t['name'], t['name64'])
                    for t in recover(f'{d}/b.db')['tables']),
             [('t\\xfe', 'dP4='), ('t\\xff', 'dP8=')])


def test_an_object_whose_name_is_no_text_is_named_by_no_sentence():
    with folder() as d:
        played(d, b'create table t(x);', b'create view "w\xff" as select 1')
        for name in ('w?', 'w\\xff', 'w\u00ff'):
            same(rules(verify(d, schema={'add': [
                {'type': 'view', 'name': name}]})),
                [('add', '/schema'), ('add', '/schema/add/0')])


def test_bytes_that_are_no_text_within_a_text_are_told_apart():
    with folder() as d:
        played(d, b"CREATE VIEW w AS SELECT 'a\xff'; CREATE TABLE t(x);",
               b"DROP VIEW w; CREATE VIEW w AS SELECT 'a\xfe'")
        _, records, _ = diff(f'{d}/a.db', f'{d}/b.db')
        same([(r['after'], r['structure']) for r in records],
             [("CREATE VIEW w AS SELECT 'a\\xfe'", True)])
        assert records[0]['before64'] != records[0]['after64']
        for text in ("CREATE VIEW w AS SELECT 'a?'",
                     "CREATE VIEW w AS SELECT 'a\\xfe'"):
            same(rules(verify(d, schema=changes('w', sql=text))),
                 [('change', '/schema/change/0')])
        verify(d, schema=changes('w')).expect(YES)


@each(b'\xff', b'\xfe')
def test_a_rename_leaves_bytes_that_are_no_text_as_they_are(byte):
    with folder() as d:
        played(d, b'CREATE TABLE t(v); CREATE VIEW w AS SELECT v, \'\xff\''
               b' FROM t', b'alter table t rename column v to z;'
               b'drop view w; CREATE VIEW w AS SELECT z, \'' + byte +
               b'\' FROM t')
        r = verify(d, schema=RENAME)
        if byte == b'\xff':
            r.expect(YES)
        else:
            same([rule for rule, _ in rules(r)], ['change'])
