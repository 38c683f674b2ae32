"""What the tests of the attack harness share: two files, a program."""
import contextlib
import json
import os
import subprocess

from holdfast import BUILD, HERE, folder, need_tool, run, same

CONTROLS = os.path.join(BUILD, 'bin', 'holdfast-controls')
MODES = ('rename', 'inject')
NOT_HERE, NEVER, DEADLINE, TROUBLE, NOT_RUN, NOT_FOUND = \
    96, 97, 124, 125, 126, 127
KILLABLE, LISTENER = 32, 8      # flags of seccomp(2)
EINVAL = 22


def compiled(source, to, *options):
    cc = os.environ.get('CC') or need_tool('cc')
    subprocess.run([*cc.split(), '-O1', '-D_GNU_SOURCE', '-pthread',
                    *options, '-o', to, os.path.join(HERE, source)],
                   check=True)
    return to


def inode(path):
    try:
        return os.lstat(path).st_ino
    except FileNotFoundError:
        return 0


class Bed:
    """Two files, a program that opens, and what must be as before."""

    def __init__(self, d):
        self.d = d
        self.app, self.evil = f'{d}/app', f'{d}/evil'
        for path, text in ((self.app, 'GOOD\n'), (self.evil, 'EVIL\n')):
            with open(path, 'w') as f:
                f.write(text)
        self.good_ino, self.evil_ino = inode(self.app), inode(self.evil)
        self.target = compiled('attack_target.c', f'{d}/target')
        self.listing = self.look()

    def look(self):
        return {n: inode(f'{self.d}/{n}') for n in os.listdir(self.d)}

    def args(self, *options, swap=None):
        return ('attack', '--swap', swap or f'{self.app}={self.evil}',
                *options)

    def attack(self, *options, command, swap=None, **more):
        return run(*self.args(*options, swap=swap), '--', *command,
                   program=more.pop('program', CONTROLS), **more)

    def opens(self, verb, *args, options=(), status=0, **more):
        """The words that the program prints."""
        command = [more.pop('target', self.target), verb,
                   more.pop('path', self.app), *args]
        return self.attack(*options, command=command,
                           **more).expect(status).out.split()

    def fooled(self, words):
        """It read the substitute, and the name showed the original."""
        same(words, ['EVIL', str(self.evil_ino), str(self.good_ino)])

    def straight(self):
        same(self.look(), self.listing, 'names and inodes')


@contextlib.contextmanager
def bed():
    with folder() as d:
        b = Bed(d)
        yield b
        b.straight()
        for path, text in ((b.app, 'GOOD\n'), (b.evil, 'EVIL\n')):
            with open(path) as f:
                same(f.read(), text, path)


def lines(path):
    with open(path) as f:
        return [json.loads(x) for x in f]


def matched(path):
    return [x for x in lines(path) if x.get('swap')]
