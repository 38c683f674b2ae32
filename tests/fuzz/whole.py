#!/usr/bin/env python3
"""whole.py SECONDS [FIRST]: the whole program on mutated databases.

Main, WAL and journal of a small database are mutated; where a checksum or a
digest would hide the mutation from what lies behind it, it is repaired: those
of WAL and journal mostly, and in packets the block list and the manifest's
sums. Then recover, query, diff and export read it. Each answer must be one of
the documented ones and well-formed, within the time, with nothing left behind;
and where recover reads all of a plain file, stock SQLite must say the same of
a copy: as many rows in each table, and whether integrity_check is ok. Each
number makes the same case on every run.
"""
import hashlib
import json
import os
import random
import shutil
import sqlite3
import struct
import sys
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE, os.path.join(os.path.dirname(HERE), 'e2e')]
sys.dont_write_bytecode = True
import seeds  # noqa: E402
from holdfast import (DAMAGED, NO, NOT_CHECKED, REFUSED, SIDECARS,  # noqa: E402
                      TROUBLE, YES, capture, run)

CAPS = ['--time-limit', '10', '--memory-limit', '128', '--output-limit', '64']
CAP_WORDS = ('limit', 'memory')
BLOCK = 4096


# Mutation

EDGES = [0, 1, 2, 0x7f, 0x80, 0xff, 0x100, 0x1ff, 0x7fff, 0x8000, 0xffff,
         0x10000, 0x7fffffff, 0x80000000, 0xffffffff]


def place(rng, n):
    """Headers of files and pages more often than the rest."""
    if n <= 16:
        return rng.randrange(n)
    return rng.choice([rng.randrange(16, min(n, 130)),
                       rng.randrange(n) // 512 * 512 + rng.randrange(16),
                       rng.randrange(n) // 512 * 512 + rng.randrange(16),
                       rng.randrange(n)]) % n


def once(rng, b):
    n, kind = len(b), rng.randrange(8)
    if n == 0:
        return b
    at = place(rng, n)
    if kind == 0:
        b[at] ^= 1 << rng.randrange(8)
    elif kind == 1:
        b[at] = rng.choice([0, 1, 0x7f, 0x80, 0xff, rng.randrange(256)])
    elif kind in (2, 3):
        width = rng.choice([2, 4])
        value = rng.choice(EDGES + [rng.randrange(1 << 32)])
        raw = (value & (1 << 8 * width) - 1).to_bytes(width, 'big')
        b[at:at + width] = raw[:n - at]
    elif kind == 4:
        length = rng.choice([8, 64, 512])
        b[at:at + length] = bytes(min(length, n - at))
    elif kind == 5:
        length = rng.choice([4, 32, 512])
        source = rng.randrange(n)
        piece = b[source:source + length][:n - at]
        b[at:at + len(piece)] = piece
    elif kind == 6:
        number = struct.unpack('>H', (bytes(b[at:at + 2]) + b'\0\0')[:2])[0]
        raw = struct.pack('>H', (number + rng.randrange(-4, 5)) & 0xffff)
        b[at:at + 2] = raw[:n - at]
    else:
        for i in range(rng.randrange(1, 9)):
            b[place(rng, n)] = rng.randrange(256)
    return b


def resize(rng, b):
    if rng.randrange(2):
        return b[:rng.randrange(len(b) + 1)]
    return b + bytes(rng.randrange(256) for _ in range(rng.choice([1, 600])))


# Repair

def wal_sum(order, raw, s):
    s1, s2 = s
    words = struct.unpack(f'{order}{len(raw) // 4}I', raw)
    for i in range(0, len(words), 2):
        s1 = s1 + words[i] + s2 & 0xffffffff
        s2 = s2 + words[i + 1] + s1 & 0xffffffff
    return s1, s2


def repair_wal(b):
    if len(b) < 32:
        return b
    magic, _, size = struct.unpack('>3I', b[:12])
    order = '>' if magic & 1 else '<'
    s = wal_sum(order, bytes(b[:24]), (0, 0))
    b[24:32] = struct.pack('>2I', *s)
    if not 512 <= size <= 65536 or size & size - 1:
        return b
    for at in range(32, len(b) - 24 - size + 1, 24 + size):
        s = wal_sum(order, bytes(b[at:at + 8]), s)
        s = wal_sum(order, bytes(b[at + 24:at + 24 + size]), s)
        b[at + 16:at + 24] = struct.pack('>2I', *s)
    return b


def repair_journal(b):
    """The records of the first segment."""
    if len(b) < 28:
        return b
    nonce, _, sector, size = struct.unpack('>4I', b[12:28])
    if not 512 <= size <= 65536 or size & size - 1 or sector > len(b):
        return b
    for at in range(max(sector, 28), len(b) - size - 8 + 1, size + 8):
        s = nonce
        for i in range(size - 200, 0, -200):
            s += b[at + 4 + i]
        b[at + 4 + size:at + 8 + size] = struct.pack('>I', s & 0xffffffff)
    return b


REPAIR = {'-wal': repair_wal, '-journal': repair_journal}


def members(packet):
    """name: (offset, bytes) in the archive."""
    at, found = 0, {}
    while packet[at:at + 1] not in (b'', b'\0'):
        name = bytes(packet[at:at + 100]).split(b'\0')[0].decode()
        size = int(bytes(packet[at + 124:at + 136]).strip(b'\0 '), 8)
        found[name] = (at + 512, size)
        at += 512 + (size + 511) // 512 * 512
    return found


def mutated_packet(rng, raw, db):
    """Members of the same length, under sums that are right again."""
    b = bytearray(raw)
    table = members(b)
    files = {s: f'db/{db}{s}' for s in SIDECARS if f'db/{db}{s}' in table}
    at, size = table['manifest.json']
    manifest = bytes(b[at:at + size])
    for suffix in mutants_of(rng, list(files)):
        start, n = table[files[suffix]]
        old = hashlib.sha256(b[start:start + n]).hexdigest()
        part = bytearray(b[start:start + n])
        for _ in range(rng.choice([1, 1, 2, 5])):
            part = once(rng, part)
        if suffix in REPAIR and rng.randrange(8):
            part = REPAIR[suffix](part)
        b[start:start + n] = part[:n]
        new = hashlib.sha256(b[start:start + n]).hexdigest()
        manifest = manifest.replace(old.encode(), new.encode())
    start, n = table['blocks.sha256']
    old = hashlib.sha256(b[start:start + n]).hexdigest()
    blocks = b''
    for name, (a, k) in table.items():
        if name.startswith('db/'):
            blocks += b''.join(
                hashlib.sha256(b[i:min(i + BLOCK, a + k)]).digest()
                for i in range(a, a + k, BLOCK))
    assert len(blocks) == n, 'the list has another length'
    b[start:start + n] = blocks
    new = hashlib.sha256(blocks).hexdigest()
    b[at:at + size] = manifest.replace(old.encode(), new.encode())
    return b


def mutants_of(rng, suffixes):
    """Which of the files change: mostly one."""
    suffixes = [s for s in suffixes if s != '-shm' or rng.randrange(6) == 0]
    return rng.sample(suffixes, 1 if rng.randrange(3) else len(suffixes))


# One case

class Wrong(Exception):
    pass


def check_answer(r):
    said = f'{r.args}: exit {r.status}: {r.err[-600:]}{r.out[-300:]}'
    if r.status not in (YES, NO, REFUSED, DAMAGED, TROUBLE, NOT_CHECKED):
        raise Wrong(f'undocumented: {said}')
    if r.status == TROUBLE and not any(w in r.err for w in CAP_WORDS):
        raise Wrong(f'trouble that is no limit: {said}')
    if r.status in (REFUSED, DAMAGED, TROUBLE) and not r.err.strip():
        raise Wrong(f'no sentence: {said}')
    if '--json' in r.args:
        try:
            return [json.loads(x) for x in r.out.splitlines()]
        except ValueError as e:
            raise Wrong(f'no JSON ({e}): {said}') from None
    return []


def quoted(name):
    return '"' + name.replace('"', '""') + '"'


def stock(db, sub):
    """(integrity, rows by table) that SQLite sees in a private copy."""
    own = os.path.join(sub, 'stock')
    os.makedirs(own)
    copy = os.path.join(own, os.path.basename(db))
    for s in SIDECARS:
        if os.path.exists(db + s):
            shutil.copy(db + s, copy + s)
    c = sqlite3.connect(copy)
    try:
        integrity = c.execute('pragma integrity_check').fetchone()[0]
        names = [n for n, in c.execute(
            "select name from sqlite_master where type='table' and"
            " sql not like 'create virtual%'")]
        rows = {n: c.execute(f'select count(*) from {quoted(n)} as x not'
                             ' indexed').fetchone()[0] for n in names}
    finally:
        c.close()
        shutil.rmtree(own)
    return integrity, rows


def compare(db, sub, said):
    """What recover says of the whole is what SQLite sees in a copy."""
    try:
        integrity, rows = stock(db, sub)
    except (sqlite3.Error, UnicodeDecodeError) as e:
        if said['integrity'] == 'ok':
            raise Wrong(f'stock SQLite: {e}, and we: {said}') from None
        return
    mine = {t['name']: t['rows'] for t in said['tables']}
    if (integrity == 'ok') != (said['integrity'] == 'ok') or mine != rows:
        raise Wrong(f'stock SQLite: {integrity} {rows}, and we: {said}')


def read(evidence, base, sub):
    """What recover said, or None."""
    before = set(os.listdir(sub))
    out = os.path.join(sub, 'exported')
    runs = [['recover', '--json', *CAPS, evidence],
            ['query', '--json', *CAPS, evidence,
             'select count(*), max(name) from sqlite_schema'],
            ['diff', '--json', *CAPS, evidence, base],
            ['export', *CAPS, evidence, '-o', out]]
    answers = []
    for args in runs:
        r = run(*args, timeout=60)
        answers.append((r, check_answer(r)))
    if answers[3][0].status in (YES, NO, NOT_CHECKED):
        if not os.path.exists(out):
            raise Wrong('export made nothing')
        os.remove(out)
    if set(os.listdir(sub)) != before:
        raise Wrong(f'left behind: {set(os.listdir(sub)) - before}')
    r, lines = answers[0]
    return lines[0] if r.status in (YES, NO, NOT_CHECKED) else None


def case(number, where):
    """The numbered case in a fresh folder; Wrong says what is."""
    rng = random.Random(number)
    make = seeds.DATABASES[number % len(seeds.DATABASES)]
    source = os.path.join(where, 'seed-' + make.__name__)
    if not os.path.exists(source + '/app.db'):
        os.makedirs(source)
        make(source + '/app.db')
        capture(source + '/app.db', source + '/packet', '--accept-names')
    sub = os.path.join(where, f'case-{number}')
    os.makedirs(sub)
    if number % 4 == 3:
        packet = seeds.content_of(source + '/packet')
        evidence = os.path.join(sub, 'packet')
        with open(evidence, 'wb') as f:
            f.write(mutated_packet(rng, packet, 'app.db'))
        read(evidence, source + '/packet', sub)
        shutil.rmtree(sub)
        return
    present = [s for s in SIDECARS if os.path.exists(f'{source}/app.db{s}')]
    change = mutants_of(rng, present)
    for s in present:
        b = bytearray(seeds.content_of(f'{source}/app.db{s}'))
        for _ in range(rng.choice([1, 1, 2, 5]) if s in change else 0):
            b = once(rng, b)
        if s in change and rng.randrange(6) == 0:
            b = resize(rng, b)
        if s in REPAIR and rng.randrange(8):
            b = REPAIR[s](b)
        with open(f'{sub}/app.db{s}', 'wb') as f:
            f.write(b)
    said = read(f'{sub}/app.db', source + '/packet', sub)
    if said:
        compare(f'{sub}/app.db', sub, said)
    shutil.rmtree(sub)


def cases(numbers, where):
    """[(number, what is wrong)]; the files of those stay."""
    found = []
    for n in numbers:
        try:
            case(n, where)
        except (Wrong, AssertionError) as e:
            found.append((n, str(e)))
    return found


def main():
    seconds, number = int(sys.argv[1]), int((sys.argv[2:] or [0])[0])
    where = tempfile.mkdtemp(prefix='holdfast-fuzz-')
    end, found, first = time.monotonic() + seconds, [], number
    while time.monotonic() < end:
        for n, text in cases([number], where):
            print(f'case {n}: {text}', flush=True)
            found.append(n)
        number += 1
    print(f'{number - first} cases, {len(found)} wrong', flush=True)
    if found:
        print(f'their files are in {where}')
        return 1
    shutil.rmtree(where)
    return 0


if __name__ == '__main__':
    sys.exit(main())
