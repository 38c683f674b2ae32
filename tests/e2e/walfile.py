"""A WAL by its format (sqlite.org/fileformat2.html#walformat), in python."""
import struct

MAGIC = 0x377f0682
HEAD, FRAME = 32, 24


def checksum(order, raw, s=(0, 0)):
    s1, s2 = s
    words = struct.unpack(f'{order}{len(raw) // 4}I', raw)
    for i in range(0, len(words), 2):
        s1 = s1 + words[i] + s2 & 0xffffffff
        s2 = s2 + words[i + 1] + s1 & 0xffffffff
    return s1, s2


def page_size(raw):
    return struct.unpack('>I', raw[8:12])[0]


def order_of(raw):
    return '>' if raw[3] & 1 else '<'


def offset(raw, frame):
    """Of the head of a frame; they are numbered from 1."""
    return HEAD + (frame - 1) * (FRAME + page_size(raw))


def frames(raw):
    return max(0, len(raw) - HEAD) // (FRAME + page_size(raw))


def repaired(raw, big_endian=None, header=True):
    """The same WAL with checksums that are right (again)."""
    b = bytearray(raw)
    if big_endian is not None:
        b[0:4] = struct.pack('>I', MAGIC | big_endian)
    order = order_of(b)
    if header:
        b[24:32] = struct.pack('>2I', *checksum(order, bytes(b[:24])))
    s = struct.unpack('>2I', b[24:32])
    size = page_size(b)
    for i in range(1, frames(b) + 1):
        at = offset(b, i)
        s = checksum(order, bytes(b[at:at + 8]), s)
        s = checksum(order, bytes(b[at + FRAME:at + FRAME + size]), s)
        b[at + 16:at + 24] = struct.pack('>2I', *s)
    return bytes(b)


def account(raw):
    """What recover's JSON says of a WAL whose header is good."""
    got = {'frames': 0, 'committed_frames': 0, 'commits': 0,
           'uncommitted_frames': 0, 'stale_frames': 0, 'damaged': 0,
           'commit_at': [], 'unreached_commits': []}
    if len(raw) < HEAD:
        return got
    size, order = page_size(raw), order_of(raw)
    salts = raw[16:24]
    s = struct.unpack('>2I', raw[24:32])
    assert checksum(order, raw[:24]) == s, 'the header is not good'
    valid, reads = 0, True
    got['frames'] = frames(raw)
    for i in range(1, got['frames'] + 1):
        at = offset(raw, i)
        pgno, commit = struct.unpack('>2I', raw[at:at + 8])
        ours = raw[at + 8:at + 16] == salts
        s = checksum(order, raw[at:at + 8], s)
        s = checksum(order, raw[at + FRAME:at + FRAME + size], s)
        right = s == struct.unpack('>2I', raw[at + 16:at + 24])
        if reads and ours and right and pgno:
            valid += 1
            if commit:
                got['committed_frames'] = i
                got['commits'] += 1
                got['commit_at'].append(i)
            continue
        got['damaged' if ours else 'stale_frames'] += 1
        if ours and commit and not reads:
            got['unreached_commits'].append(i)
        reads = False
    got['uncommitted_frames'] = valid - got['committed_frames']
    return got


KEYS = ('frames', 'committed_frames', 'commits', 'uncommitted_frames',
        'stale_frames', 'damaged')
