"""verify --policy: each sentence of the language, what it allows and the
smallest step beyond it."""
import copy
import hashlib
import json
import os
import shutil
import subprocess

from holdfast import (NO, NOT_CHECKED, ROOT, USAGE, YES, Writer, bank,
                      capture, each, folder, has, make, need_tool, run, same)

T = 'create table t(id integer primary key, v, w);' \
    "insert into t values(1, 'a', 10), (2, 'b', 20), (3, 'c', 30);"


def policy(**parts):
    return {'policy': 'holdfast-policy/1', **parts}


def rows(kind, table='t', **section):
    return policy(tables={table: {kind: section}})


def write(d, document, name='policy.json'):
    path = os.path.join(d, name)
    with open(path, 'w') as f:
        f.write(document if isinstance(document, str)
                else json.dumps(document))
    return path


def verify(d, before, after, document, *options):
    """The run of a pair: after is what happens to a copy of before."""
    a, b = f'{d}/a.db', f'{d}/b.db'
    for path in (a, b):
        if os.path.exists(path):
            os.unlink(path)
    make(a, before)
    shutil.copy(a, b)
    make(b, after)
    return run('verify', '--json', '--policy', write(d, document), *options,
               a, b)


def broken(r):
    r.expect(NO)
    same(r.summary()['verdict'], 'fail')
    return [(v['rule'], v['pointer']) for v in r.summary()['violations']]


def changed(**section):
    return rows('changed', **section)


UPDATE = "update t set v='z' where id=2;"
INSERT = "insert into t values(7, 'new', 1);"
DELETE = 'delete from t where id=3;'

# name: (before, what happens, policy, [(what happens instead or besides,
# rule, pointer)...]); a dict in place of SQL is another policy.
SENTENCES = {
    'settings': (
        T, 'pragma user_version=2',
        policy(settings={'user_version': {'from': 0, 'to': 2}}), [
            ('pragma user_version=3', 'settings', '/settings/user_version'),
            ('pragma user_version=2; pragma application_id=1', 'settings',
             '/settings'),
            ('', 'settings', '/settings/user_version')]),
    'a setting that is not named': (
        T, '', policy(), [('pragma user_version=1', 'settings', '')]),
    'add': (
        T, 'create index i on t(v)',
        policy(schema={'add': [{'type': 'index', 'name': 'i'}]}), [
            ('', 'add', '/schema/add/0'),
            ('create index j on t(v)', 'add', '/schema'),
            ('create view i as select 1', 'add', '/schema')]),
    'add with its text': (
        T, 'CREATE INDEX i ON t(v)',
        policy(schema={'add': [{'type': 'index', 'name': 'i',
                                'sql': 'CREATE INDEX i ON t(v)'}]}), [
            ('CREATE INDEX i ON t(w)', 'add', '/schema/add/0'),
            ('CREATE INDEX i ON t( v)', 'add', '/schema/add/0')]),
    'the rows of an added table are not brought by it': (
        T, 'create table n(x)',
        policy(schema={'add': [{'type': 'table', 'name': 'n'}]}), [
            ('create table n(x); insert into n values(1)', 'added', '')]),
    'drop': (
        T + 'create view w as select 1;', 'drop view w',
        policy(schema={'drop': [{'type': 'view', 'name': 'w'}]}), [
            ('', 'drop', '/schema/drop/0'),
            ('drop view w; drop table t', 'drop', '/schema')]),
    'change': (
        T + 'create view w as select 1;',
        'drop view w; create view w as select 2',
        policy(schema={'change': [{'type': 'view', 'name': 'w'}]}), [
            ('', 'change', '/schema/change/0'),
            ('drop view w', 'change', '/schema/change/0')]),
    'change with its text': (
        T + 'CREATE VIEW w AS SELECT 1;',
        'DROP VIEW w; CREATE VIEW w AS SELECT 2',
        policy(schema={'change': [{'type': 'view', 'name': 'w',
                                   'sql': 'CREATE VIEW w AS SELECT 2'}]}), [
            ('DROP VIEW w; CREATE VIEW w AS SELECT 3', 'change',
             '/schema/change/0')]),
    'add_column': (
        T, "alter table t add column e TEXT NOT NULL DEFAULT ''",
        policy(schema={'add_column': [
            {'table': 't', 'name': 'e', 'type': 'TEXT', 'notnull': True,
             'default': "''"}]}), [
            ('', 'add_column', '/schema/add_column/0'),
            ("alter table t add column e TEXT NOT NULL DEFAULT 'x'",
             'change', '/schema/add_column/0'),
            ("alter table t add column e TEXT DEFAULT ''", 'change',
             '/schema/add_column/0'),
            ("alter table t add column e BLOB NOT NULL DEFAULT ''",
             'change', '/schema/add_column/0'),
            ("alter table t add column e TEXT NOT NULL DEFAULT ''"
             " CHECK (e != 'x')", 'change', '/schema/add_column/0'),
            ("alter table t add column e TEXT NOT NULL DEFAULT '';"
             'alter table t add column f', 'change',
             '/schema/add_column/0'),
            ("alter table t add column e TEXT NOT NULL DEFAULT '';"
             "update t set e='x' where id=1", 'changed', '')]),
    'drop_column': (
        T, 'alter table t drop column w',
        policy(schema={'drop_column': [{'table': 't', 'name': 'w'}]}), [
            ('', 'drop_column', '/schema/drop_column/0'),
            ('alter table t drop column v; alter table t drop column w',
             'change', '/schema/drop_column/0'),
            ("alter table t drop column w; update t set v='x' where id=1",
             'changed', '')]),
    'rename_column': (
        T + 'create view q as select v from t; create index i on t(v);',
        'alter table t rename column v to "new name"',
        policy(schema={'rename_column': [
            {'table': 't', 'from': 'v', 'to': 'new name'}]}), [
            ('', 'rename_column', '/schema/rename_column/0'),
            ('alter table t rename column v to "new name";'
             "update t set \"new name\"='z' where id=1", 'changed', ''),
            ('alter table t rename column v to other', 'rename_column',
             '/schema/rename_column/0'),
            ('alter table t rename column v to "new name"; drop view q;'
             'create view q as select w from t', 'change',
             '/schema/rename_column/0')]),
    'rename_table': (
        T + 'create table c(x references t(id)); create index i on t(v);'
        'create trigger g after insert on t begin select new.v; end;'
        'create view q as select v from t;',
        'alter table t rename to u',
        policy(schema={'rename_table': [{'from': 't', 'to': 'u'}]}), [
            ('', 'rename_table', '/schema/rename_table/0'),
            ("alter table t rename to u; update u set v='z' where id=1",
             'changed', ''),
            ('alter table t rename to x', 'rename_table',
             '/schema/rename_table/0'),
            ('alter table t rename to u; drop index i;'
             'create index i on u(w)', 'change', '/schema/rename_table/0'),
            ('alter table t rename to u; drop trigger g; create trigger g'
             ' after insert on u begin select new.w; end', 'change',
             '/schema/rename_table/0')]),
    'a table that is not named': (
        T, '', policy(), [(UPDATE, 'changed', ''), (INSERT, 'added', ''),
                          (DELETE, 'removed', '')]),
    'added': (T, INSERT, rows('added'), [
        (INSERT + UPDATE, 'changed', '/tables/t'),
        (INSERT + DELETE, 'removed', '/tables/t')]),
    'removed': (T, DELETE, rows('removed'), [
        (DELETE + INSERT, 'added', '/tables/t')]),
    'changed': (T, UPDATE, rows('changed'), [
        (UPDATE + DELETE, 'removed', '/tables/t')]),
    'count': (T, INSERT, rows('added', count=1), [
        ('', 'count', '/tables/t/added/count'),
        (INSERT + "insert into t values(8, 'x', 1)", 'count',
         '/tables/t/added/count')]),
    'count of removed rows': (T, DELETE, rows('removed', count=1), [
        ('delete from t where id > 1', 'count', '/tables/t/removed/count')]),
    'count within bounds': (
        T, UPDATE, changed(count={'min': 1, 'max': 2}), [
            ('', 'count', '/tables/t/changed/count'),
            ("update t set v='z'", 'count', '/tables/t/changed/count')]),
    'count from below': (T, "update t set v='z'", changed(count={'min': 2}), [
        (UPDATE, 'count', '/tables/t/changed/count')]),
    'rows': (
        T, INSERT + "insert into t values(8, 'x', 2)",
        rows('added', rows=[{'id': ['int', '7']}, {'v': ['text', 'x']}]), [
            (INSERT, 'rows', '/tables/t/added/rows/1'),
            (INSERT + "insert into t values(8, 'y', 2)", 'rows',
             '/tables/t/added/rows'),
            (INSERT + "insert into t values(8, 'x', 2), (9, 'x', 2)",
             'rows', '/tables/t/added/rows/1'),
            ("insert into t values(7, 'x', 2)", 'rows',
             '/tables/t/added/rows')]),
    'rows that are none': (T, '', rows('added', rows=[]), [
        (INSERT, 'rows', '/tables/t/added/rows')]),
    'removed rows': (
        T, DELETE, rows('removed', rows=[{'v': ['text', 'c']}]), [
            ('delete from t where id=2', 'rows',
             '/tables/t/removed/rows/0')]),
    'changed rows': (
        T, UPDATE, changed(rows=[{'key': {'id': ['int', '2']},
                                  'set': {'v': ['text', 'z']}}]), [
            ("update t set v='y' where id=2", 'rows',
             '/tables/t/changed/rows/0'),
            ("update t set v='z' where id=1", 'rows',
             '/tables/t/changed/rows/0'),
            ("update t set v='z', w=0 where id=2", 'rows',
             '/tables/t/changed/rows/0'),
            ("update t set v='z' where id in (1, 2)", 'rows',
             '/tables/t/changed/rows')]),
    'columns': (T, UPDATE, changed(columns=['v']), [
        (UPDATE + 'update t set w=0 where id=2', 'columns',
         '/tables/t/changed/columns'),
        (changed(columns=['v', 'x']), 'columns',
         '/tables/t/changed/columns')]),
    'each of changed rows': (T, "update t set v='z'", changed(
        each={'v': ['text', 'z']}), [
            ("update t set v='z'; update t set v='y' where id=1", 'each',
             '/tables/t/changed/each/v'),
            (changed(each={'x': None}), 'each', '/tables/t/changed/each/x')]),
    'each of added rows': (T, INSERT, rows(
        'added', each={'w': {'type': 'int', 'max': 1}}), [
            (INSERT + 'insert into t values(8, null, 2)', 'each',
             '/tables/t/added/each/w')]),
    'each of removed rows': (T, DELETE, rows(
        'removed', each={'v': ['text', 'c']}), [
            ('delete from t where id=2', 'each',
             '/tables/t/removed/each/v')]),
    'any': (T + 'create table u(x);', UPDATE + INSERT + DELETE,
            policy(tables={'t': {'any': True}}), [
                (UPDATE + 'insert into u values(1)', 'added', '/tables'),
                (UPDATE + 'alter table t add column x', 'change', '')]),
    'a table that is nowhere': (T, UPDATE, rows('changed'), [
        (policy(tables={'t': {'any': True}, 'T': {'added': {}}}), 'tables',
         '/tables/T')]),
    'add a number': (T, 'update t set w=w+2 where id=2', changed(
        rows=[{'key': {'id': ['int', '2']}, 'set': {'w': {'add': 2}}}]), [
            ('update t set w=w+3 where id=2', 'rows',
             '/tables/t/changed/rows/0'),
            ('update t set w=w+2.0 where id=2', 'rows',
             '/tables/t/changed/rows/0')]),
    'add does not overflow': (
        'create table t(id integer primary key, w);'
        'insert into t values(1, 9223372036854775806);',
        'update t set w=9223372036854775807',
        changed(each={'w': {'add': 1}}), [
            ('update t set w=-9223372036854775808', 'each',
             '/tables/t/changed/each/w'),
            (changed(each={'w': {'add': 2}}), 'each',
             '/tables/t/changed/each/w')]),
    'same': (T, UPDATE, changed(each={'w': {'same': True}}), [
        (UPDATE + 'update t set w=0 where id=2', 'each',
         '/tables/t/changed/each/w')]),
    'a new column in a changed row': (
        T, "alter table t add column e DEFAULT 5; update t set v='z'"
        ' where id=2',
        policy(schema={'add_column': [
            {'table': 't', 'name': 'e', 'default': '5'}]},
               tables={'t': {'changed': {'columns': ['v']}}}), [
            ("alter table t add column e DEFAULT 5; update t set v='z', e=6"
             ' where id=2', 'columns', '/tables/t/changed/columns')]),
    'one name in one row': (
        T, "insert into t values(7, 5, 5)", rows('added', rows=[
            {'v': {'bind': 'x'}, 'w': {'bind': 'x'}}]), [
                ("insert into t values(7, 5, 6)", 'rows',
                 '/tables/t/added/rows/0')]),
}


@each(*SENTENCES)
def test_a_sentence_allows_what_it_says_and_no_step_more(which):
    before, after, document, steps = SENTENCES[which]
    with folder() as d:
        r = verify(d, before, after, document)
        r.expect(YES)
        same(r.summary()['verdict'], 'pass')
        same(r.summary()['violations'], [])
        for step, rule, pointer in steps:
            sql, doc = (after, step) if isinstance(step, dict) else \
                (step, document)
            found = broken(verify(d, before, sql, doc))
            assert (rule, pointer) in found, (step, found)


CELLS = {
    'null': ('null', None),
    'int': ('-9223372036854775808', ['int', '-9223372036854775808']),
    'real': ('1.5', ['real', '0x1.8p+0']),
    'text': ("'\u00e9'", ['text', '\u00e9']),
    'text64': ("cast(x'610062' as text)", ['text64', 'YQBi']),
    'invalid text': ("cast(x'ff' as text)", ['text64', '/w==']),
    'blob': ("x'00ff'", ['blob', {'bytes': 2, 'sha256': hashlib.sha256(
        b'\0\xff').hexdigest()}]),
}
OTHERS = ('null', '0', '0.0', "''", "x''", '1', '1.0', "'1'", "x'00fe'")


@each(*CELLS)
def test_a_cell_is_matched_by_type_and_bits(which):
    sql, cell = CELLS[which]
    with folder() as d:
        doc = rows('added', rows=[{'v': cell}])
        insert = 'insert into t values(7, {}, 0)'
        verify(d, T, insert.format(sql), doc).expect(YES)
        for other in OTHERS:
            if other != sql:
                verify(d, T, insert.format(other), doc).expect(NO)


MATCHERS = {
    'int': ({'type': 'int'}, ('1', '-1'), ('1.0', "'1'", 'null')),
    'int from': ({'type': 'int', 'min': 5}, ('5', '6'), ('4', '5.0')),
    'int to': ({'type': 'int', 'max': 5}, ('5', '-9'), ('6',)),
    'int of 64 bits': (
        {'type': 'int', 'min': ['int', '9223372036854775807']},
        ('9223372036854775807',), ('9223372036854775806',)),
    'real': ({'type': 'real', 'min': ['real', '0.5'], 'max': 2},
             ('0.5', '2.0'), ('0.49', '2.01', '1')),
    'text': ({'type': 'text'}, ("''", "cast(x'ff' as text)"), ("x'61'",)),
    'length of text': ({'type': 'text', 'length': 2},
                       ("'\u00e9\u00e9'", "'ab' || char(0) || 'c'"),
                       ("'a'", "'abc'", "x'6162'")),
    'length of a blob': ({'type': 'blob', 'length': {'min': 2, 'max': 3}},
                         ("x'0000'", "x'000000'"), ("x'00'", "'ab'")),
    'glob': ({'type': 'text', 'pattern': 'a[0-9]*z?'},
             ("'a1zx'", "'a9 zzz\u00e9'"), ("'A1zx'", "'a1z'", "'axzx'")),
    'null': ({'type': 'null'}, ('null',), ('0', "''")),
}


@each(*MATCHERS)
def test_a_matcher_takes_its_type_within_its_bounds(which):
    matcher, good, bad = MATCHERS[which]
    with folder() as d:
        doc = rows('added', rows=[{'v': matcher}])
        insert = 'insert into t values(7, {}, 0)'
        for value in good:
            verify(d, T, insert.format(value), doc).expect(YES)
        for value in bad:
            verify(d, T, insert.format(value), doc).expect(NO)


ORDERS = 'create table a_run(id integer primary key, n);' \
    'insert into a_run values(1, 0), (2, 0);' \
    'create table item(id integer primary key, run int);'


@each(('a_run', 'item'), ('item', 'a_run'))
def test_a_name_bound_in_one_table_selects_the_row_in_another(order):
    tables = {
        'item': {'added': {'rows': [{'run': {'bind': 'r'}}]}},
        'a_run': {'changed': {'rows': [{'key': {'id': {'bind': 'r'}},
                                        'set': {'n': {'add': 1}}}]}}}
    doc = policy(tables={k: tables[k] for k in order})
    with folder() as d:
        good = 'insert into item values(5, 2);' \
            'update a_run set n=n+1 where id=2'
        verify(d, ORDERS, good, doc).expect(YES)
        verify(d, ORDERS, good, doc, '--bind', 'r=["int","2"]').expect(YES)
        r = verify(d, ORDERS, good, doc, '--bind', 'r=["int","1"]')
        assert ('rows', '/tables/item/added/rows/0') in broken(r)
        found = broken(verify(d, ORDERS, good.replace('id=2', 'id=1'), doc))
        assert any(rule == 'bind' for rule, _ in found), found


def test_two_values_of_one_name_are_both_named():
    doc = policy(tables={'item': {'added': {'rows': [
        {'id': ['int', '5'], 'run': {'bind': 'r'}},
        {'id': ['int', '6'], 'run': {'bind': 'r'}}]}}})
    with folder() as d:
        verify(d, ORDERS, 'insert into item values(5, 1), (6, 1)',
               doc).expect(YES)
        r = verify(d, ORDERS, 'insert into item values(5, 1), (6, 2)', doc)
        v = [x for x in r.expect(NO).summary()['violations']
             if x['rule'] == 'bind'][0]
        same((v['column'], v['before'], v['after'], v['pointer']),
             ('r', ['int', '1'], ['int', '2'], '/tables/item/added/rows/1'))
        has(v['detail'], '/tables/item/added/rows/0')


def test_names_are_followed_from_table_to_table():
    before = ORDERS + 'create table note(id integer primary key, item int);'
    after = 'insert into item values(5, 1), (6, 2);' \
        'insert into note values(1, 6); update a_run set n=9 where id=2'
    doc = policy(tables={
        'a_run': {'changed': {'rows': [{'key': {'id': {'bind': 'r'}},
                                        'set': {'n': {'type': 'int'}}}]}},
        'item': {'added': {'rows': [
            {'id': {'bind': 'i'}, 'run': {'bind': 'r'}},
            {'run': ['int', '1']}]}},
        'note': {'added': {'rows': [{'item': {'bind': 'i'}}]}}})
    with folder() as d:
        verify(d, before, after, doc).expect(YES)
        verify(d, before, after.replace('(1, 6)', '(1, 5)'), doc).expect(NO)


def test_a_name_in_each_is_given_from_outside():
    doc = rows('added', each={'v': {'bind': 'x'}})
    with folder() as d:
        r = verify(d, T, INSERT, doc).expect(USAGE)
        has(r.text(), '/tables/t/added/each/v', '--bind x=CELL')
        verify(d, T, INSERT, doc, '--bind', 'x=["text","new"]').expect(YES)
        verify(d, T, INSERT, doc, '--bind', 'x=["text","old"]').expect(NO)


BINDS = {
    'none given': (
     (), "bind a = 'new' (free: from the row of"
     ' /tables/t/added/rows/0)\n'
     'bind n = NULL (free: from the row of /tables/t/added/rows/0)\n',
     [{'name': 'a', 'given': False, 'value': ['text', 'new'],
       'pointer': '/tables/t/added/rows/0'},
      {'name': 'n', 'given': False, 'value': None,
       'pointer': '/tables/t/added/rows/0'}], YES),
    'one given': (
     ('a=["text","new"]',), "bind a = 'new' (given)\n"
     'bind n = NULL (free: from the row of /tables/t/added/rows/0)\n',
     [{'name': 'a', 'given': True, 'value': ['text', 'new']},
      {'name': 'n', 'given': False, 'value': None,
       'pointer': '/tables/t/added/rows/0'}], YES),
    'one given that no row has': (
     ('a=["text","old"]',), "bind a = 'old' (given)\n"
     'bind n (free: no row gave it a value)\n',
     [{'name': 'a', 'given': True, 'value': ['text', 'old']},
      {'name': 'n', 'given': False}], NO),
    'all given': (
     ('n=null', 'a=["text","new"]'),
     "bind a = 'new' (given)\nbind n = NULL (given)\n",
     [{'name': 'a', 'given': True, 'value': ['text', 'new']},
      {'name': 'n', 'given': True, 'value': None}], YES),
}


@each(*BINDS)
def test_a_verdict_says_which_names_were_given_and_which_were_free(which):
    given, words, binds, status = BINDS[which]
    doc = rows('added', rows=[{'v': {'bind': 'a'}, 'w': {'bind': 'n'}}])
    options = [x for word in given for x in ('--bind', word)]
    with folder() as d:
        r = verify(d, T, INSERT.replace('1)', 'null)'), doc, *options)
        same(r.expect(status).summary()['binds'], binds)
        text = run('verify', '--policy', f'{d}/policy.json', *options,
                   f'{d}/a.db', f'{d}/b.db').expect(status).out
        has(text, words)


GOOD = {
    'policy': 'holdfast-policy/1',
    'settings': {'user_version': {'from': 0, 'to': 2}},
    'schema': {'add': [{'type': 'index', 'name': 'i'}],
               'add_column': [{'table': 't', 'name': 'e'}],
               'rename_table': [{'from': 'a', 'to': 'b'}]},
    'tables': {'t': {'changed': {'count': 1, 'rows': [
        {'key': {'id': ['int', '1']}, 'set': {'v': {'bind': 'x'}}}]}}},
}


def spoiled(*path):
    """(the document, the part at path) to change."""
    doc = copy.deepcopy(GOOD)
    part = doc
    for key in path:
        part = part[key]
    return doc, part


def put(path, value):
    doc, part = spoiled(*path[:-1])
    part[path[-1]] = value
    return json.dumps(doc)


WHERE = ('tables', 't', 'changed')
MALFORMED = {
    'no JSON': ('{', 'line 1, column 2'),
    'trailing text': (json.dumps(GOOD) + '\n x', 'line 2, column 2'),
    'a NUL in a name': ('{"policy":"a\\u0000"}', 'line 1, column 19'),
    'a fraction': ('{\n"a":1.0}', 'line 2, column 6'),
    'too deep': ('[' * 40, 'nested too deep'),
    'a doubled key': ('{"policy":"holdfast-policy/1","policy":1}',
                      '/policy: the key is there twice'),
    'another format': (put(('policy',), 'x'), '/policy: '),
    'an unknown key': (put(('table',), {}), '/table: no such key is known'
                       ' here, only policy, settings, schema, tables\n'),
    'wrong case': (put(('Settings',), {}), '/Settings: no such key'),
    'a key of the schema': (put(('schema', 'remove'), []), '/schema/remove: '
                            'no such key is known here, only add, drop,'
                            ' change, add_column, drop_column,'
                            ' rename_column, rename_table\n'),
    'a key of a section': (put((*WHERE, 'Count'), 1),
                           '/tables/t/changed/Count: no such key is known'
                           ' here, only count, rows, each, columns\n'),
    'a key of a matcher': (put((*WHERE, 'rows', 0, 'set', 'v'),
                               {'type': 'text', 'max': 1}),
                           '/tables/t/changed/rows/0/set/v/max: no such key'
                           ' is known here, only type, length, pattern\n'),
    'a matcher': (put((*WHERE, 'rows', 0, 'set', 'v'), {'glob': 'x'}),
                  '/tables/t/changed/rows/0/set/v: no such matcher is known'
                  ' here: it must be a cell, or have "type", "bind", "add"'
                  ' or "same"\n'),
    'a matcher of a key': (put((*WHERE, 'rows', 0, 'key', 'id'), {'x': 1}),
                           '/tables/t/changed/rows/0/key/id: no such matcher'
                           ' is known here: it must be a cell, or have'
                           ' "type" or "bind"\n'),
    'a type of cells': (put((*WHERE, 'rows', 0, 'set', 'v'),
                            {'type': 'number'}),
                        '/tables/t/changed/rows/0/set/v/type: must be int,'
                        ' real, text, blob or null\n'),
    'a setting': (put(('settings', 'x'), {'from': 1, 'to': 2}),
                  '/settings/x: no such key is known here, only user_version,'
                  ' application_id, auto_vacuum, page_size, encoding\n'),
    'a setting without change': (
        put(('settings', 'user_version', 'to'), 0), '/settings/user_version'),
    'an integer in a string': (put((*WHERE, 'count'), '1'),
                               '/tables/t/changed/count: '),
    'a negative count': (put((*WHERE, 'count'), -1),
                         '/tables/t/changed/count: '),
    'an empty range': (put((*WHERE, 'count'), {}),
                       '/tables/t/changed/count: '),
    'min over max': (put((*WHERE, 'count'), {'min': 2, 'max': 1}),
                     '/tables/t/changed/count: '),
    'a bare value': (put((*WHERE, 'rows', 0, 'set', 'v'), 5),
                     '/tables/t/changed/rows/0/set/v: '),
    'no cell': (put((*WHERE, 'rows', 0, 'set', 'v'), ['int', '01']),
                '/tables/t/changed/rows/0/set/v/1: '),
    'no type': (put((*WHERE, 'rows', 0, 'set', 'v'), {'min': 1}),
                '/tables/t/changed/rows/0/set/v: '),
    'min of text': (put((*WHERE, 'rows', 0, 'set', 'v'),
                        {'type': 'text', 'min': 1}),
                    '/tables/t/changed/rows/0/set/v/min: '),
    'two matchers': (put((*WHERE, 'rows', 0, 'set', 'v'),
                         {'bind': 'x', 'type': 'int'}),
                     '/tables/t/changed/rows/0/set/v/type: '),
    'add in a key': (put((*WHERE, 'rows', 0, 'key', 'id'), {'add': 1}),
                     '/tables/t/changed/rows/0/key/id: '),
    'any and more': (put(('tables', 't', 'any'), True), '/tables/t/any: '),
    'any that is not true': (put(('tables', 'u'), {'any': False}),
                             '/tables/u/any: '),
    'an object twice': (put(('schema', 'add'), [
        {'type': 'index', 'name': 'i'}, {'type': 'index', 'name': 'i'}]),
        'stands there twice'),
    'a type of object': (put(('schema', 'add', 0, 'type'), 'Index'),
                         '/schema/add/0/type: '),
    'a text for a drop': (put(('schema', 'drop'), [
        {'type': 'view', 'name': 'w', 'sql': 'x'}]), '/schema/drop/0/sql: '),
    'renames that clash': (put(('schema', 'rename_table'), [
        {'from': 'a', 'to': 'b'}, {'from': 'c', 'to': 'b'}]),
        '/schema/rename_table/1: '),
    'names that are swapped': (put(('schema', 'rename_column'), [
        {'table': 't', 'from': 'a', 'to': 'b'},
        {'table': 'T', 'from': 'B', 'to': 'a'}]),
        '/schema/rename_column/0/from: the old name is in use again'),
    'a column with the old name of another': (put(('schema',), {
        'add_column': [{'table': 't', 'name': 'A', 'type': 'int'}],
        'rename_column': [{'table': 't', 'from': 'a', 'to': 'b'}]}),
        '/schema/rename_column/0/from: the old name is in use again'),
    'a table with the old name of another': (put(('schema',), {
        'add': [{'type': 'table', 'name': 'A'}],
        'rename_table': [{'from': 'a', 'to': 'b'}]}),
        '/schema/rename_table/0/from: the old name is in use again'),
    'a GLOB that takes long': (put((*WHERE, 'rows', 0, 'set', 'v'), {
        'type': 'text', 'pattern': '*' + '?' * 1024}),
        '/tables/t/changed/rows/0/set/v/pattern: '),
    'an empty name': (put(('schema', 'add', 0, 'name'), ''),
                      '/schema/add/0/name: '),
}


@each(*MALFORMED)
def test_a_malformed_policy_is_exit_two_before_evidence_is_read(which):
    document, words = MALFORMED[which]
    with folder() as d:
        path = write(d, document)
        # Neither file exists: to name them would be to have looked.
        r = run('verify', '--policy', path, f'{d}/no.db', f'{d}/nor.db')
        r.expect(USAGE)
        has(r.err, words, 'policy.json')


@each('x', 'x=', 'x=5', 'x=["int","5"', 'y=["int","5"]', '=null')
def test_a_bind_that_is_wrong_or_unused_is_exit_two(word):
    with folder() as d:
        path = write(d, GOOD)
        r = run('verify', '--policy', path, '--bind', word, f'{d}/no.db',
                f'{d}/nor.db').expect(USAGE)
        has(r.err, f'--bind {word.split("=")[0]}')


NAMES = {
    'one': (['x'], "the policy's names: x\n"),
    'two': (['b', 'a'], "the policy's names: b, a\n"),
    'none': ([], 'the policy has no names\n'),
    'many': ([f'name{i}' for i in range(200)], ' more\n'),
}


@each(*NAMES)
def test_a_bind_of_no_pattern_is_told_the_names_that_there_are(which):
    names, words = NAMES[which]
    with folder() as d:
        path = write(d, rows('added', rows=[{'v': {'bind': n}}
                                            for n in names]))
        r = run('verify', '--policy', path, '--bind', 'y=null', f'{d}/no.db',
                f'{d}/nor.db').expect(USAGE)
        has(r.err, '--bind y: no pattern of the policy uses this name\n',
            words)
        for n in names[:20]:
            has(r.err, n)


def test_the_summary_ties_the_verdict_to_packets_policy_and_version():
    with folder() as d, Writer() as w:
        db = bank(w, f'{d}/app.db')
        one = capture(db, f'{d}/1')['id']
        w.sql('update acct set bal = bal + 1 where id = 1')
        two = capture(db, f'{d}/2')['id']
        path = write(d, policy(tables={'acct': {'any': True}}))
        r = run('verify', '--json', '--policy', path, f'{d}/1', f'{d}/2')
        s = r.expect(YES, NOT_CHECKED).summary()
        with open(path, 'rb') as f:
            want = hashlib.sha256(f.read()).hexdigest()
        same((s['before']['id'], s['after']['id'], s['policy_sha256']),
             (one, two, want))
        same((s['exempt'], s['verdict'], s['equal']),
             (['acct'], 'pass', False))
        same(s['version'], run('version').out.split()[1])
        text = run('verify', '--policy', path, f'{d}/1', f'{d}/2').out
        has(text, one, two, want, 'acct', 'exempt')


def test_a_person_reads_where_and_what_became_of_what():
    with folder() as d:
        doc = changed(columns=['w'])
        r = verify(d, T, UPDATE, doc)
        r = run('verify', '--policy', f'{d}/policy.json', f'{d}/a.db',
                f'{d}/b.db').expect(NO)
        has(r.out, "rule columns at /tables/t/changed/columns: t id=2: "
            "v 'b' \u2192 'z': the column may not change\n")


WORDS = {
    'a column that is new': (
     'alter table t add column e; update t set e=5 where id=2',
     policy(schema={'add_column': [{'table': 't', 'name': 'e'}]}),
     't id=2: e (no column) \u2192 5: a row changed, and none may\n',
     'e (no column) \u2192 5\n'),
    'an added row': (
     INSERT, rows('added', each={'v': None}),
     "t id=7: v='new': the cell is not what each row's must be\n",
     "v='new'"),
    'a removed row': (
     DELETE, rows('removed', each={'v': None}),
     "t id=3: v='c': the cell is not what each row's must be\n", "v='c'"),
}


@each(*WORDS)
def test_a_verdict_words_a_cell_as_diff_does(which):
    after, document, words, of_diff = WORDS[which]
    with folder() as d:
        verify(d, T, after, document).expect(NO)
        has(run('verify', '--policy', f'{d}/policy.json', f'{d}/a.db',
                f'{d}/b.db').expect(NO).out, words)
        has(run('diff', f'{d}/a.db', f'{d}/b.db').expect(NO).out, of_diff)


def test_a_flood_of_violations_hides_no_other_and_is_counted():
    fill = ('with recursive n(i) as (select 1 union all select i + 1 from n'
            ' where i < 5000) insert into t select i, 0, 0 from n;')
    before = 'create table t(id integer primary key, v, w);' + fill + \
        'create table u(x);'
    with folder() as d:
        r = verify(d, before, 'update t set v=1, w=1;'
                   ' insert into u values(1)', changed(columns=['v']))
        s = r.expect(NO).summary()
        same(s['violations_total'], 5001)
        same(sum(1 + v['more'] for v in s['violations']), 5001)
        assert any(v['table'] == 'u' for v in s['violations'])


def test_rows_past_the_patterns_fail_in_bounded_memory():
    with folder() as d:
        fill = ('with recursive n(i) as (select 10 union all select i + 1'
                ' from n where i < 20000)'
                ' insert into t select i, 0, 0 from n')
        found = broken(verify(d, T, fill, rows('added', rows=[
            {'id': ['int', '10']}])))
        assert ('rows', '/tables/t/added/rows') in found, found


def test_a_table_that_cannot_be_read_is_never_a_plain_pass():
    with folder() as d:
        a = make(f'{d}/a.db', 'create table g(x, y as (abs(x)))',
                 'insert into g(x) values(1)', 'pragma writable_schema=on',
                 "update sqlite_master set sql=replace(sql, 'abs', 'nope')")
        path = write(d, policy())
        r = run('verify', '--json', '--policy', path, a, a)
        r.expect(NOT_CHECKED)
        assert r.summary()['not_checked'], r.summary()


# The examples are what the documentation says they are.

EXAMPLES = sorted(os.listdir(os.path.join(ROOT, 'docs', 'examples')))


@each(*EXAMPLES)
def test_an_example_gives_what_it_says(name):
    where = os.path.join(ROOT, 'docs', 'examples', name)
    sqlite = need_tool('sqlite3')

    def play(db, script):
        with open(os.path.join(where, script)) as f:
            subprocess.run([sqlite, db], stdin=f, check=True,
                           capture_output=True)

    with folder() as d:
        a, b = f'{d}/before.db', f'{d}/after.db'
        play(a, 'before.sql')
        shutil.copy(a, b)
        play(b, 'migrate.sql')
        options = ['--policy', os.path.join(where, 'policy.json')]
        if os.path.exists(os.path.join(where, 'bind')):
            with open(os.path.join(where, 'bind')) as f:
                for line in f.read().splitlines():
                    options += ['--bind', line]
        run('verify', *options, a, b).expect(YES)
        for script in sorted(os.listdir(where)):
            if not script.startswith('beyond'):
                continue
            with open(os.path.join(where, script)) as f:
                want = f.readline().removeprefix('-- ').split()
            shutil.copy(b, f'{d}/beyond.db')
            play(f'{d}/beyond.db', script)
            r = run('verify', '--json', *options, a, f'{d}/beyond.db')
            assert (*want, '')[:2] in broken(r), (script, r.summary())
