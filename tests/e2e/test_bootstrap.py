"""controls bootstrap: a reviewed program runs, or nothing does."""
import hashlib
import os
import shutil
import subprocess

from holdfast import (REFUSED, TROUBLE, USAGE, each, folder, has,
                      need_tool, run, same)

REVIEWED = '#!/bin/sh\necho reviewed "$@"\nexit 7\n'
SUBSTITUTE = '#!/bin/sh\necho substitute >> ran\n'


def git(d, *args):
    r = subprocess.run(
        ['git', '-C', d, '-c', 'user.name=r', '-c', 'user.email=r@localhost',
         *args], capture_output=True, text=True,
        env={'PATH': os.environ['PATH'], 'HOME': d})
    assert r.returncode == 0, r.stderr
    return r.stdout.strip()


def write(path, text):
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, 'wb') as f:
        f.write(text if isinstance(text, bytes) else text.encode())
    return hashlib.sha256(open(path, 'rb').read()).hexdigest()


def repository(d, *init):
    """A repository d/r with tools/check.sh: its commit."""
    need_tool('git')
    subprocess.run(['git', 'init', '-q', *init, f'{d}/r'], check=True)
    write(f'{d}/r/tools/check.sh', REVIEWED)
    return commit(d)


def commit(d):
    git(f'{d}/r', 'add', '-A')
    git(f'{d}/r', 'commit', '-q', '-m', 'reviewed')
    return git(f'{d}/r', 'rev-parse', 'HEAD')


SHA = hashlib.sha256(REVIEWED.encode()).hexdigest()


def bootstrap(d, c, *words, path='tools/check.sh', sha=SHA, repo=None,
              **more):
    return run('controls', 'bootstrap', '--repo', repo or f'{d}/r',
               '--commit', c, '--path', path, '--sha256', sha, '--', *words,
               cwd=d, **more)


@each('sha1', 'sha256')
def test_the_reviewed_bytes_run_whatever_lies_in_the_working_tree(form):
    with folder() as d:
        c = repository(d, f'--object-format={form}')
        write(f'{d}/r/tools/check.sh', SUBSTITUTE)
        r = bootstrap(d, c, 'a', 'b  c').expect(7)
        same(r.out, 'reviewed a b  c\n')
        os.unlink(f'{d}/r/tools/check.sh')
        bootstrap(d, c).expect(7)
        shutil.move(f'{d}/r/.git', f'{d}/bare')
        shutil.rmtree(f'{d}/r')
        bootstrap(d, c, repo=f'{d}/bare').expect(7)


@each(248, 249, 250, 1010)
def test_a_path_of_any_length_runs(length):
    """The kernel names no file in memory with more than 249 bytes."""
    with folder() as d:
        repository(d)
        path = '/'.join(['d' * 99] * (length // 100)) + '/'
        path += 'f' * (length - len(path))
        write(f'{d}/r/{path}', REVIEWED)
        r = bootstrap(d, commit(d), 'x', path=path).expect(7)
        same((len(path), r.out), (length, 'reviewed x\n'))


def test_bytes_of_another_digest_are_not_run():
    with folder() as d:
        repository(d)
        write(f'{d}/r/tools/check.sh', SUBSTITUTE)
        r = bootstrap(d, commit(d)).expect(REFUSED)
        has(r.err, SHA, hashlib.sha256(SUBSTITUTE.encode()).hexdigest(),
            'not run')
        assert not os.path.exists(f'{d}/ran')


def test_no_file_of_the_working_tree_is_opened():
    with folder() as d:
        c = repository(d)
        trace = f'{d}/trace'
        bootstrap(d, c, prefix=[
            need_tool('strace'), '-f', '-s', '4096', '-e',
            'trace=open,openat,openat2,execve,execveat', '-o',
            trace]).expect(7)
        with open(trace) as f:
            calls = f.read()
        has(calls, 'execveat')
        assert 'check.sh' not in calls.replace('"tools/check.sh"', ''), calls


def test_a_replacement_of_the_object_is_not_seen():
    with folder() as d:
        c = repository(d)
        write(f'{d}/other', SUBSTITUTE)
        blob = git(f'{d}/r', 'hash-object', '-w', f'{d}/other')
        git(f'{d}/r', 'replace', git(f'{d}/r', 'rev-parse',
                                     f'{c}:tools/check.sh'), blob)
        same(git(f'{d}/r', 'show', f'{c}:tools/check.sh') + '\n', SUBSTITUTE)
        bootstrap(d, c).expect(7)


def test_no_variable_of_git_says_what_is_read():
    with folder() as d:
        c = repository(d)
        os.mkdir(f'{d}/e')
        env = {**os.environ, 'GIT_DIR': f'{d}/e',
               'GIT_OBJECT_DIRECTORY': f'{d}/e',
               'GIT_CONFIG_COUNT': '1', 'GIT_CONFIG_KEY_0': 'core.pager',
               'GIT_CONFIG_VALUE_0': 'touch ran', 'GIT_TRACE': f'{d}/ran',
               'GIT_EXEC_PATH': f'{d}/e'}
        bootstrap(d, c, env=env).expect(7)
        assert not os.path.exists(f'{d}/ran')


def test_what_git_gives_is_hashed_again():
    """A git that lies: other bytes for the blob, or for the tree."""
    with folder() as d:
        c = repository(d)
        for kind in ('commit', 'tree', 'blob'):
            write(f'{d}/bin/git', '#!/bin/sh\ncase " $* " in *" cat-file '
                  f'{kind} "*) exec cat "{d}/lie";; esac\n'
                  f'exec {need_tool("git")} "$@"\n')
            os.chmod(f'{d}/bin/git', 0o755)
            write(f'{d}/lie', SUBSTITUTE)
            r = bootstrap(d, c, sha=hashlib.sha256(
                SUBSTITUTE.encode()).hexdigest(), env={
                    **os.environ,
                    'PATH': f'{d}/bin:' + os.environ['PATH']})
            r.expect(REFUSED)
            has(r.err, kind, 'another digest')
            assert not os.path.exists(f'{d}/ran')


def test_the_program_cannot_be_changed_while_it_runs():
    with folder() as d:
        repository(d)
        sha = write(f'{d}/r/tools/check.sh',
                    '#!/bin/sh\n(echo touch ran >> "$0") 2>/dev/null ||'
                    ' echo sealed "$0"\n')
        r = bootstrap(d, commit(d), sha=sha).expect(0)
        has(r.out, 'sealed /dev/fd/')


def test_an_elf_program_runs_by_its_descriptor():
    with folder() as d:
        repository(d)
        with open(need_tool('env'), 'rb') as f:
            sha = write(f'{d}/r/tools/env', f.read())
        r = bootstrap(d, commit(d), 'printf', '%s', 'it ran',
                      path='tools/env', sha=sha).expect(0)
        same(r.out, 'it ran')


@each('link', 'folder', 'missing', 'through', 'plain')
def test_what_is_no_program_in_the_commit_is_refused(kind):
    with folder() as d:
        repository(d)
        os.symlink('check.sh', f'{d}/r/tools/link')
        sha = write(f'{d}/r/tools/plain', 'echo hello\n')
        path = {'link': 'tools/link', 'folder': 'tools',
                'missing': 'tools/none', 'through': 'tools/check.sh/x',
                'plain': 'tools/plain'}[kind]
        r = bootstrap(d, commit(d), path=path,
                      sha=sha if kind == 'plain' else SHA).expect(REFUSED)
        has(r.err, path)


@each('HEAD', 'short', 'upper', 'absolute', 'dots', 'digest', 'none')
def test_only_full_ids_and_plain_paths_are_taken(kind):
    with folder() as d:
        c = repository(d)
        r = {'HEAD': lambda: bootstrap(d, 'HEAD'),
             'short': lambda: bootstrap(d, c[:12]),
             'upper': lambda: bootstrap(d, c.upper() + 'A' * (c == c.upper())),
             'absolute': lambda: bootstrap(d, c, path='/bin/sh'),
             'dots': lambda: bootstrap(d, c, path='tools/../tools/check.sh'),
             'digest': lambda: bootstrap(d, c, sha=SHA[:-1]),
             'none': lambda: run('controls', 'bootstrap')}[kind]()
        r.expect(USAGE)
        assert r.err and not r.out, r.out


def test_a_commit_that_is_not_there_is_trouble():
    with folder() as d:
        repository(d)
        r = bootstrap(d, '0' * 40).expect(TROUBLE)
        has(r.err, '0' * 40)
