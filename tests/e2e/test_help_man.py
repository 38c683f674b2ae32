"""--help and the man pages say the same, and each page is a good one."""
import os
import re
import shutil
import subprocess

from holdfast import ROOT, YES, Skip, each, has, run, same

COMMANDS = ('capture', 'recover', 'query', 'export', 'diff', 'verify',
            'lease', 'controls')
OPTION = re.compile(r'(?<![\w-])(--[a-z][a-z-]*|-[a-zA-Z])(?![\w-])')


def page(name):
    """The page's source without roff's escapes and fonts."""
    with open(os.path.join(ROOT, 'man', f'{name}.1')) as f:
        text = f.read()
    text = re.sub(r'\\f[A-Z]', '', text)
    return text.replace(r'\-', '-').replace(r'\(dq', '"')


def section(text, title):
    m = re.search(rf'^\.SH {title}\n(.*?)(?=^\.SH |\Z)', text, re.M | re.S)
    assert m, f'no section {title}'
    return m.group(1)


def helped(command):
    """(usage line, options, values by option, exit statuses)"""
    out = run(command, '--help').expect(YES).out
    usage = out.split('\n\n')[0].removeprefix('usage: ')
    options, values = set(), {}
    block = out.split('options:\n')[1].split('\n\n')[0]
    for line in block.splitlines():
        spelt = line[2:].split('  ')[0]
        options |= set(OPTION.findall(spelt))
        words = spelt.split()
        values[words[0].rstrip(',')] = words[-1] if len(words) == 2 and \
            not words[1].startswith('-') else None
    statuses = re.findall(r'^  (\d)  ', out.split('exit status:')[1], re.M)
    return ' '.join(usage.split()), options, values, sorted(statuses)


def tagged(text):
    """Option tags of a page: the line behind each .TP, without macros."""
    tags = re.findall(r'^\.TP\n\.(?:B|BI|BR) (.*)$', text, re.M)
    return [t.replace('"', '').replace(' , ', ', ') for t in tags]


@each(*COMMANDS)
def test_every_option_of_help_stands_in_the_page_and_the_reverse(command):
    usage, options, values, _ = helped(command)
    tags = tagged(section(page(f'holdfast-{command}'), 'OPTIONS'))
    same(set(o for t in tags for o in OPTION.findall(t)), options)
    for tag in tags:
        words = tag.split()
        if len(words) == 2 and not words[1].startswith('-'):
            same(words[1], values[words[0]], f'value of {words[0]}')
        elif len(words) == 1:
            same(values[words[0]], None, f'value of {words[0]}')
    for o in options - {'-h', '--help'}:
        has(usage, o)


@each(*COMMANDS)
def test_the_synopsis_is_the_usage_line(command):
    usage, _, _, _ = helped(command)
    text = section(page(f'holdfast-{command}'), 'SYNOPSIS')
    lines = [x for x in text.splitlines() if not x.startswith('.')]
    same(' '.join(' '.join(lines).split()), usage)


@each(*COMMANDS)
def test_help_and_page_list_the_same_exit_statuses(command):
    _, _, _, statuses = helped(command)
    tags = tagged(section(page(f'holdfast-{command}'), 'EXIT STATUS'))
    same(sorted(tags), statuses)


@each(*COMMANDS)
def test_the_example_of_help_stands_in_the_page(command):
    out = run(command, '--help').out
    example = out.split('example:\n')[1].strip()
    has(section(page(f'holdfast-{command}'), 'EXAMPLES'), example)
    has(page(f'holdfast-{command}').split('.SH SYNOPSIS')[0],
        f'holdfast-{command} - ')


def test_the_main_page_lists_every_command_and_status():
    out = run('help').expect(YES).out
    listed = re.findall(r'^  ([a-z]+)  ',
                        out.split('commands:\n')[1].split('\n\n')[0], re.M)
    text = page('holdfast')
    same(tagged(section(text, 'COMMANDS')), listed)
    order = re.findall(r'^  (\d)  ', out.split('exit status')[1], re.M)
    same(tagged(section(text, 'EXIT STATUS')), order)
    for name in COMMANDS:
        assert name in listed, listed
        has(run('help', name).expect(YES).out,
            run(name, '--help').expect(YES).out)


@each('holdfast', *(f'holdfast-{c}' for c in COMMANDS))
def test_a_page_has_a_date_and_one_line_that_says_what_it_is(name):
    lines = page(name).splitlines()
    assert re.fullmatch(rf'\.TH {name.upper()} 1 "20\d\d-\d\d-\d\d" '
                        '"Holdfast" "Holdfast Manual"', lines[0]), lines[0]
    same((lines[1], lines[3]), ('.SH NAME', '.SH SYNOPSIS'))
    assert re.fullmatch(rf'{name} - [a-z].{{10,70}}[^.]', lines[2]), lines[2]


@each('holdfast', *(f'holdfast-{c}' for c in COMMANDS))
def test_man_shows_a_page_and_complains_of_nothing(name):
    man = shutil.which('man')
    if not man or not shutil.which('groff'):
        raise Skip('needs man and groff')
    r = subprocess.run(
        [man, '--warnings=w', '-l', os.path.join(ROOT, 'man', f'{name}.1')],
        capture_output=True, text=True, stdin=subprocess.DEVNULL,
        env={**os.environ, 'LC_ALL': 'C.UTF-8', 'MANWIDTH': '80',
             'MANPAGER': 'cat'})
    same((r.returncode, r.stderr), (0, ''))
    if 'SYNOPSIS' not in r.stdout:
        raise Skip('needs a man that shows pages: '
                   f'{" ".join(r.stdout.split())[:80]}')
    has(r.stdout, 'DESCRIPTION', 'Holdfast Manual')


@each('holdfast', *(f'holdfast-{c}' for c in COMMANDS))
def test_a_page_has_no_fault_that_mandoc_finds(name):
    mandoc = shutil.which('mandoc')
    if not mandoc:
        raise Skip('needs mandoc')
    path = os.path.join(ROOT, 'man', f'{name}.1')
    r = subprocess.run([mandoc, '-T', 'lint', '-W', 'warning', path],
                       capture_output=True, text=True)
    same((r.returncode, r.stdout), (0, ''))
    shown = subprocess.run([mandoc, '-T', 'ascii', path], check=True,
                           capture_output=True, text=True).stdout
    shown = re.sub('.\b', '', shown)
    for line in shown.splitlines():
        assert len(line) <= 80, line
