"""Capture: which bytes are read."""

mutant('reopen-by-path', 'capture/held.c',
       '\tgot = S_open_magic(p->dirfd, magic);\n',
       '\tchar path[4096] = "";\n'
       '\t(void)!readlinkat(p->dirfd, magic, path, sizeof(path) - 1);\n'
       '\tgot = S_open_magic(AT_FDCWD, path);\n',
       'test_names: no_live_evidence_is_opened_by_name[wal]',
       'app.db-wal')

mutant('names-instead-of-descriptors', 'capture/hold.c',
       '\t\trc = hold_judge_names(h, rules, f);\n\treturn rc;\n}\n\n/*\n'
       ' * Without a writer',
       '\t\trc = 0;\n\treturn rc;\n}\n\n/*\n * Without a writer',
       'test_names: a_substituted_wal_is_refused_with_both_inodes',
       'want (3,)')

mutant('second-read-skipped', 'capture/capture.c',
       '\t\trc = S_each_file(r, "read again", stage_compare, f);\n',
       '\t\trc = 0;\n',
       'test_faults: a_read_that_gave_other_bytes_is_never_in_a_packet',
       'bytes of app.db')

mutant('state-check-skipped', 'capture/pause.c',
       'i < p->count; i++)\n\t\trc = tracer_call(p->target[i].tracer, S_check',
       'i < 0 * p->count; i++)\n'
       '\t\trc = tracer_call(p->target[i].tracer, S_check',
       't_pause: a_death_under_the_pause_is_noticed',
       't_pause.c')

mutant('resumed-when-freed', 'capture/pause.c',
       '\tfor (size_t i = p->count; i > 0; i--)\n'
       '\t\tS_let_go(&p->target[i - 1]);\n',
       '\t(void)p;\n',
       't_pause: resumed_it_runs_before_the_pause_is_freed',
       't_pause.c')

mutant('binding-by-any-page', 'recover/binding.c',
       '\t\tm.distinctive = S_distinctive(b, j, pages);\n',
       '\t\tm.distinctive = S_distinctive(b, j, pages) + m.equal;\n',
       't_binding: copies_of_one_template_are_not_told_apart',
       't_binding.c')

mutant('binding-off', 'capture/bind.c',
       '\tif (candidates_of(c, ROLE_MAIN) != 1)\n\t\treturn false;\n',
       '\tif (c)\n\t\treturn true;\n',
       'test_names: two_databases_without_evidence_of_pairing_are_ambiguous',
       "'ambiguous' is not in")

mutant('clone-takes-the-journal', 'capture/bind.c',
       '\t\t    !S_is_being_written(&c->list[owner[i]]))\n',
       '\t\t    0)\n',
       'test_names: a_spilled_journal_is_told_by_the_locks_without_memory[clone]',
       'displaced journal')

mutant('unseen-is-nobody', 'capture/hold.c',
       '\t\trc = unseen_refuse_lockers(main, &h->holders, f);\n',
       '\t\trc = 0;\n',
       'test_capture: a_writer_that_may_not_be_seen_is_never_called_nobody',
       'want (5,)')

mutant('resume-not-owned', 'capture/hold.c',
       '\tpause_free(h->pause);\n',
       '',
       'test_capture: the_writer_runs_again_before_anything_is_checked',
       'nothing was detached')

mutant('journal-left-out', 'capture/inspect.c',
       '\tpacket_writer_side(w, EVIDENCE_FD, now_ns, &ask.side[0]);\n',
       '\tpacket_writer_side(w, EVIDENCE_FD, now_ns, &ask.side[0]);\n'
       '\task.side[0].member[ROLE_JOURNAL].present = 0;\n',
       'test_capture: journal_refuse_refuses_a_hot_journal',
       'want (3,)')

mutant('journal-not-held', 'capture/hold_pause.c',
       '\t\tif (b->of[r] == BIND_NOT_THERE)\n\t\t\tcontinue;\n'
       '\t\th->held[r] = ',
       '\t\tif (b->of[r] == BIND_NOT_THERE || r == ROLE_JOURNAL)\n'
       '\t\t\tcontinue;\n\t\th->held[r] = ',
       'test_names: a_spilled_journal_is_never_taken_for_that_of_a_clone'
       '[written]',
       'exit 3, want (0, 6)')

mutant('super-journal-allowed', 'capture/inspect.c',
       '\tif (i->super[0]) {\n',
       '\tif (0 && i->super[0]) {\n',
       'test_names: a_super_journal_is_refused_by_its_name',
       'want (3,)')

mutant('hard-links-allowed', 'capture/hold.c',
       'rc == 1 && links <= 1)',
       'rc == 1 && links <= 1000)',
       'test_scenarios: s04_an_alias_shows_the_real_rows_or_is_refused',
       'hot_alias.db')

mutant('memory-inode-not-verified', 'capture/memory_sqlite.c',
       '\treturn id[0] == fd->dev && id[1] == fd->ino ? fd : NULL;\n',
       '\treturn fd;\n',
       't_memory_sqlite: another_device_or_inode_is_another_file',
       't_memory_sqlite.c')

mutant('memory-table-anywhere', 'capture/memory_sqlite.c',
       '\treturn r && r->ino != 0 && !r->shared && !r->exec && r->read;\n',
       '\treturn r != NULL;\n',
       't_memory_sqlite: a_table_outside_of_a_file_is_none',
       't_memory_sqlite.c')

mutant('memory-wal-of-another-file', 'capture/memory_sqlite.c',
       ' || wal[0] != vfs || wal[1] != file->at)\n',
       ' || wal[0] != vfs)\n',
       't_memory_sqlite: a_wal_that_no_pager_names_was_freed',
       't_memory_sqlite.c')

mutant('memory-search-without-end', 'capture/memory_find.c',
       '\t\tif (s->budget->bytes < n ||\n',
       '\t\tif (0 ||\n',
       't_memory_sqlite: the_search_ends_at_its_budget',
       't_memory_sqlite.c')

mutant('memory-first-of-two', 'capture/memory_bind.c',
       '\ts->two[r] |= uses->ino != 0 && ',
       '\ts->two[r] |= uses->ino == 0 && uses->dev && ',
       't_memory_bind: '
       'a_forged_connection_makes_it_ambiguous_and_never_another_wal',
       't_memory_bind.c')

mutant('memory-two-wals-allowed', 'capture/memory_bind.c',
       '\t\tif (s->two[r])\n',
       '\t\tif (0 && s->two[r])\n',
       'test_binding: a_main_that_is_written_through_two_wals_is_ambiguous',
       'exit 0, want (3,)')

mutant('memory-first-claim-wins', 'capture/memory_bind.c',
       '\telse if (s->owner[k] != m && (s->owner[k] == 0 || m == 0))\n',
       '\telse if (0)\n',
       't_memory_bind: a_wal_that_two_mains_claim_is_nobodys',
       't_memory_bind.c')

mutant('memory-of-before-the-pause', 'capture/memory_bind.c',
       '\t\trc = S_read_again(at, w, true, f);\n',
       '\t\trc = S_read_again(at, w, false, f);\n',
       't_memory_bind: a_place_that_was_closed_since_is_searched_again',
       't_memory_bind.c')

mutant('memory-not-borne-out', 'capture/capture.c',
       '\treturn bind_confirm(&side, packet_writer_read_fd(r->packet),\n'
       '\t\t\t    &r->confirmed, f);\n',
       '\treturn 0;\n',
       'test_binding: pages_that_contradict_the_memory_are_a_refusal',
       'want (3,)')

# Writers as they are

mutant('any-journal-will-do', 'capture/inspect.c',
       '!hold_has_journal(h)) {\n',
       'h->held[ROLE_JOURNAL].fd < 0) {\n',
       'test_writers: a_journal_that_was_left_hides_no_transaction_without_one'
       '[persist]',
       'want (3,)')

mutant('a-journal-of-any-process', 'capture/hold.c',
       '\treturn who && hold_holds(who, journal->st.st_dev, '
       'journal->st.st_ino);\n',
       '\treturn who != NULL;\n',
       'test_writers: a_journal_that_a_child_has_open_hides_no_transaction_'
       'without_one',
       'want (3,)')

mutant('split-allowed', 'capture/hold_pause.c',
       '\t\t\trc = split_judge(&c, f);\n',
       '\t\t\trc = 0;\n',
       'test_writers: a_split_is_refused_and_both_files_are_named[wal]',
       'split wal')

mutant('journal-of-a-child-counts', 'capture/split.c',
       '\t\t\tS_take_out(c, i);\n',
       '\t\t\t(void)S_take_out;\n',
       'test_writers: a_journal_that_only_a_forked_child_still_has_is_over'
       "[('--displaced',)]",
       'got [[')

mutant('names-of-our-mounts', 'capture/mounts.c',
       '\tif (e->fd >= 0)\n\t\tmount = ',
       '\tif (0)\n\t\tmount = ',
       'test_namespaces: another_file_by_the_same_text_is_not_looked_at[wal]',
       'want (0, 6)')

mutant('unseen-lock-ignored', 'capture/hold.c',
       '\t\trc = unseen_refuse_writer(&h->held[ROLE_MAIN], &h->locks,\n'
       '\t\t\t\t\t  &h->holders, f);\n',
       '\t\trc = 0;\n',
       'test_namespaces: a_transaction_of_a_writer_outside_is_not_taken_for_a_'
       'state',
       'want (5,)')

mutant('unseen-lock-of-a-stopped-one', 'capture/unseen.c',
       '\tfor (int write = 0; rc == 0 && write < 2; write++)\n',
       '\tfor (int write = 2; rc == 0 && write < 2; write++)\n',
       'test_namespaces: the_same_where_no_lease_can_be_had_is_told_by_its_'
       'locks',
       'want (5,)')

mutant('file-mounts-allowed', 'capture/mounts.c',
       '\t\tif (!S_is_file_mount(line, dev, ino, &point))\n',
       '\t\tif (!S_is_file_mount(line, dev, ino, &point) || 1)\n',
       'test_filesystems: sidecars_of_a_main_that_is_mounted_alone_are_never_'
       'left_out[stopped]',
       'want (3,)')

# the short look inside the pause

mutant('watch-always-quiet', 'capture/watch.c',
       '\treturn w->fd >= 0 && poll(&p, 1, 0) == 0;\n',
       '\treturn w->fd >= 0 && poll(&p, 1, 0) >= 0;\n',
       'test_faults: who_comes_between_the_look_and_the_pause_is_paused_as_'
       'well[opens]',
       ': got [')

mutant('new-processes-not-looked-at', 'capture/holders.c',
       '\t\t    !S_was_seen(before, &at, pid, all->ino))\n',
       '\t\t    !S_was_seen(before, &at, pid, all->ino) &&\n'
       '\t\t    !before->nseen)\n',
       'test_faults: who_comes_between_the_look_and_the_pause_is_paused_as_'
       'well[inherits]',
       ': got [')

mutant('reused-pid-not-noticed', 'capture/holders.c',
       '\t       before->seen[*at].dir == dir;\n',
       '\t       (before->seen[*at].dir == dir || dir);\n',
       't_holders: a_pid_that_was_used_again_is_looked_at',
       't_holders.c')

mutant('a-number-is-a-file', 'capture/hold.c',
       'rc == -FAULT_REFUSED && i < STRANGER_LOOKS; i++) {\n',
       'rc == -FAULT_REFUSED && i < 0 * STRANGER_LOOKS; i++) {\n',
       'test_faults: the_number_of_a_journal_that_is_gone_means_nothing',
       'want (0, 6)')

mutant('sidecar-taken-for-main', 'capture/evidence.c',
       '\tif (rc == 1 && selection_no_sidecar(path, f))\n',
       '\tif (rc == 2 && selection_no_sidecar(path, f))\n',
       'test_words: who_names_a_sidecar_is_shown_the_database[recover]',
       'by its name it is the wal')

mutant('sidecar-captured-as-main', 'capture/capture.c',
       '\treturn selection_no_sidecar(q->db, f);\n',
       '\treturn 0;\n',
       'test_words: who_names_a_sidecar_is_shown_the_database[capture]',
       '/new')

mutant('rights-not-in-reach', 'capture/rights.c',
       '\tr->in_reach = S_has_trace("CapBnd");\n',
       '\tr->in_reach = true;\n',
       'test_capture: without_rights_the_answer_is_trouble_and_what_helps'
       '[user in a container]',
       '--cap-add SYS_PTRACE')
