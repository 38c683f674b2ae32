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
