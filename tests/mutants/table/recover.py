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

mutant('files-one-byte-order', 'recover/wal.c',
       '\treturn big_endian ? bytes_be32(p) : bytes_le32(p);\n',
       '\treturn big_endian && 0 ? bytes_be32(p) : bytes_le32(p);\n',
       'test_wal_files: checksums_of_both_byte_orders[big endian]',
       'exit 4')

mutant('files-page-in-neither', 'recover/account.c',
       '\tfor (uint64_t p = whole + 1; p <= c.pages; p++)\n',
       '\tfor (uint64_t p = whole + 1; p <= whole; p++)\n',
       'test_wal_files: a_commit_whose_size_is_wrong_is_damage[3]',
       'want (4,)')

mutant('files-wal-of-other-pages', 'recover/account.c',
       '\tif (a->header.page_size && a->header.page_size != w->page_size &&\n',
       '\tif (0 && a->header.page_size != w->page_size &&\n',
       'test_wal_files: a_wal_of_another_page_size_is_damage',
       'of another database')

mutant('files-torn-is-lost', 'recover/wal.c',
       '\t\tif (fr->truncate != 0 && (sc->broken || !a->header_valid)) {\n',
       '\t\tif (fr->truncate != 0) {\n',
       'test_wal_files: a_flip_in_the_last_frame_is_a_tail_without_shm_and_'
       'damage_with',
       'exit 4')

mutant('cut-images-speak-against', 'recover/proof.c',
       '\t\t*from = *to - IMAGES_MAX;\n\t\t*optional = true;\n',
       '\t\t*from = *to - IMAGES_MAX;\n',
       't_binding: images_that_are_too_many_speak_against_no_main',
       't_binding.c')
