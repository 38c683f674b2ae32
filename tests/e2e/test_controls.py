"""The attack controls: each one holds, and the run is honest about it."""
import json
import os
import re
import subprocess

from holdfast import (BUILD, ROOT, YES, Skip, each, finish, has, limit,
                      need_tool, run, same, spawn)

CONTROLS = os.path.join(BUILD, 'bin', 'holdfast-controls')


def listed():
    if not os.path.exists(CONTROLS):
        return []
    out = subprocess.run([CONTROLS, 'list', '--json'], check=True,
                         capture_output=True, text=True).stdout
    return [json.loads(line)['id'] for line in out.splitlines()]


def controls(*args, **more):
    return run(*args, program=CONTROLS, **more)


@limit(120)
@each(*listed())
def test_control_holds(name):
    r = controls('run', '--json', name, timeout=100)
    told = r.lines()[0]
    if told['outcome'] == 'skipped':
        raise Skip(told['reasons'][0])
    same((told['outcome'], told['reasons'], told['left']), ('held', [], []))
    assert told['examined'] > 0, told
    r.expect(YES)


def test_nothing_of_the_other_rooms_is_included():
    room = os.path.join(ROOT, 'controls')
    for name in sorted(os.listdir(room)):
        with open(os.path.join(room, name)) as f:
            for header in re.findall(r'^#\s*include\s+"([^"]+)"', f.read(),
                                     re.M):
                same((name, os.path.dirname(header)), (name, 'controls'))


def test_the_page_of_the_controls_is_what_the_list_says():
    with open(os.path.join(ROOT, 'docs', 'CONTROLS.md')) as f:
        same(f.read(), controls('list', '--markdown').expect(YES).out)
