"""The rooms and the direction of their includes are what LAYOUT.md says."""
import glob
import os
import re

from holdfast import ROOT, same

NOT_ROOMS = {'tests', 'tools', 'docs', 'man'}


def section(title):
    with open(os.path.join(ROOT, 'docs', 'LAYOUT.md')) as f:
        return re.search(rf'^# *{title}\n.*?```\n(.*?)```', f.read(),
                         re.M | re.S).group(1)


def directions():
    """What each room may include: rooms, and single headers of rooms."""
    right = {}
    for line in section('# Direction').splitlines():
        steps = [re.split(', *', step.strip()) for step in line.split('→')]
        for i, step in enumerate(steps):
            for room in step:
                right.setdefault(room, set()).update(*steps[i + 1:])
    grown = True
    while grown:
        grown = False
        for reach in right.values():
            more = set().union(*(right.get(r, set()) for r in reach)) - reach
            reach |= more
            grown = grown or bool(more)
    return right


def test_the_rooms_are_those_that_the_layout_lists():
    listed = set(re.findall(r'^([a-z]+)/', section('Layout'), re.M))
    rooms = {os.path.basename(os.path.dirname(path))
             for path in glob.glob(os.path.join(ROOT, '*', '*.c'))}
    same(listed - NOT_ROOMS, rooms)
    same(rooms - set(directions()), set())


def test_no_room_is_to_the_right_of_itself():
    for room, reach in directions().items():
        assert room not in reach, f'{room} → {sorted(reach)}'


def test_headers_are_included_from_the_right_only():
    right = directions()
    checked = 0
    for path in sorted(glob.glob(os.path.join(ROOT, '*', '*.[ch]'))):
        name = os.path.relpath(path, ROOT)
        room = os.path.dirname(name)
        with open(path) as f:
            headers = re.findall(r'^#\s*include\s+"([^"]+)"', f.read(), re.M)
        for header in headers:
            other, checked = os.path.dirname(header), checked + 1
            assert other == room or other in right[room] or \
                os.path.splitext(header)[0] in right[room], \
                f'{name} includes {header}'
    assert checked > 0
