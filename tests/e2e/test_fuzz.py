"""A short run of each fuzz target, and of the whole program on mutants.

The same inputs each time. The long runs are those of make fuzz.
"""
import os
import subprocess
import sys

from holdfast import BUILD, ROOT, Skip, each, folder, limit, long, same

sys.path.insert(0, os.path.join(ROOT, 'tests', 'fuzz'))
import seeds  # noqa: E402
import whole  # noqa: E402

TARGETS = sorted(n[:-2] for n in os.listdir(os.path.join(ROOT, 'tests/fuzz'))
                 if n.startswith('f_') and n.endswith('.c'))
MUTANTS = 400
BATCH = 24


@each(*TARGETS)
def test_a_decoder_keeps_its_promises_on_mutants(target):
    program = os.path.join(BUILD, 'tests', 'fuzz', 'plain', target)
    if not os.path.exists(program):
        raise Skip(f'needs {target}, which make check builds')
    with folder() as d:
        seeds.for_decoders(d)
        where = os.path.join(d, target)
        files = [os.path.join(where, n) for n in sorted(os.listdir(where))]
        r = subprocess.run([program, f'-runs={MUTANTS}', *files],
                           capture_output=True, text=True)
        same((r.returncode, r.stderr), (0, ''))


def cases(first, n):
    with folder() as d:
        same(whole.cases(range(first, first + n), d), [])


@each(*range(2))
@limit(240)
def test_a_mutated_database_never_gives_an_undocumented_answer(batch):
    cases(batch * BATCH, BATCH)


@long
@each(*range(8))
@limit(900)
def test_a_mutated_database_never_gives_an_undocumented_answer_for_long(batch):
    cases(10000 + batch * 250, 250)
