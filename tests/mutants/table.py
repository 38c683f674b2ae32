"""The small faults, each with the test that must find it.

test is the name as tests/run prints it; text is part of the failure that it
must print. old stands exactly once in the file.
"""

MUTANTS = []


def mutant(ident, file, old, new, test, text):
    MUTANTS.append({'id': ident, 'file': file, 'old': old, 'new': new,
                    'test': test, 'text': text})


# capture: which bytes are read

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
       'test_names: a_spilled_journal_is_never_taken_for_that_of_a_clone[clone]',
       'displaced journal')

mutant('unseen-is-nobody', 'capture/hold.c',
       '\t\trc = unseen_refuse_lockers(&main->st, f);\n',
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
       '\tif (links <= 1)\n',
       '\tif (links <= 1000)\n',
       'test_scenarios: s04_an_alias_shows_the_real_rows_or_is_refused',
       'hot_alias.db')

# recover: what is believed

mutant('frame-checksum-ignored', 'recover/wal.c',
       '\tif (sum[0] != bytes_be32(frame + 16) ||\n'
       '\t    sum[1] != bytes_be32(frame + 20))\n\t\treturn false;\n',
       '',
       't_wal: a_flip_that_loses_commits_is_told',
       't_wal.c')

mutant('salts-not-compared', 'recover/inspect.c',
       '\t\tmemcmp(w->salt, s->salt, sizeof(w->salt)) == 0;\n',
       '\t\tsizeof(w->salt) > 0;\n',
       't_inspect: salts_of_another_database_disagree',
       't_inspect.c')

mutant('wal-beside-rollback-main', 'recover/account.c',
       '!a->header.wal &&\n\t    !journal_hot(a->journal))\n'
       '\t\treturn fault_set(f, FAULT_REFUSED, "main is in rollback',
       '!a->header.wal && 0 &&\n\t    !journal_hot(a->journal))\n'
       '\t\treturn fault_set(f, FAULT_REFUSED, "main is in rollback',
       'test_scenarios: s03_a_stale_wal_never_shows_its_old_rows_as_checked'
       '[same_schema]',
       'want [[\'NEW\', \'40\']]')

# the sandbox

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
       '\t\trc = seen_check(new->pid, &want, &new->seen, f);\n',
       '\t\trc = 0;\n',
       't_warden: a_helper_without_a_jail_is_handed_nothing',
       't_warden.c')

# verify: what counts

mutant('digest-without-length', 'base/digest.c',
       '\tbytes_put_le64(head + 1, n);\n',
       '\tbytes_put_le64(head + 1, 0);\n',
       't_fingerprint: the_bytes_are_those_of_the_document',
       't_fingerprint.c')

mutant('cell-without-length', 'base/cell.c',
       '\tbytes_put_le64(head + 1, n);\n'
       '\trc = buf_extend(b, sizeof(head) + n, &at, f);\n',
       '\tbytes_put_le64(head + 1, 0);\n'
       '\trc = buf_extend(b, sizeof(head) + n, &at, f);\n',
       't_cell: each_kind_has_its_documented_bytes',
       't_cell.c')

mutant('type-tag-dropped', 'base/cell.c',
       '\traw[0] = (unsigned char)tag;\n',
       '\traw[0] = CELL_INT;\n\t(void)tag;\n',
       't_cell: each_kind_has_its_documented_bytes',
       't_cell.c')

mutant('schema-text-ignored', 'verify/delta.c',
       '\tif (b && a && b->cells.len == a->cells.len &&\n'
       '\t    memcmp(b->cells.data, a->cells.data, a->cells.len) == 0)\n',
       '\tif (b && a)\n',
       't_delta: only_the_text_of_an_object_differs',
       't_delta.c')

mutant('yes-where-not-checked', 'cli/summary.c',
       'return n->count > 0 ? CLI_UNCHECKED : CLI_YES;',
       'return n->count > SIZE_MAX - 1 ? CLI_UNCHECKED : CLI_YES;',
       't_report: what_was_not_checked_is_never_a_plain_yes',
       't_report.c')

# what is left behind

mutant('packet-left-on-failure', 'base/publish.c',
       '\tif (!p->force)\n\t\t(void)unlinkat(p->dir, p->name, 0);\n',
       '',
       'test_faults: a_failing_call_gives_a_documented_status_and_leaves_'
       'nothing[fsync]',
       'left by fsync')

# leases: who decides, inside what

mutant('lease-begin-not-immediate', 'lease/stmt.c',
       '[STMT_BEGIN_WRITE] = "BEGIN IMMEDIATE"',
       '[STMT_BEGIN_WRITE] = "BEGIN"',
       't_lease_ops: the_clock_is_read_while_nobody_else_can_write',
       't_lease_ops.c')

mutant('lease-clock-before-the-transaction', 'lease/store.c',
       '\tif (t->writes)\n\t\trc = queue_enter(&s->queue, deadline, f);\n',
       '\trc = s->clock.read(s->clock.arg, &t->now, f);\n'
       '\tif (!rc && t->writes)\n'
       '\t\trc = queue_enter(&s->queue, deadline, f);\n',
       't_lease_ops: the_clock_is_read_once_and_under_the_lock',
       't_lease_ops.c')

mutant('lease-migration-without-lock', 'lease/schema.c',
       '"BEGIN IMMEDIATE", "lock the database"',
       '"BEGIN", "lock the database"',
       't_lease_migrate: nobody_else_can_write_before_rows_are_read',
       't_lease_migrate.c')

mutant('lease-migration-without-recheck', 'lease/schema.c',
       '\tif (rc || kind == KIND_OURS)\n\t\treturn rc;\n',
       '\tif (rc)\n\t\treturn rc;\n',
       'test_lease: seventy_two_first_opens_beside_the_old_program_take_'
       'each_row_once',
       'exit ')

mutant('lease-owner-is-the-session', 'lease/stmt.c',
       '" IS NULL OR h.session <> " session \\\n'
       '\t" OR h.epoch <> " epoch ")"',
       '" IS NULL OR h.session <> " session \\\n'
       '\t" OR (0 AND h.epoch <> " epoch "))"',
       't_lease_ops: the_life_of_two_epochs',
       't_lease_ops.c')

mutant('lease-release-by-session', 'lease/stmt.c',
       '"WHERE session = " session " AND epoch = " epoch \\\n'
       '\t" AND (" fence " IS NULL',
       '"WHERE session = " session " AND epoch IS NOT " epoch " || \'x\'" \\\n'
       '\t" AND (" fence " IS NULL',
       't_lease_ops: a_release_takes_exactly_the_rows_of_its_owner',
       't_lease_ops.c')

mutant('lease-fallback-unscoped', 'lease/stmt.c',
       '" AND epoch = \'\' AND origin = \'legacy\'"',
       '" AND epoch = \'\'"',
       't_lease_migrate: a_native_row_is_never_freed_by_the_handoff',
       't_lease_migrate.c')

mutant('lease-fallback-removed', 'lease/ops_release.c',
       'a->count == 0 && *epoch && !fence)',
       'a->count == 0 && *epoch && !fence && 0)',
       't_lease_migrate: a_tokened_release_frees_its_sessions_unchosen_row',
       't_lease_migrate.c')

mutant('lease-handoff-never-closes', 'lease/stmt.c',
       '"UPDATE meta SET handoff_closed = 1"',
       '"UPDATE meta SET handoff_closed = handoff_closed"',
       't_lease_migrate: the_handoff_closes_for_ever_with_the_last_legacy_row',
       't_lease_migrate.c')

mutant('lease-chosen-epochs-tagged-legacy', 'lease/migrate.c',
       'S_write(t, take, &o, !epochs, f)',
       'S_write(t, take, &o, !epochs || !*o.epoch, f)',
       't_lease_migrate: an_empty_epoch_of_the_schema_with_epochs_was_chosen',
       't_lease_migrate.c')

mutant('lease-cli-drops-epoch-in-acquire', 'lease/request.c',
       '\tr->q.epoch = o->epoch;\n',
       '\tr->q.epoch = "";\n',
       'test_lease: the_life_of_two_epochs',
       'want (7,)')

mutant('lease-cli-drops-epoch-in-release', 'lease/cmds.c',
       'ops_release(s, session, o->epoch, 0, &a, f)',
       'ops_release(s, session, "", 0, &a, f)',
       'test_lease: the_life_of_two_epochs',
       'RELEASED 1')

mutant('lease-fence-is-the-highest-plus-one', 'lease/schema.sql',
       'fence INTEGER PRIMARY KEY AUTOINCREMENT',
       'fence INTEGER PRIMARY KEY',
       't_lease_ops: a_fence_is_never_given_twice_whatever_is_pruned',
       't_lease_ops.c')

mutant('lease-reaping-rolled-back-on-busy', 'lease/ops_acquire.c',
       '\tif (!rc)\n\t\trc = txn_commit(&t, f);\n',
       '\tif (!rc && outcome == OUTCOME_ACQUIRED)\n'
       '\t\trc = txn_commit(&t, f);\n',
       't_lease_ops: reaping_stays_though_the_answer_is_busy',
       't_lease_ops.c')

mutant('lease-overlap-without-ancestors', 'lease/ops_acquire.c',
       '\t\twhile (n > 0 && part[--n] != \'/\')\n\t\t\t;\n',
       '\t\tn = 0;\n',
       't_lease_ops: folders_and_what_is_below_them_conflict',
       't_lease_ops.c')

mutant('lease-overlap-without-descendants', 'lease/ops_acquire.c',
       '\t\tif (!rc)\n\t\t\trc = S_below(t, q, q->paths[i], a, f);\n',
       '\t\tif (rc)\n\t\t\trc = S_below(t, q, q->paths[i], a, f);\n',
       't_lease_ops: folders_and_what_is_below_them_conflict',
       't_lease_ops.c')

mutant('lease-renewed-after-expiry', 'lease/stmt.c',
       '\tS_OF_FENCE("?1", "?2", "?3") S_IS_LIVE("?7", "?4")\n'
       '\t" RETURNING expires',
       '\tS_OF_FENCE("?1", "?2", "?3") " AND ?7 = ?7"\n'
       '\t" RETURNING expires',
       't_lease_ops: renewal_keeps_the_fence_and_is_refused_after_expiry',
       't_lease_ops.c')

mutant('lease-run-unguarded', 'lease/run.c',
       '\t(void)sqlite3_commit_hook(s->sql.db, S_before_commit, NULL);\n',
       '\t(void)S_before_commit;\n\t(void)s;\n',
       'test_lease: a_signal_between_any_two_calls_of_run_leaves_no_lease',
       'want (0,)')
