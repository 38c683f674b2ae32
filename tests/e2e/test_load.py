"""Captures of python3 under load: every one is a committed state."""
from holdfast import (NOT_CHECKED, REFUSED, WAL, DELETE, YES, Writer, each,
                      folder, limit, query, run, same)

CAPTURES = 50
TRIES = 20      # of one capture that is refused as ambiguous or unstable
SUM = 'select sum(bal) from acct'


@each('wal', 'delete')
@limit(420)
def test_fifty_captures_of_four_threads_on_two_databases_balance(mode):
    pragmas = (WAL[:1] if mode == 'wal' else DELETE) + ('synchronous=off',)
    with folder() as d, folder() as out, Writer() as w:
        dbs = [f'{d}/a.db', f'{d}/b.db']
        w.ask('load', dbs, pragmas, 4)
        w.ask('beyond', 50)
        refused = rows = 0
        for i in range(CAPTURES):
            packet = f'{out}/p{i}'
            for _ in range(TRIES):
                r = run('capture', '-o', packet, dbs[i % 2])
                if r.status != REFUSED:
                    break
                assert 'ambiguous' in r.err or 'journal' in r.err or \
                    'moved' in r.err or 'changed' in r.err, r.err
                refused += 1
                w.progress()
            r.expect(YES, NOT_CHECKED)
            w.progress()
            same(query(packet, SUM), [['1000']], f'balances of capture {i}')
            rows = int(query(packet, 'select max(id) from t')[0][0])
        commits, troubles = w.ask('unload')
        same(troubles, [])
        assert 0 < rows <= commits * 2, (rows, commits)
        print(f'{CAPTURES} captures, {refused} refusals in between')
