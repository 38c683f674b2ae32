"""verify --policy: what a declared rename of a column excuses in texts."""
from holdfast import YES, each, folder, same
from test_policy import broken, policy, verify

# Renames of column a of t to z by stock SQLite, where the word a occurs
# elsewhere too; what it makes of them needs no further sentence.

KEEPS = {
    'a REFERENCES to another table': 'create table u(a primary key);'
    'create table t(a, b references u(a), foreign key (a) references u(a));',
    'a REFERENCES to itself': 'create table t(a unique, b references t(a));',
    'a table of that name': 'create table a(a); create table t(a references'
    ' a(a), check (a > 0)); create index i on t(a);',
    'a constraint of that name': 'create table t(a constraint a check (a > 0'
    '), b default "a", constraint "a" unique (a));',
    'a type of that name': 'create table t(b a, a a);',
    'quoted names': 'create table t("a" check ("a" > 0), [b] as (`a` + 1));'
    'create index "a" on t("a") where [a] > 0;',
    'another column of a join': 'create table u(a); create table t(a);'
    'create view w as select t.a, u.a, x.a, y.a, main.t.a from t, u, t as x,'
    ' t y;',
    'a trigger on it': 'create table u(a); create table t(a unique, b);'
    'create trigger g after update of a on t when new.a > old.a begin'
    ' update u set a = new.a where u.a = old.a; insert into u(a) select a'
    ' from t; insert into t(a, b) values(new.a, 1) on conflict(a) do update'
    ' set a = excluded.a; end;',
    'a trigger on another': 'create table u(a); create table t(a);'
    'create trigger g after insert on u begin update t set a = new.a; end;',
}
COLUMN_A = policy(schema={'rename_column': [
    {'table': 't', 'from': 'a', 'to': 'z'}]})


@each(*KEEPS)
def test_a_rename_that_sqlite_made_needs_no_further_sentence(which):
    with folder() as d:
        verify(d, KEEPS[which], 'alter table t rename column a to z',
               COLUMN_A).expect(YES)


# name: (before, what is made by hand)
STRAYS = {
    "another table's column": (
        'create table u(a, z); create table t(a);'
        'create view w as select u.a from t, u;',
        'alter table t rename column a to z; drop view w;'
        'create view w as select u.z from t, u;'),
    'a string in place of a column': (
        'create table t(a, check ("a" > 0));',
        'drop table t; create table t(z, check ("a" > 0));'),
    'the name of a constraint': (
        'create table t(a, constraint a check (a > 0));',
        'drop table t; create table t(z, constraint z check (z > 0));'),
    'a default': (
        'create table t(a, b default "a");',
        'drop table t; create table t(z, b default "z");'),
}


@each(*STRAYS)
def test_a_rename_excuses_no_word_that_sqlite_would_leave(which):
    with folder() as d:
        found = broken(verify(d, *STRAYS[which], COLUMN_A))
        same([rule for rule, _ in found], ['change'])
