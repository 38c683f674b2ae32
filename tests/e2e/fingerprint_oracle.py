#!/usr/bin/env python3
"""The fingerprint of a database, from docs/FORMATS.md alone.

usage: fingerprint_oracle.py FILE...

Prints "WHOLE STAT FILE" for each. Shares nothing with the C code, so that a
mistake in either shows. The file is opened as immutable: its WAL is ignored.
"""
import hashlib
import sqlite3
import struct
import sys
from urllib.parse import quote


def u64(n):
    return struct.pack("<Q", n)


def item(tag, data):
    return tag + u64(len(data)) + data


def text_cell(raw, encoding):
    """raw: the bytes as stored."""
    if encoding == "UTF-8":
        try:
            raw.decode("utf-8")
            return item(b"t", raw)
        except UnicodeDecodeError:
            return item(b"T", raw)
    order = "utf-16-le" if encoding == "UTF-16le" else "utf-16-be"
    try:
        return item(b"t", raw.decode(order).encode("utf-8"))
    except UnicodeError:
        if encoding == "UTF-16be":
            whole = len(raw) // 2 * 2
            swapped = bytearray(raw)
            swapped[0:whole:2] = raw[1:whole:2]
            swapped[1:whole:2] = raw[0:whole:2]
            raw = bytes(swapped)
        return item(b"W", raw)


def cell(kind, value, encoding):
    if kind == b"null":
        return b"n"
    if kind == b"integer":
        return b"i" + struct.pack("<q", value)
    if kind == b"real":
        return b"r" + struct.pack("<d", value)
    if kind == b"text":
        return text_cell(value, encoding)
    return b"B" + u64(len(value)) + hashlib.sha256(value).digest()


def name_cell(name):
    """Names as SQLite gives them in UTF-8."""
    return text_cell(name, "UTF-8")


def quoted(name):
    return b'"' + name.replace(b'"', b'""') + b'"'


def query(db, sql):
    # surrogateescape keeps names that are not UTF-8.
    return db.execute(sql.decode("utf-8", "surrogateescape"))


def typed(expressions):
    """SQL that gives each value's type and, for text, its stored bytes."""
    out = []
    for e in expressions:
        out.append(b"typeof(%s), CASE typeof(%s) WHEN 'text' THEN "
                   b"CAST(%s AS BLOB) ELSE %s END" % (e, e, e, e))
    return b", ".join(out)


def rows(db, expressions, rest, encoding):
    """Long lists are read in parts: a result has a largest width."""
    step = 400
    cursors = [query(db, b"SELECT " + typed(expressions[i:i + step]) + rest)
               for i in range(0, len(expressions), step)]
    for parts in zip(*cursors):
        out = b""
        for part in parts:
            for i in range(0, len(part), 2):
                out += cell(part[i], part[i + 1], encoding)
        yield out


def integer_key(db, name, columns):
    keys = [c for c in columns if c[5]]
    if len(keys) != 1 or keys[0][2].upper() != b"INTEGER":
        return None
    for index in query(db, b"PRAGMA index_list(" + quoted(name) + b")"):
        if index[3] == b"pk":
            return None
    return keys[0][1]


def table(db, name, encoding):
    columns = query(db, b"PRAGMA table_xinfo(" + quoted(name) + b")")
    columns = columns.fetchall()
    h = hashlib.sha256(item(b"N", name_cell(name)))
    readable = []
    for c in columns:
        try:
            query(db, b"SELECT x." + quoted(c[1]) + b" FROM " + quoted(name)
                  + b" AS x LIMIT 0")
            readable.append(b"x." + quoted(c[1]))
            h.update(item(b"C", name_cell(c[1])))
        except sqlite3.OperationalError:
            h.update(item(b"X", name_cell(c[1])))
    source = b" FROM " + quoted(name) + b" AS x NOT INDEXED"
    key = integer_key(db, name, columns)
    count = 0
    if key is not None:
        h.update(b"I")
        order = source + b" ORDER BY x." + quoted(key)
        for row in rows(db, readable, order, encoding):
            h.update(row)
            count += 1
    else:
        sums = sorted(hashlib.sha256(row).digest()
                      for row in rows(db, readable, source, encoding))
        h.update(b"S" + b"".join(sums))
        count = len(sums)
    h.update(item(b"E", u64(count)))
    return h.digest()


def is_table(sql):
    """Good for SQL that SQLite wrote itself: no comments in front."""
    words = sql.upper().split(None, 2)
    return words[:2] == [b"CREATE", b"TABLE"]


def fingerprints(db):
    encoding = db.execute("PRAGMA encoding").fetchone()[0].decode()
    objects = {False: [], True: []}
    tables = {False: [], True: []}
    names = db.execute("SELECT name, tbl_name, sql FROM sqlite_master"
                       " WHERE sql IS NOT NULL").fetchall()
    cells = rows(db, [b"type", b"name", b"tbl_name", b"sql"],
                 b" FROM sqlite_master WHERE sql IS NOT NULL", encoding)
    for (name, owner, sql), row in zip(names, cells):
        stat = owner.lower().startswith(b"sqlite_stat")
        objects[stat].append(row)
        if is_table(sql):
            tables[stat].append(name_cell(name)
                                + item(b"b", table(db, name, encoding)))
    out = []
    for stat in (False, True):
        h = hashlib.sha256(item(b"S" if stat else b"F",
                                b"holdfast-fingerprint/1"))
        for s in () if stat else ("user_version", "application_id",
                                  "auto_vacuum"):
            value = db.execute("PRAGMA " + s).fetchone()[0]
            h.update(item(b"V", name_cell(s.encode())
                          + cell(b"integer", value, encoding)))
        for row in sorted(objects[stat]):
            h.update(item(b"O", row))
        for row in sorted(tables[stat]):
            h.update(item(b"T", row))
        out.append(h.hexdigest())
    return out


def main():
    for path in sys.argv[1:]:
        db = sqlite3.connect("file:%s?immutable=1" % quote(path), uri=True)
        db.text_factory = bytes
        print(*fingerprints(db), path)
        db.close()


if __name__ == "__main__":
    main()
