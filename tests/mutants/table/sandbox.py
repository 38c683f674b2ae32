"""The sandbox."""

mutant('filter-allows-openat', 'recover/filter.c',
       '\t{ SCMP_SYS(pread64), 0, { { 0 } } },\n',
       '\t{ SCMP_SYS(pread64), 0, { { 0 } } },\n'
       '\t{ SCMP_SYS(openat), 0, { { 0 } } },\n',
       't_jail: openat_in_the_second_thread_kills_the_helper',
       't_jail.c')

mutant('uid-not-dropped', 'recover/jail.c',
       'uid_t uid = root ? JAIL_UID : getuid();',
       'uid_t uid = getuid();',
       'test_recover: the_helper_runs_in_its_sandbox_as_seen_by_the_parent',
       "root's ids or groups could be had again")

mutant('parent-does-not-look', 'warden/warden.c',
       '\t\trc = seen_check(w->pid, &w->want, &w->seen, f);\n',
       '\t\trc = 0;\n',
       't_warden: a_helper_without_a_jail_is_handed_nothing',
       't_warden.c')
