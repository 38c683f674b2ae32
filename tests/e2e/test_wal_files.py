"""WAL files as crashes, other machines and hands leave them."""
import os
import shutil
import sqlite3
import struct

import stock
import walfile
from holdfast import (DAMAGED, NO, NOT_CHECKED, REFUSED, SIDECARS, YES, each,
                      folder, has, make, query, run, same)

SIZE = 512


def content(path):
    with open(path, 'rb') as f:
        return f.read()


def write(path, raw):
    with open(path, 'wb') as f:
        f.write(raw)


def opened(path, *pragmas):
    c = sqlite3.connect(path, isolation_level=None)
    for p in (f'page_size={SIZE}', *pragmas, 'journal_mode=wal',
              'wal_autocheckpoint=0', 'synchronous=off'):
        c.execute(f'pragma {p}')
    return c


def taken(source, target):
    """The files as they lie there, as after a crash."""
    for s in SIDECARS:
        if os.path.exists(source + s):
            shutil.copy(source + s, target + s)
    return target


def fill(c, rows, length=300):
    for i in range(rows):
        c.execute('insert into t(v) values(?)', (chr(97 + i) * length,))


def crashed(d, checkpointed=4, rows=5, length=300, keep_shm=True):
    """Rows in main, and commits of several frames each in the WAL."""
    c = opened(f'{d}/live.db')
    c.execute('create table t(id integer primary key, v)')
    fill(c, checkpointed, length)
    c.execute('pragma wal_checkpoint(truncate)')
    fill(c, rows, length)
    db = taken(f'{d}/live.db', f'{d}/app.db')
    c.close()
    if not keep_shm:
        os.remove(db + '-shm')
    return db


def rows_of(evidence, *options):
    return int(query(evidence, 'select count(*) from t', *options)[0][0])


def accounted(db, raw, status=(YES, NOT_CHECKED)):
    """recover's answer: python's account, stock SQLite's content."""
    got = stock.agrees(db, status=status)
    want = walfile.account(raw)
    same({k: got['wal'][k] for k in walfile.KEYS},
         {k: want[k] for k in walfile.KEYS}, 'account')
    # Only what ties it to main may be open.
    assert all(x['what'] == 'wal' for x in got['not_checked']), got
    return got, want


@each('little endian', 'big endian')
def test_checksums_of_both_byte_orders(order):
    with folder() as d:
        db = crashed(d, keep_shm=False)
        raw = walfile.repaired(content(db + '-wal'), order == 'big endian')
        same(raw[3], 0x83 if order == 'big endian' else 0x82)
        write(db + '-wal', raw)
        got, want = accounted(db, raw)
        same((want['commits'], got['views']['recovery']),
             (5, want['committed_frames']))
        same(rows_of(db), 9)


def test_the_shm_of_the_crash_agrees():
    with folder() as d:
        db = crashed(d)
        got, want = accounted(db, content(db + '-wal'))
        same(got['views'], {'recovery': want['committed_frames'],
                            'live': want['committed_frames'], 'agree': True})


def test_frames_of_generations_before_are_stale():
    with folder() as d:
        c = opened(f'{d}/live.db')
        c.execute('create table t(id integer primary key, v)')
        fill(c, 9)
        c.execute('pragma wal_checkpoint(restart)')
        fill(c, 2)
        db = taken(f'{d}/live.db', f'{d}/app.db')
        c.close()
        got, want = accounted(db, content(db + '-wal'))
        assert want['stale_frames'] > 3 and want['commits'] == 2, want
        same(rows_of(db), 11)


def test_an_open_transaction_is_uncommitted():
    with folder() as d:
        c = opened(f'{d}/live.db', 'cache_size=2')
        c.execute('create table t(id integer primary key, v)')
        c.execute('begin')
        fill(c, 20)
        db = taken(f'{d}/live.db', f'{d}/app.db')
        c.close()
        _, want = accounted(db, content(db + '-wal'))
        assert want['uncommitted_frames'] > 3, want
        same(rows_of(db), 0)


@each(1, 8, 23, 24, 200, SIZE + 23)
def test_a_tail_that_was_torn_is_told_from_whole_frames(cut):
    """Without the SHM nobody knows that the last commit was whole once."""
    with folder() as d:
        db = crashed(d, keep_shm=False)
        raw = content(db + '-wal')[:-cut]
        write(db + '-wal', raw)
        _, want = accounted(db, raw)
        same(want['commits'], 4)
        same(rows_of(db), 8)


def test_a_torn_tail_that_the_shm_knew_whole_is_damage():
    with folder() as d:
        db = crashed(d)
        raw = content(db + '-wal')
        write(db + '-wal', raw[:-8])
        r = run('recover', db).expect(DAMAGED)
        has(r.err, 'recovery loses live commits',
            f'{walfile.frames(raw)} frames are committed')


# Where in a frame: what it says it is.
PLACES = {'page number': 3, 'commit size': 7, 'first salt': 8,
          'second salt': 15, 'first checksum': 16, 'second checksum': 23,
          'page': 24, 'end of page': 24 + SIZE - 1}


def test_a_flip_before_other_commits_is_damage_by_name_and_frame():
    with folder() as d:
        db = crashed(d, keep_shm=False)
        whole = content(db + '-wal')
        frame = walfile.account(whole)['commit_at'][1]
        for place, at in PLACES.items():
            raw = bytearray(whole)
            raw[walfile.offset(raw, frame) + at] ^= 0x40
            write(db + '-wal', raw)
            want = walfile.account(bytes(raw))
            lost = want['unreached_commits']
            same(len(lost), 3)
            r = run('recover', db).expect(DAMAGED)
            has(r.err, f'WAL frame {frame} is damaged',
                f'stop at frame {want["committed_frames"]} ',
                f'lose {len(lost)} commits', f'up to frame {lost[-1]}')
        for args in (['query', db, 'select 1'], ['diff', db, db],
                     ['export', db, '-o', f'{d}/x']):
            has(run(*args).expect(DAMAGED).err,
                f'WAL frame {frame} is damaged')


def test_a_flip_in_the_last_frame_is_a_tail_without_shm_and_damage_with():
    with folder() as d:
        db = crashed(d)
        whole, shm = content(db + '-wal'), content(db + '-shm')
        last = walfile.frames(whole)
        for place, at in PLACES.items():
            raw = bytearray(whole)
            raw[walfile.offset(raw, last) + at] ^= 0x40
            write(db + '-wal', raw)
            write(db + '-shm', shm)
            run('recover', db).expect(DAMAGED)
            os.remove(db + '-shm')
            _, want = accounted(db, bytes(raw))
            same(want['damaged'] + want['stale_frames'], 1, place)
        same(rows_of(db), 8)


# A header that is not believed: its commits would be lost.
HEADER = {'magic': 0, 'version': 6, 'page size': 10, 'sequence': 15,
          'first salt': 16, 'second salt': 23, 'first checksum': 24,
          'second checksum': 31}


@each('shm', 'no shm')
def test_a_flip_in_the_header_is_damage(which):
    with folder() as d:
        db = crashed(d, keep_shm=which == 'shm')
        whole = content(db + '-wal')
        for at in HEADER.values():
            raw = bytearray(whole)
            raw[at] ^= 0x10
            write(db + '-wal', raw)
            has(run('recover', db).expect(DAMAGED).err, 'WAL')
        for args in (['query', db, 'select 1'], ['diff', db, db]):
            has(run(*args).expect(DAMAGED).err, 'WAL')


def test_a_header_of_garbage_before_frames_is_damage():
    with folder() as d:
        db = crashed(d, keep_shm=False)
        raw = content(db + '-wal')
        write(db + '-wal', b'\xa5' * 32 + raw[32:])
        has(run('recover', db).expect(DAMAGED).err,
            'the WAL header is damaged')


def test_another_version_is_damage():
    with folder() as d:
        db = crashed(d, keep_shm=False)
        raw = bytearray(content(db + '-wal'))
        raw[4:8] = struct.pack('>I', 3007001)
        write(db + '-wal', walfile.repaired(raw))
        has(run('recover', db).expect(DAMAGED).err, 'version 3007001')


@each(0, 1, 31)
def test_a_wal_shorter_than_its_header_holds_nothing(length):
    """As a crash leaves it that came before the first frame."""
    with folder() as d:
        db = crashed(d, keep_shm=False)
        write(db + '-wal', content(db + '-wal')[:length])
        got = stock.agrees(db, status=(YES, NOT_CHECKED))
        same((got['wal']['frames'], rows_of(db)), (0, 4))


def test_a_wal_cut_off_behind_its_header_loses_what_the_shm_knows():
    with folder() as d:
        db = crashed(d)
        write(db + '-wal', content(db + '-wal')[:32])
        has(run('recover', db).expect(DAMAGED).err,
            'recovery loses live commits')
        os.remove(db + '-shm')
        stock.agrees(db, status=(YES, NOT_CHECKED))


@each(0, 3, 136, 32767)
def test_a_shm_that_is_too_short_tells_nothing(length):
    with folder() as d:
        db = crashed(d)
        write(db + '-shm', (content(db + '-shm') * 2)[:length]
              if length != 136 else bytes(136))
        got, want = accounted(db, content(db + '-wal'))
        same((want['commits'], rows_of(db)), (5, 9))


# Files that belong elsewhere

def other(d, size=SIZE, rows=6):
    c = opened(f'{d}/other-live.db', f'page_size={size}')
    c.execute('create table t(id integer primary key, v)')
    fill(c, 5, 700)
    c.execute('pragma wal_checkpoint(truncate)')
    c.executemany('insert into t(v) values(?)',
                  [('other',) for _ in range(rows)])
    other = taken(f'{d}/other-live.db', f'{d}/other.db')
    c.close()
    return other


@each('wal', 'wal and shm', 'shm')
def test_sidecars_of_another_database_are_never_believed(which):
    with folder() as d:
        db, strange = crashed(d), other(d)
        if 'wal' in which:
            shutil.copy(strange + '-wal', db + '-wal')
        if 'shm' in which:
            shutil.copy(strange + '-shm', db + '-shm')
        else:
            os.remove(db + '-shm')
        r = run('recover', '--json', db)
        if which == 'shm':
            # Its salts are not the WAL's: it tells nothing.
            r.expect(YES, NOT_CHECKED)
            same(rows_of(db), 9)
        else:
            r.expect(REFUSED, DAMAGED)


def test_a_wal_of_another_page_size_is_damage():
    with folder() as d:
        db, strange = crashed(d, keep_shm=False), other(d, 1024)
        shutil.copy(strange + '-wal', db + '-wal')
        r = run('recover', db).expect(DAMAGED)
        has(r.err, 'of another database', '1024', str(SIZE))


def test_a_main_newer_than_its_wal_is_never_rewound():
    """The WAL was put back behind the back of a checkpoint."""
    with folder() as d:
        c = opened(f'{d}/live.db')
        c.execute('create table t(id integer primary key, v)')
        fill(c, 3)
        old = content(f'{d}/live.db-wal')
        c.execute('pragma wal_checkpoint(truncate)')
        c.execute("update t set v = 'newer'")
        c.execute('pragma wal_checkpoint(truncate)')
        shutil.copy(f'{d}/live.db', f'{d}/app.db')
        c.close()
        write(f'{d}/app.db-wal', old)
        r = run('query', '--csv', f'{d}/app.db', 'select v from t')
        assert r.status not in (YES, NO), (r.status, r.out)
        if r.status == NOT_CHECKED:
            has(r.err, 'only its name ties it to main')


def test_a_wal_beside_a_main_in_rollback_mode_is_refused():
    with folder() as d:
        db = crashed(d, keep_shm=False)
        wal = content(db + '-wal')
        make(f'{d}/b.db', 'create table t(v)')
        write(f'{d}/b.db-wal', wal)
        run('recover', f'{d}/b.db').expect(REFUSED)


# What a commit says of the size of the database

def test_a_commit_that_shrinks_main_hides_what_lay_behind():
    with folder() as d:
        c = opened(f'{d}/live.db', 'auto_vacuum=full')
        c.execute('create table t(id integer primary key, v)')
        fill(c, 20)
        c.execute('pragma wal_checkpoint(truncate)')
        c.execute('delete from t where id > 2')
        db = taken(f'{d}/live.db', f'{d}/app.db')
        c.close()
        got, _ = accounted(db, content(db + '-wal'))
        assert got['page_count'] < os.path.getsize(db) // SIZE
        run('export', db, '-o', f'{d}/x').expect(YES, NOT_CHECKED)
        same(os.path.getsize(f'{d}/x'), got['page_count'] * SIZE)
        stock.agrees(f'{d}/x')


@each(-2, 3, 1000000)
def test_a_commit_whose_size_is_wrong_is_damage(more):
    with folder() as d:
        db = crashed(d, keep_shm=False)
        raw = bytearray(content(db + '-wal'))
        at = walfile.offset(raw, walfile.frames(raw)) + 4
        pages = struct.unpack('>I', raw[at:at + 4])[0]
        raw[at:at + 4] = struct.pack('>I', pages + more)
        write(db + '-wal', walfile.repaired(raw))
        r = run('recover', '--json', db)
        if more > 0:
            r.expect(DAMAGED)
            has(r.err, 'truncated', str(pages + more))
        else:
            r.expect(DAMAGED, NO)


def test_a_wal_that_holds_all_of_the_database():
    with folder() as d:
        c = opened(f'{d}/live.db')
        c.execute('create table t(id integer primary key, v)')
        fill(c, 12)
        db = taken(f'{d}/live.db', f'{d}/app.db')
        c.close()
        got, _ = accounted(db, content(db + '-wal'))
        assert got['page_count'] > os.path.getsize(db) // SIZE
        same(rows_of(db), 12)


def test_several_generations_of_a_wal_have_one_account():
    """Each restart leaves the tail of those before, and each is stale."""
    with folder() as d:
        c = opened(f'{d}/live.db')
        c.execute('create table t(id integer primary key, v)')
        for rows in (30, 12, 5, 1):
            fill(c, rows)
            db = taken(f'{d}/live.db', f'{d}/app.db')
            accounted(db, content(db + '-wal'))
            c.execute('pragma wal_checkpoint(restart)')
        c.close()
