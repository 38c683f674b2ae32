"""Faults of what is compared and capped, each caught by a control."""


def caught(ident, control, file, old, new, text):
    mutant(f'held-{ident}', file, old, new,
           f'test_controls: control_holds[{control}]', text)


caught('first-table-only', 'unrelated-table', 'verify/delta.c',
       '\t\tia += d >= 0;\n',
       '\t\tia += d >= 0;\n\t\tif (tables)\n\t\t\tbreak;\n',
       'the product is fooled: shows unchanged, and not audit: added id=2')

caught('changed-rows-go-free', 'right-count-wrong-rows', 'policy/judge.c',
       '\tstruct violation_at at =\n\t\tjudge_at(j, S_no_row[kind],\n',
       '\tif (kind == POLICY_CHANGED)\n\t\treturn 0;\n'
       '\tstruct violation_at at =\n\t\tjudge_at(j, S_no_row[kind],\n',
       'the product is fooled: shows as the policy says')

caught('rows-of-equal-length', 'changed-while-stopped',
       'verify/delta_table.c',
       '\t       memcmp(before->bytes, after->bytes, before->common) == 0 &&\n',
       '',
       'the product is fooled: shows unchanged, and not acct: changed id=7')

caught('order-of-any-collation', 'case-only-key', 'verify/catalog_table.c',
       '\t\tif (!collation || strcasecmp(collation, "BINARY") != 0)\n',
       '\t\tif (!collation)\n',
       'and not t: added k=ABC')

caught('whole-reals-are-integers', 'lookalike-values', 'verify/value.c',
       '\t\treal = sqlite3_value_double(value);\n',
       '\t\treal = sqlite3_value_double(value);\n'
       '\t\tif (real >= -1 && real <= 1 && real == (int)real)\n'
       '\t\t\treturn S_put_word(b, CELL_INT, (uint64_t)(int)real, f);\n',
       'the product is fooled: shows unchanged, and not t: changed id=2')

caught('text-ends-at-nul', 'lookalike-values', 'verify/value.c',
       '\tint n = sqlite3_value_bytes(value);\n\n'
       '\tif (!bytes)\n',
       '\tint n = bytes ? (int)strlen(bytes) : 0;\n\n'
       '\tif (!bytes)\n',
       'the product is fooled: shows unchanged, and not t: changed id=2')

caught('utf16-through-utf8', 'lookalike-values', 'verify/value.c',
       '\t\tif (v->encoding == VALUE_UTF8)\n', '\t\tif (1)\n',
       'the product is fooled: shows unchanged, and not t: changed id=2')

caught('multiset-is-a-set', 'duplicate-row', 'verify/delta_table.c',
       '\tsame = e->n[0] < e->n[1] ? e->n[0] : e->n[1];\n',
       '\tsame = e->n[0] && e->n[1] ? UINT64_MAX : 0;\n',
       "a table's counts do not add up, and not t: added a row")

caught('user-version-free', 'no-row-changed', 'verify/delta.c',
       '\tfor (int i = 0; rc == 0 && i < CATALOG_SETTINGS; i++)\n',
       '\tfor (int i = 1; rc == 0 && i < CATALOG_SETTINGS; i++)\n',
       'the product is fooled: shows unchanged, and not user_version')

caught('text-of-objects-free', 'no-row-changed', 'verify/delta.c',
       '\tif (b && a && b->cells.len == a->cells.len &&\n'
       '\t    memcmp(b->cells.data, a->cells.data, a->cells.len) == 0)\n',
       '\tif (b && a)\n',
       'the product is fooled: shows unchanged, and not trigger g changed')

caught('time-limit-not-passed', 'endless-file', 'cli/ask_run.c',
       '\t\t.cpu_seconds = a->cpu_seconds,\n', '\t\t.cpu_seconds = 0,\n',
       'the product is fooled: does not end')

caught('memory-limit-not-passed', 'memory-eating-file', 'cli/ask_run.c',
       '\tif (a->memory_limit)\n', '\tif (0)\n',
       'the product is fooled: exit 0')
