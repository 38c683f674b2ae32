"""Recover: what is believed."""

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
