"""install, uninstall, and what the programs link."""
import os
import re
import subprocess
import sys

from holdfast import (BUILD, HOLDFAST, NOT_CHECKED, ROOT, SANITIZED, Skip,
                      USAGE, YES, each, folder, has, make, need_tool, run,
                      same)


def gnu_make(*args):
    return subprocess.run(
        ['make', '-s', f'BUILD={os.path.relpath(BUILD, ROOT)}', *args],
        cwd=ROOT, capture_output=True, text=True,
        env={k: v for k, v in os.environ.items()
             if k not in ('MAKEFLAGS', 'MAKELEVEL', 'MFLAGS')})


def files_below(d):
    return sorted(os.path.join(p, n) for p, _, names in os.walk(d)
                  for n in names)


def test_an_installed_holdfast_works_and_uninstall_leaves_nothing():
    if SANITIZED:
        raise Skip('a sanitizer build is not installed')
    with folder() as d:
        r = gnu_make('install', '-o', 'all', f'DESTDIR={d}', 'PREFIX=/usr')
        same(r.returncode, 0, r.stderr)
        names = [p.removeprefix(d) for p in files_below(d)]
        for name in ('/usr/bin/holdfast',
                     '/usr/libexec/holdfast/holdfast-recover',
                     '/usr/share/doc/holdfast/README.md'):
            assert name in names, names
        with open(f'{d}/usr/share/doc/holdfast/README.md') as f:
            for link in re.findall(r'\]\((\w[\w/]*(?:\.md)?)\)', f.read()):
                assert f'/usr/share/doc/holdfast/{link}' in names, link
        assert any(n.startswith('/usr/share/man/man1/') for n in names)
        db = make(f'{d}/app.db', 'create table t(x)')
        run('recover', db, program=f'{d}/usr/bin/holdfast').expect(
            YES, NOT_CHECKED)
        os.unlink(db)
        r = gnu_make('uninstall', f'DESTDIR={d}', 'PREFIX=/usr')
        same(r.returncode, 0, r.stderr)
        same(files_below(d), [])


def test_a_sanitizer_build_is_not_installed():
    with folder() as d:
        r = subprocess.run(
            ['make', '-s', 'install', 'SAN=1', f'DESTDIR={d}', '-o', 'all'],
            cwd=ROOT, capture_output=True, text=True)
        assert r.returncode != 0
        has(r.stderr, 'sanitizer')
        same(files_below(d), [])


def test_the_front_end_links_no_sqlite():
    nm = need_tool('nm')
    r = subprocess.run([nm, '-D', HOLDFAST], check=True, text=True,
                       capture_output=True)
    same([x for x in r.stdout.splitlines() if 'sqlite3_' in x], [])
    r = subprocess.run(['ldd', HOLDFAST], check=True, text=True,
                       capture_output=True)
    assert 'sqlite' not in r.stdout, r.stdout


def test_the_helper_is_one_file_where_the_archives_are_there():
    if SANITIZED:
        raise Skip('the sanitizers are shared libraries')
    if os.environ.get('SHARED'):
        raise Skip('SHARED asks for the shared libraries')
    for lib in 'sqlite3', 'seccomp', 'crypto', 'm', 'c':
        path = subprocess.run(['cc', f'-print-file-name=lib{lib}.a'],
                              check=True, text=True,
                              capture_output=True).stdout.strip()
        if not os.path.exists(path):
            raise Skip(f'needs lib{lib}.a')
    readelf = need_tool('readelf')
    helper = os.path.join(BUILD, 'libexec', 'holdfast', 'holdfast-recover')
    r = subprocess.run([readelf, '-dlW', helper], check=True, text=True,
                       capture_output=True)
    same([x for x in r.stdout.splitlines()
          if 'NEEDED' in x or 'INTERP' in x], [])


def test_make_help_names_every_target():
    r = gnu_make('help')
    for target in ('all demo check check-unit check-e2e check-long check-san '
                   'bench mutants install uninstall clean help').split():
        has(r.stdout, f'{target} ')


@each('', 'nonsense', 'capture', 'capture --nonsense x', 'recover',
      'recover a b', 'diff a', 'diff --expect-id 00 a b', 'query a',
      'export a', 'verify a b', 'verify --unchanged a', 'help nonsense',
      'capture --timeout x a', 'capture --pid x a', 'capture --pid 0 a',
      'capture --journal x a', 'recover --view x a',
      'query --json --csv a b')
def test_wrong_usage_is_exit_two_and_a_sentence(line):
    with folder() as d:
        for name in ('a', 'b', 'x'):
            make(f'{d}/{name}', 'create table t(x)')
        r = run(*line.split(), cwd=d).expect(USAGE)
        assert r.err, r.out
        assert '--json' in line or not r.out, r.out


def test_version_and_help_go_to_stdout():
    has(run('version').expect(YES).out, 'holdfast')
    has(run('help').expect(YES).out, 'capture', 'recover', 'query', 'export',
        'diff', 'verify')
    has(run('capture', '--help').expect(YES).out, '--displaced')


@each('INVARIANTS', 'WRITERS')
def test_every_test_that_the_documents_name_exists(page):
    listed = subprocess.run(
        [sys.executable, '-B', f'{ROOT}/tests/run', '--list'], text=True,
        capture_output=True, check=True).stdout
    with open(f'{ROOT}/docs/{page}.md') as f:
        rows = [x for x in f if x.startswith('|') and '`' in x]
    for row in rows:
        for name in re.findall(r'`([^`]+)`', row.rsplit('|', 2)[1]):
            has(listed, name.split(': ')[-1])
