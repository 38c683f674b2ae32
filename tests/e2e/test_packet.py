"""The packet: what is in it, and that no flip in it goes unseen."""
import hashlib
import json
import os
import random
import sqlite3
import subprocess
import tarfile

from holdfast import (DAMAGED, NOT_CHECKED, USAGE, YES, Writer, bank,
                      capture, each, folder, has, limit, recover, run, same)

READERS = {
    'recover': lambda p, o: ('recover', p),
    'query': lambda p, o: ('query', p, 'select * from acct'),
    'export': lambda p, o: ('export', p, '-o', o),
    'diff': lambda p, o: ('diff', p, p),
    'verify': lambda p, o: ('verify', '--unchanged', p, p),
}


def packet(d):
    with Writer() as w:
        db = bank(w, f'{d}/app.db')
        w.sql('pragma wal_checkpoint')
        w.sql('update acct set bal = bal')
        return capture(db, f'{d}/p')


def members(path):
    """name → (offset of its data, size), in the order of the archive."""
    with tarfile.open(path) as t:
        return {m.name: (m.offset_data, m.size) for m in t.getmembers()}


def flip(path, at, to):
    with open(path, 'rb') as f, open(to, 'wb') as g:
        b = bytearray(f.read())
        b[at] ^= 0x10
        g.write(b)
    return to


def test_tar_unpacks_it_to_files_that_stock_sqlite_reads():
    with folder() as d:
        packet(d)
        os.mkdir(f'{d}/out')
        subprocess.run(['tar', 'xf', f'{d}/p', '-C', f'{d}/out'], check=True)
        c = sqlite3.connect(f'{d}/out/db/app.db')
        same(c.execute('select count(*), sum(bal) from acct').fetchall(),
             [(20, 1000)])
        same(c.execute('pragma integrity_check').fetchall(), [('ok',)])
        c.close()


def test_members_are_page_aligned_and_the_manifest_says_their_digests():
    with folder() as d:
        got = packet(d)
        where = members(f'{d}/p')
        same(list(where)[-2:], ['blocks.sha256', 'manifest.json'])
        with open(f'{d}/p', 'rb') as f:
            raw = f.read()
        data = {n: raw[o:o + s] for n, (o, s) in where.items()}
        same(hashlib.sha256(data['manifest.json']).hexdigest(), got['id'])
        manifest = json.loads(data['manifest.json'])
        same(manifest['format'], 'holdfast-packet/1')
        blocks = b''
        for name, (offset, _) in where.items():
            if name.startswith('db/'):
                same(offset % 4096, 0, f'offset of {name}')
                content = data[name]
                blocks += b''.join(
                    hashlib.sha256(content[i:i + 4096]).digest()
                    for i in range(0, len(content), 4096))
        same(data['blocks.sha256'], blocks)
        sums = [m['sha256'] for m in manifest['members']]
        same(sums, [hashlib.sha256(data[n]).hexdigest()
                    for n in where if n.startswith('db/')])


@each(*READERS)
def test_a_flip_in_a_member_is_damage_that_names_member_and_block(reader):
    with folder() as d:
        packet(d)
        for name, (offset, size) in members(f'{d}/p').items():
            if not name.startswith('db/') or name.endswith('-shm'):
                continue
            block = (size - 1) // 4096
            bad = flip(f'{d}/p', offset + block * 4096 + 7, f'{d}/bad')
            r = run(*READERS[reader](bad, f'{d}/x')).expect(DAMAGED)
            role = name.removeprefix('db/app.db').strip('-') or 'main'
            has(r.err, role, f'block {block}')
            assert not os.path.exists(f'{d}/x')


@limit(120)
def test_any_flip_anywhere_is_damage_under_expect_id():
    with folder() as d:
        got = packet(d)
        size = os.path.getsize(f'{d}/p')
        places = set()
        for offset, n in members(f'{d}/p').values():
            places |= {offset - 512, offset - 360, offset, offset + n - 1}
        r = random.Random(5)
        places |= {r.randrange(size) for _ in range(100)} | {0, size - 1}
        for at in sorted(p for p in places if 0 <= p < size):
            bad = flip(f'{d}/p', at, f'{d}/bad')
            r2 = run('recover', '--expect-id', got['id'], bad)
            assert r2.status == DAMAGED, (at, r2.status, r2.err)


@each(*READERS)
def test_expect_id_takes_that_packet_and_no_other(reader):
    with folder() as d:
        got = packet(d)
        args = READERS[reader](f'{d}/p', f'{d}/x')
        ids = ['--expect-id', got['id']]
        other = ['--expect-id', '0' * 64]
        if reader in ('diff', 'verify'):
            wrong = ids + other
            ids = ids * 2
        else:
            wrong = other
        run(args[0], *ids, *args[1:]).expect(YES, NOT_CHECKED)
        if os.path.exists(f'{d}/x'):
            os.unlink(f'{d}/x')
        r = run(args[0], *wrong, *args[1:]).expect(DAMAGED)
        has(r.err, got['id'])
        run(args[0], '--expect-id', 'zz', *args[1:]).expect(USAGE)


def test_a_truncated_packet_is_damage_at_every_length():
    with folder() as d:
        packet(d)
        with open(f'{d}/p', 'rb') as f:
            raw = f.read()
        for n in list(range(512, len(raw), 7919)) + [len(raw) - 512]:
            with open(f'{d}/short', 'wb') as f:
                f.write(raw[:n])
            run('recover', f'{d}/short').expect(DAMAGED)


def test_a_name_with_newline_quote_and_invalid_bytes_is_kept():
    with folder() as d, Writer() as w:
        raw = os.fsencode(d) + b'/a\n"b\xff' + b'n' * 120 + b'.db'
        db = bank(w, os.fsdecode(raw))
        capture(db, f'{d}/p')
        with tarfile.open(f'{d}/p', errors='surrogateescape',
                          encoding='utf-8') as t:
            same(os.fsencode(t.getmembers()[0].name),
                 b'db/' + os.path.basename(raw))
        recover(f'{d}/p')
