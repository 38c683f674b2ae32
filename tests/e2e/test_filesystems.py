"""Databases on other file systems, behind links and other mounts."""
import ctypes
import os
import shutil
import subprocess

from holdfast import (DELETE, NOT_CHECKED, REFUSED, WAL, YES, Skip, Writer,
                      bank, capture, each, folder, has, limit, make,
                      need_root, need_tool, query, recover, run, same,
                      snapshot)

SUM = 'select count(*), sum(bal) from acct'
BEFORE, AFTER = [['400', '20000']], [['400', '0']]
SOON = ('--timeout', '0.2')
CLONE_NEWNS = 0x20000


def own_mounts():
    """What is mounted from here on is seen by this case alone."""
    need_root()
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.unshare(CLONE_NEWNS):
        raise Skip(f'no mounts of our own: {os.strerror(ctypes.get_errno())}')
    mount('--make-rprivate', '/')


def mount(*args):
    r = subprocess.run([need_tool('mount'), *args], capture_output=True,
                       text=True)
    if r.returncode:
        raise Skip(f'mount {" ".join(args)}: {r.stderr.strip()}')


def loop(mkfs, megabytes, *options):
    """mount of a fresh file system in a file."""
    def put(where, scratch):
        tool = need_tool(mkfs)
        image = f'{scratch}/image'
        with open(image, 'wb') as f:
            f.truncate(megabytes << 20)
        subprocess.run([tool, *options, image], capture_output=True,
                       check=True)
        mount('-o', 'loop', image, where)
        os.mkdir(f'{where}/folder')
        return f'{where}/folder'
    return put


def tmpfs(where, _):
    mount('-t', 'tmpfs', 'tmpfs', where)
    return where


def subvolume(where, scratch):
    """Its files have a device of their own, which maps and locks don't say."""
    loop('mkfs.btrfs', 120)(where, scratch)
    subprocess.run(['btrfs', 'subvolume', 'create', f'{where}/sub'],
                   capture_output=True, check=True)
    return f'{where}/sub'


def overlay(where, scratch):
    mount('-t', 'tmpfs', 'tmpfs', scratch)
    for name in ('lower', 'upper', 'work'):
        os.mkdir(f'{scratch}/{name}')
    mount('-t', 'overlay', '-o', f'lowerdir={scratch}/lower,upperdir='
          f'{scratch}/upper,workdir={scratch}/work', 'overlay', where)
    return where


def overlay_of_two(where, scratch):
    """The layers are on two file systems: devices differ by layer."""
    mount('-t', 'tmpfs', 'tmpfs', scratch)
    os.mkdir(f'{scratch}/lower')
    mount('-t', 'tmpfs', 'tmpfs', f'{scratch}/lower')
    for name in ('upper', 'work'):
        os.mkdir(f'{scratch}/{name}')
    mount('-t', 'overlay', '-o', f'lowerdir={scratch}/lower,upperdir='
          f'{scratch}/upper,workdir={scratch}/work', 'overlay', where)
    return where


KINDS = {'tmpfs': tmpfs, 'ext4': loop('mkfs.ext4', 16),
         'ext4-1k': loop('mkfs.ext4', 16, '-b', '1024'),
         'xfs': loop('mkfs.xfs', 300), 'btrfs': loop('mkfs.btrfs', 120),
         'btrfs-subvolume': subvolume, 'vfat': loop('mkfs.vfat', 16),
         'overlay': overlay, 'overlay-of-two': overlay_of_two}


def spill(w):
    w.sql('pragma cache_size=2')
    w.sql('begin immediate')
    w.sql("update acct set bal = 0, who = who || printf('%.30c', 'x')")


@each(*KINDS)
@limit(120)
def test_a_live_database_is_captured_on(kind):
    own_mounts()
    with folder() as where, folder() as scratch, folder() as out:
        d = KINDS[kind](where, scratch)
        for name, pragmas in {
                'wal': WAL, 'mmap': WAL + ('mmap_size=1000000000',),
                'delete': DELETE, 'truncate': ('journal_mode=truncate',),
                'persist': ('journal_mode=persist',)}.items():
            with Writer() as w:
                db = bank(w, f'{d}/{name}.db', pragmas, rows=400)
                spill(w)
                got = capture(db, f'{out}/p', '--force')
                same(got['not_checked'], [], name)
                same([x['pid'] for x in got['writers']], [w.pid])
                same(query(f'{out}/p', SUM), BEFORE, name)
                w.sql('commit')
                capture(db, f'{out}/p', '--force')
                same(query(f'{out}/p', SUM), AFTER, name)


@each(*KINDS)
def test_a_lock_on_main_is_seen_on(kind):
    """That alone tells a transaction without a journal."""
    own_mounts()
    with folder() as where, folder() as scratch, folder() as out:
        d = KINDS[kind](where, scratch)
        with Writer() as w:
            db = bank(w, f'{d}/app.db', ('journal_mode=memory',), rows=400)
            spill(w)
            r = run('capture', *SOON, '-o', f'{out}/p', db).expect(REFUSED)
            has(r.err, 'EXCLUSIVE', 'MEMORY or OFF')


@each(*KINDS)
def test_a_stopped_database_is_captured_and_left_as_it_was_on(kind):
    own_mounts()
    with folder() as where, folder() as scratch, folder() as out:
        d = KINDS[kind](where, scratch)
        with Writer() as w:
            db = bank(w, f'{d}/app.db', WAL, rows=400)
            w.crash()
        os.chmod(d, 0o700)
        before = snapshot(d)
        capture(db, f'{out}/p')
        same(query(f'{out}/p', SUM), BEFORE)
        after = snapshot(d)
        # Small inode numbers are those of other tests' files as well.
        del before['locks'], after['locks']
        same(after, before)


@each('overlay', 'overlay-of-two')
def test_a_main_of_the_lower_layer_is_one_file_before_and_after_copy_up(kind):
    """The reader has the lower file open, the writer its copy above."""
    own_mounts()
    with folder() as where, folder() as scratch, folder() as out:
        KINDS[kind](where, scratch)
        subprocess.run(['umount', where], check=True)
        make(f'{scratch}/lower/app.db', 'create table acct(id, who, bal)',
             'insert into acct values(1, 1, 1000)')
        mount('-t', 'overlay', '-o', f'lowerdir={scratch}/lower,upperdir='
              f'{scratch}/upper,workdir={scratch}/work', 'overlay', where)
        db = f'{where}/app.db'
        with Writer() as reader, Writer() as w:
            reader.ask('open_file', 'raw', db, os.O_RDONLY)
            capture(db, f'{out}/p')
            same(query(f'{out}/p', SUM), [['1', '1000']])
            w.open(db)
            w.sql('update acct set bal = 7')
            got = capture(db, f'{out}/p', '--force')
            same([x['pid'] for x in got['writers']], [w.pid])
            same([x['pid'] for x in got['holders']], [reader.pid])
            same(query(f'{out}/p', SUM), [['1', '7']])


def test_a_live_database_is_captured_by_a_read_only_mount_of_it():
    own_mounts()
    with folder() as d, folder() as view, folder() as out, Writer() as w:
        bank(w, f'{d}/app.db')
        mount('--bind', d, view)
        mount('-o', 'remount,bind,ro', view)
        got = capture(f'{view}/app.db', f'{out}/p')
        same([x['pid'] for x in got['writers']], [w.pid])
        same(query(f'{out}/p', SUM), [['20', '1000']])
        w.crash()
        capture(f'{view}/app.db', f'{out}/p', '--force')
        same(query(f'{out}/p', SUM), [['20', '1000']])


@each('wal', 'delete')
def test_a_folder_that_is_mounted_twice_has_one_database(mode):
    own_mounts()
    with folder() as d, folder() as view, folder() as out, Writer() as w:
        mount('--bind', d, view)
        bank(w, f'{view}/app.db', WAL if mode == 'wal' else DELETE, rows=400)
        spill(w)
        for path in (d, view):
            capture(f'{path}/app.db', f'{out}/p', '--force')
            same(query(f'{out}/p', SUM), BEFORE)


@each('live', 'stopped')
def test_sidecars_of_a_main_that_is_mounted_alone_are_never_left_out(how):
    """They lie beside the name that the writer used, in another folder."""
    own_mounts()
    with folder() as d, folder() as view, folder() as out, Writer() as w:
        make(f'{d}/app.db', 'create table acct(id, who, bal)')
        with open(f'{view}/app.db', 'wb'):
            pass
        mount('--bind', f'{d}/app.db', f'{view}/app.db')
        w.open(f'{view}/app.db')
        w.sql('insert into acct values(1, 1, 1000)')
        if how == 'stopped':
            w.crash()
        r = run('capture', *SOON, '-o', f'{out}/p', f'{d}/app.db')
        r.expect(REFUSED)
        has(r.err, 'wal' if how == 'live' else f'{view}/app.db')
        assert not os.path.exists(f'{out}/p')
        if how == 'live':
            capture(f'{d}/app.db', f'{out}/p', '--displaced')
            same(query(f'{out}/p', SUM), [['1', '1000']])


@each('wal', 'delete')
def test_a_main_that_the_writer_opened_by_a_symlink_is_captured(mode):
    with folder() as d, folder() as links, folder() as out, Writer() as w:
        os.symlink(f'{d}/app.db', f'{links}/file.db')
        os.symlink(d, f'{links}/folder')
        make(f'{d}/app.db', 'create table acct(id, who, bal)')
        w.open(f'{links}/file.db', WAL if mode == 'wal' else DELETE)
        w.sql('insert into acct values(1, 1, 1000)')
        for db in (f'{d}/app.db', f'{links}/file.db',
                   f'{links}/folder/app.db'):
            capture(db, f'{out}/p', '--force')
            same(query(f'{out}/p', SUM), [['1', '1000']])


@each('wal', 'delete')
def test_a_writer_by_a_hard_link_is_captured_by_either_name(mode):
    with folder() as d, folder() as out, Writer() as w:
        make(f'{d}/app.db', 'create table acct(id, who, bal)')
        os.link(f'{d}/app.db', f'{d}/alias.db')
        w.open(f'{d}/alias.db', WAL if mode == 'wal' else DELETE)
        w.sql('insert into acct values(1, 1, 1000)')
        capture(f'{d}/alias.db', f'{out}/p')
        same(query(f'{out}/p', SUM), [['1', '1000']])
        r = run('capture', *SOON, '--force', '-o', f'{out}/p', f'{d}/app.db')
        if mode == 'wal':
            has(r.expect(REFUSED).err, 'wal', f'{d}/app.db-wal')
        else:
            r.expect(YES, NOT_CHECKED)
            same(query(f'{out}/p', SUM), [['1', '1000']])
