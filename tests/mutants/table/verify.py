"""Verify: what counts."""

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

mutant('files-no-stand-in', 'verify/unknown.c',
       '\tif (sqlite3_create_collation_v2(db, name, encoding, s, S_compare,\n'
       '\t\t\t\t\tS_destroy) == SQLITE_OK)\n',
       '\tif (encoding == 0)\n',
       'test_absent: what_is_not_there_leaves_rows_read_and_is_named'
       '[collation of a key without rowid]',
       'no query solution')

mutant('files-stand-in-believed', 'verify/unknown.c',
       '\ts->log->asked = s->why;\n',
       '',
       'test_absent: what_is_not_there_leaves_rows_read_and_is_named'
       '[collation of a generated column]',
       'exit 0, want (6,)')

mutant('files-asked-goes-out', 'verify/rows.c',
       '\tif (asked && rc >= 0) {\n',
       '\tif (asked && rc == 2) {\n',
       't_rows: a_row_that_hangs_on_an_unknown_order_never_goes_out',
       't_rows.c')

mutant('files-structure-unchecked', 'verify/integrity.c',
       '\trc = S_structure(c, f);\n',
       '\trc = c ? 0 : S_structure(c, f);\n',
       'test_absent: damage_beside_an_unknown_collation_is_found'
       '[a page is used twice]',
       'want (1,)')

mutant('files-tables-unchecked', 'verify/integrity.c',
       '\treturn rc ? rc : S_each_table(c, S_table, f);\n',
       '\treturn rc ? rc : S_skip(c->r, "tables", NULL, why, f);\n',
       'test_absent: damage_beside_an_unknown_collation_is_found'
       '[an index row is missing]',
       'want (1,)')
