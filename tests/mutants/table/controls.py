"""Attack controls: the harness attacks, and leaves nothing behind."""

mutant('attack-look-before-it-is-put-back', 'controls/attack_supervise.c',
       '\tS_must(s, window_came(&s->window, s->got));\n',
       '\tif (s->window.stage == WINDOW_OPEN &&\n'
       '\t    s->got->pid == s->window.call.pid) {\n'
       '\t\tS_continue(s, s->got);\n\t\treturn;\n\t}\n'
       '\tS_must(s, window_came(&s->window, s->got));\n',
       'test_attack: no_open_is_lost_to_signals[held off]',
       "want ['200', '200', 'signals']")

mutant('attack-others-look-in-the-window', 'controls/attack_supervise.c',
       '\tif (s->window.stage == WINDOW_SHUT)\n\t\tS_call(s, s->got);',
       '\tif (1)\n\t\tS_call(s, s->got);',
       'test_attack: two_hundred_of_two_hundred_opens_beside_threads_that_'
       'look',
       "'strange']")

mutant('attack-calls-still-in-flight', 'controls/attack_window.c',
       'return flight_landed(&w->flight) ? S_cross(w) : 0;',
       'return S_cross(w);',
       'test_attack: two_hundred_of_two_hundred_opens_beside_threads_that_'
       'look',
       "'strange']")

mutant('attack-window-shut-at-once', 'controls/attack_target.c',
       '\tif (S_stat(m->thread, &state, &ticks))\n\t\treturn true;\n',
       '\tif (1 || S_stat(m->thread, &state, &ticks))\n\t\treturn true;\n',
       'test_attack: two_hundred_of_two_hundred_opens_beside_threads_that_'
       'look',
       "'GOOD'")

mutant('attack-others-wait-for-a-call', 'controls/attack_window.c',
       'return target_through(&w->mark) ? S_shut(w) : 0;',
       'return 0;',
       'test_attack: a_thread_that_makes_no_call_does_not_hold_the_others'
       '[rename]',
       'want (0,)')

mutant('attack-links-not-followed', 'controls/attack_where.c',
       '\tif (++k->links > WHERE_LINKS_MAX ||\n',
       '\tif (++k->links > 0 ||\n',
       'test_attack: any_spelling_is_the_same_file[links]',
       'want (0,)')

mutant('attack-our-own-proc-self', 'controls/attack_where.c',
       'snprintf(link, PATH_MAX, "%d/task/%d", process, k->thread);',
       'snprintf(link, PATH_MAX, "%d/task/%d", getpid(), getpid());',
       'test_attack: any_spelling_is_the_same_file[proc]',
       'want (0,)')

mutant('attack-io-uring-there', 'controls/attack_filter.c',
       'BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, __NR_io_uring_setup, 0, 1)',
       'BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, __NR_io_uring_setup, 1, 1)',
       'test_attack: there_is_no_way_around_by_io_uring',
       "'Function'")

mutant('attack-lost-to-signals', 'controls/attack_window.c',
       '\ts->opens--;\n\tS_forget(w, "gone");\n'
       '\treturn S_put_back(w)',
       '\ts->attacks++;\n\tS_forget(w, "gone");\n'
       '\treturn S_put_back(w)',
       'test_attack: no_open_is_lost_to_signals[may restart a call]',
       'want 200')

mutant('attack-not-counted-as-never', 'controls/attack.c',
       '\t\tif (a->swaps[i].attacks)\n\t\t\tcontinue;\n',
       '\t\tif (!a->swaps[i].attacks)\n\t\t\tcontinue;\n',
       'test_attack_ends: a_command_that_never_opens_it_has_a_status_of_'
       'its_own',
       'want (97,)')

mutant('attack-guardian-off', 'controls/attack_guardian.c',
       '\tif (n == 1)\n\t\t_exit(0);\n', '\tif (n >= 0)\n\t\t_exit(0);\n',
       'test_attack_ends: the_guardian_puts_back_when_the_supervisor_is_'
       'killed',
       'still crossed')

mutant('attack-journal-not-read', 'controls/attack_journal.c',
       '\tif (S_leftovers(s->c.dir))\n\t\treturn -1;\n', '',
       'test_attack_ends: the_next_run_puts_back_when_both_were_killed',
       'is put back by this run')

mutant('attack-journal-not-locked', 'controls/attack_journal.c',
       '!flock(*fd, LOCK_EX | LOCK_NB) &&', '',
       'test_attack_ends: a_run_does_not_touch_names_that_another_run_'
       'attacks',
       'want (125,)')

mutant('attack-journal-without-inodes', 'controls/attack_journal.c',
       '\tcase CROSSING_STRAIGHT:\n\tcase CROSSING_FOREIGN:\n',
       '\tcase CROSSING_STRAIGHT:\n',
       'test_attack_ends: the_next_run_leaves_names_that_were_made_anew',
       'want (97,)')

mutant('attack-descendants-stay', 'controls/attack_launch.c',
       '\t\twhile (S_end_children(spared))\n\t\t\t;\n',
       '\t\twaitpid(l->pid, NULL, 0);\n',
       'test_attack_ends: the_deadline_ends_all_that_it_started',
       'want []')

mutant('attack-signal-does-not-put-back', 'controls/attack_window.c',
       '\tif (w->stage == WINDOW_OPEN)\n\t\trc = S_shut(w);\n'
       '\telse if',
       '\tif',
       'test_attack_ends: a_signal_puts_back_and_is_the_status[15]',
       'names and inodes')

# What the controls must catch, as changes to the product.

mutant('held-stopped-by-signal', 'capture/threads.c',
       '\treturn ptrace(PTRACE_GETEVENTMSG, th->tid, NULL, &message) == 0;',
       '\t(void)message;\n'
       '\t(void)kill(th->tid, SIGSTOP);\n'
       '\t(void)ptrace(PTRACE_DETACH, th->tid, NULL, NULL);\n'
       '\treturn true;',
       'test_controls: control_holds[somebodys-sigcont]',
       'the product is fooled')

mutant('held-killed-while-stopped-by-signal', 'capture/threads.c',
       '\treturn ptrace(PTRACE_GETEVENTMSG, th->tid, NULL, &message) == 0;',
       '\t(void)message;\n'
       '\t(void)kill(th->tid, SIGSTOP);\n'
       '\t(void)ptrace(PTRACE_DETACH, th->tid, NULL, NULL);\n'
       '\treturn true;',
       'test_controls: control_holds[killed-stage]',
       'the writer stands still')

mutant('held-not-resumed-when-it-fails', 'capture/threads.c',
       '\t\t(void)ptrace(PTRACE_DETACH, th->tid, NULL,\n',
       '\t\tif (t->listing < 4)\n'
       '\t\t\t(void)kill(th->tid, SIGSTOP);\n'
       '\t\t(void)ptrace(PTRACE_DETACH, th->tid, NULL,\n',
       'test_controls: control_holds[failing-stage]',
       'the writer stands still')

mutant('held-one-writer-paused', 'capture/hold_pause.c',
       'if (!who->writable || hold_is_paused(h, who))',
       'if (!who->writable || h->nprocs > 0)',
       'test_controls: control_holds[second-writer]',
       'the product is fooled')

mutant('held-pid-of-another', 'capture/hold.c',
       '\t\tif (who && hold_holds(who, s->dev, s->ino))\n',
       '\t\tif (!who || hold_holds(who, s->dev, s->ino))\n',
       'test_controls: control_holds[reused-pid]',
       'the product is fooled: exit 0')

mutant('held-blocks-not-compared', 'recover/images.c',
       'if (memcmp(sum, im->list + at * DIGEST_BYTES, DIGEST_BYTES) != 0)',
       'if (0)',
       'test_controls: control_holds[changed-packet]',
       'the product is fooled')

mutant('held-helper-makes-sockets', 'recover/filter.c',
       '\t{ SCMP_SYS(brk), 0, { { 0 } } },\n',
       '\t{ SCMP_SYS(brk), 0, { { 0 } } },\n'
       '\t{ SCMP_SYS(socket), 0, { { 0 } } },\n',
       'test_controls: control_holds[forbidden-calls]',
       'the product is fooled: socket: it gets')

mutant('held-evidence-open-to-write', 'capture/held.c',
       '#define HELD_FLAGS (O_RDONLY |', '#define HELD_FLAGS (O_RDWR |',
       'test_controls: control_holds[dropped-rights]',
       'the product is fooled: descriptor 5')
