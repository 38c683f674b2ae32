"""The controls: faults of the product that the attacks show."""


def controlled(id, name, file, old, new, text):
    mutant(id, file, old, new, f'test_controls: control_holds[{name}]', text)


# Copies of a part, or of two instants

controlled('packet-without-wal', 'main-only-copy', 'capture/hold.c',
           '\t\trc = hold_judge_names(h, rules, f);\n\treturn rc;\n}\n\n/*\n'
           ' * Without a writer',
           '\t\trc = hold_judge_names(h, rules, f);\n'
           '\theld_free(&h->held[ROLE_WAL]);\n\treturn rc;\n}\n\n/*\n'
           ' * Without a writer',
           'shows 40|2000|app.db')

controlled('writers-run-during-the-reads', 'main-then-wal',
           'capture/capture.c',
           '\tif (!rc)\n\t\trc = S_read_twice(r, f);\n',
           '\thold_release(&r->hold);\n'
           '\tif (!rc)\n\t\trc = S_read_twice(r, f);\n',
           'the product is fooled: exit 3')

controlled('only-one-writer-is-paused', 'wal-then-main',
           'capture/hold_pause.c',
           '\t\tif (!who->writable || hold_is_paused(h, who))\n'
           '\t\t\tcontinue;\n\t\tif (!S_may_pause',
           '\t\tif (!who->writable || h->nprocs > 0)\n'
           '\t\t\tcontinue;\n\t\tif (!S_may_pause',
           'the product is fooled: exit 3')

# Names

controlled('names-bind-sidecars', 'crossed-wal-names', 'capture/bind.c',
           '\t\treturn S_bind_several(c, w, deadline_ns, b, f);\n',
           '\t\tfor (size_t i = 1; i < c->count; i++)\n'
           '\t\t\tif (c->list[i].own_name)\n'
           '\t\t\t\tb->of[c->list[i].held.role] = (int)i;\n',
           'the product is fooled: exit 0')

controlled('unlinked-is-in-its-place', 'unlinked-sidecars', 'capture/names.c',
           '\t\t\tif (!e->exists || !held_is(&held[r], e->dev, e->ino))\n',
           '\t\t\tif (e->exists && !held_is(&held[r], e->dev, e->ino))\n',
           'the product is fooled: exit 0')

controlled('strangers-are-welcome', 'renamed-main', 'capture/hold_pause.c',
           '\t\tif (!who->writable || hold_holds(who, s->dev, s->ino))\n',
           '\t\tif (who)\n',
           'the product is fooled: exit 0')

controlled('other-salts-are-captured', 'stale-wal', 'capture/inspect.c',
           '\tif (!i->salts_agree)\n',
           '\tif (0 && !i->salts_agree)\n',
           'the product is fooled: exit 0')

controlled('any-file-of-the-name', 'coherent-substitute-wal',
           'capture/names.c',
           '\t\t\tif (!e->exists || !held_is(&held[r], e->dev, e->ino))\n',
           '\t\t\tif (!e->exists)\n',
           'the product is fooled: exit 0')

# Journals

controlled('no-journal-is-hot', 'journal-left-out', 'recover/journal.c',
           '\tk->j->acct.state = "hot";\n',
           '\tk->j->acct.state = "cold";\n',
           'the product is fooled: shows')

controlled('super-journal-is-recovered', 'super-journal',
           'recover/account.c',
           '\tif (j->super)\n',
           '\tif (0 && j->super)\n',
           'the product is fooled: exit')

controlled('super-journal-elsewhere-is-none', 'journal-names-a-victim',
           'recover/journal.c',
           "\tif (sum != 0 || name[0] == '\\0')\n",
           "\tif (sum != 0 || name[0] == '\\0' || name[0] == '/')\n",
           'the product is fooled: exit')

# What stands in a sidecar's place

controlled('only-files-are-substitutes', 'sidecar-symlink', 'capture/names.c',
           '\t\t\tif (!e->exists || !held_is(&held[r], e->dev, e->ino))\n',
           '\t\t\tif (!e->exists || (S_ISREG(e->mode) &&\n'
           '\t\t\t    !held_is(&held[r], e->dev, e->ino)))\n',
           'the product is fooled: exit 0')

controlled('a-name-is-proof', 'sidecar-hard-link', 'capture/hold_names.c',
           '\trc = S_undoes_nothing(&h->held[r], &proven, f);\n'
           '\tif (rc || proven)\n\t\treturn rc;\n',
           '\trc = S_undoes_nothing(&h->held[r], &proven, f);\n'
           '\tif (rc || proven || r == ROLE_WAL)\n\t\treturn rc;\n',
           'the product is fooled: exit 0')

for kind, mode in (('fifo', 'FIFO'), ('device', 'CHR'), ('directory', 'DIR')):
    controlled(f'{kind}-is-nothing', f'sidecar-{kind}', 'capture/names.c',
               '\t\tif (!S_ISREG(e->mode))\n',
               f'\t\tif (S_IS{mode}(e->mode))\n\t\t\tcontinue;\n'
               '\t\tif (!S_ISREG(e->mode))\n',
               'the product is fooled: exit')

# Another file at the very open

controlled('what-was-opened-is-the-name', 'main-swapped-at-open',
           'capture/selection.c',
           '\t\trc = S_check_name(s, db, f);\n',
           '\t\trc = 0;\n',
           'the product is fooled: exit 0')

controlled('any-name-in-the-folder', 'proc-fd-uri-swapped-at-open',
           'capture/selection.c',
           '\tif (asked && strcmp(asked, s->path) == 0)\n',
           '\tif (asked && strncmp(asked, s->path, (size_t)\n'
           '\t    (strrchr(asked, \'/\') - asked)) == 0)\n',
           'the product is fooled: exit 0')

controlled('a-name-that-is-there-will-do', 'immutable-nolock-swapped-at-open',
           'capture/selection.c',
           '\tif (asked && strcmp(asked, s->path) == 0)\n',
           '\tif (asked)\n',
           'the product is fooled: exit 0')

controlled('any-shm-will-do', 'substitute-shm', 'capture/names.c',
           '\t\tif (held[r].fd >= 0) {\n',
           '\t\tif (held[r].fd >= 0 && r != ROLE_SHM) {\n',
           'the product is fooled: exit 0')

controlled('names-are-opened', 'sidecar-appears', 'capture/names.c',
           '\tif (fstatat(n->dirfd, name, &st, AT_SYMLINK_NOFOLLOW) != 0) {\n',
           '\tint fd = openat(n->dirfd, name, O_RDONLY | O_CLOEXEC);\n\n'
           '\tif ((fd < 0 ? -1 : fstat(fd, &st)) != 0) {\n',
           'the product is fooled: exit')

# Bootstrap

controlled('any-bytes-are-run', 'swapped-program', 'controls/bootstrap.c',
           '\tif (strcmp(hex, o->sha256))\n',
           '\tif (0 && strcmp(hex, o->sha256))\n',
           'the product is fooled: exit 0')

mutant('git-is-believed', 'controls/gitobject.c',
       '\telse if (!S_has_id(type, o, id))\n',
       '\telse if (0 && !S_has_id(type, o, id))\n',
       'test_bootstrap: what_git_gives_is_hashed_again',
       "'another digest' is not in")

mutant('program-not-sealed', 'controls/bootstrap.c',
       '\t\t\t     F_SEAL_GROW | F_SEAL_WRITE) == 0)\n',
       '\t\t\t     0) == 0)\n',
       'test_bootstrap: the_program_cannot_be_changed_while_it_runs',
       "'sealed /dev/fd/' is not in")

# The frame: a control that shows nothing must not pass for one that holds

mutant('any-symptom-will-do', 'controls/findings.c',
       '\tif (s->told && s->good && strcmp(s->symptom, c->symptom))\n',
       '\tif (0)\n',
       't_controls: a_predecessor_that_is_fooled_otherwise_breaks_it',
       't_controls.c')

mutant('nothing-is-enough', 'controls/findings.c',
       '\tif (f->examined == 0)\n',
       '\tif (0)\n',
       't_controls: what_was_not_tried_breaks_it',
       't_controls.c')

mutant('leftovers-are-ended-silently', 'controls/keeper.c',
       '\tleftovers_end(end == END_ITSELF ? S_tell_left : NULL, t);\n',
       '\tleftovers_end(NULL, t);\n',
       't_controls: a_process_that_stays_is_named_and_ended',
       't_controls.c')

mutant('skips-are-free', 'controls/run.c',
       '\t\t(r->verdict.outcome != OUTCOME_SKIPPED || !run->allow_skip);\n',
       '\t\tr->verdict.outcome != OUTCOME_SKIPPED;\n',
       'test_controls: what_cannot_run_fails_the_run_unless_that_is_allowed',
       'want (1,)')

mutant('folder-stays', 'controls/keeper.c',
       '\tleftovers_remove(path, S_tell_left, t);\n',
       '',
       'test_controls: a_run_leaves_nothing',
       'holdfast-control-')
