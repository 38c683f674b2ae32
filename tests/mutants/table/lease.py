"""Leases: who decides, inside what."""

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
