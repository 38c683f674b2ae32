"""Policy: what is not allowed is forbidden, what is declared happens."""

SENTENCE = 'test_policy: a_sentence_allows_what_it_says_and_no_step_more'

mutant('policy-row-without-sentence', 'policy/judge.c',
       '\tif (!s || !s->at)\n\t\treturn S_forbidden(j, t, kind, row, f);\n',
       '\tif (!s)\n\t\treturn S_forbidden(j, t, kind, row, f);\n',
       f'{SENTENCE}[added]', 'want (1,)')

mutant('policy-column-not-looked-at', 'policy/judge.c',
       '\t\tif (j->allowed[i] || changes_unchanged(t, row, i))\n',
       '\t\tif (i > 0 || changes_unchanged(t, row, i))\n',
       f'{SENTENCE}[columns]', 'want (1,)')

mutant('policy-unnamed-column-free-in-changed-row', 'policy/judge_rows.c',
       '\tfor (uint32_t i = 0; changed && i < t->after.count; i++) {\n',
       '\tfor (uint32_t i = 0; changed && i < 1; i++) {\n',
       f'{SENTENCE}[changed rows]', 'want (1,)')

mutant('policy-row-of-two-patterns', 'policy/judge_rows.c',
       '\t\tif (h->taken == 1)\n', '\t\tif (h->taken)\n',
       f'{SENTENCE}[rows]', "AssertionError")

mutant('policy-declaration-not-held', 'policy/judge.c',
       '\treturn rc ? rc : judge_undone(j, f);\n', '\treturn rc;\n',
       't_policy_judge: a_declaration_that_did_not_happen_is_a_violation',
       't_policy_judge.c')

mutant('policy-rename-excuses-strings', 'policy/rewrite_words.c',
       '(at->table && b->kind == TOKEN_STRING)))\n',
       'b->kind == TOKEN_STRING))\n',
       't_policy_judge: a_rename_excuses_that_identifier_alone',
       't_policy_judge.c')

mutant('policy-added-column-may-have-more', 'policy/rewrite.c',
       '\t\t} else {\n\t\t\treturn false;\n\t\t}\n',
       '\t\t} else {\n\t\t\tbreak;\n\t\t}\n',
       't_policy_judge: a_rename_excuses_that_identifier_alone',
       't_policy_judge.c')

mutant('policy-conflict-of-names-hidden', 'policy/judge_rows.c',
       '\t\tif (changes_equal(all[bind].cell, cell))\n',
       '\t\tif (all[bind].cell)\n',
       'test_policy: two_values_of_one_name_are_both_named', 'IndexError')

mutant('policy-add-wraps', 'policy/match.c',
       '\t       !__builtin_add_overflow(before->cell.integer, add, &want) &&\n',
       '\t       (__builtin_add_overflow(before->cell.integer, add, &want),\n'
       '\t\ttrue) &&\n',
       't_policy_match: add_takes_no_sum_that_overflows',
       't_policy_match.c')

mutant('policy-old-name-again', 'policy/parse_schema.c',
       '\t\tif (S_is_used_again(p, &p->rename[i]))\n',
       '\t\tif (0 && S_is_used_again(p, &p->rename[i]))\n',
       'test_policy: a_malformed_policy_is_exit_two_before_evidence_is_read'
       '[names that are swapped]',
       'want (2,)')

mutant('policy-free-name-shown-as-given', 'policy/parse_rules.c',
       '\t\tp->bind[p->nbind++] = (struct policy_bind){ .name = name };\n',
       '\t\tp->bind[p->nbind++] = (struct policy_bind){ .name = name,\n'
       '\t\t\t.given = place == PARSE_ROW };\n',
       'test_policy: a_verdict_says_which_names_were_given_and_which_were'
       '_free[none given]', 'AssertionError')

mutant('policy-added-row-shown-as-changed', 'policy/violation.c',
       'at->row && at->row->change != WIRE_CHANGED;', 'false;',
       'test_policy: a_verdict_words_a_cell_as_diff_does[an added row]',
       'is not in')

BYTES = 'test_policy_bytes: '

mutant('policy-declared-text-ends-at-a-nul', 'policy/judge_schema.c',
       '\treturn !o->odd_after && strcmp(sql, o->after) == 0;\n',
       '\treturn strcmp(sql, o->after) == 0;\n',
       BYTES + 'a_text_that_goes_on_where_sqlite_stops_is_another_text'
       '[behind the NUL of a view]', 'want (1,)')

mutant('policy-rename-excuses-behind-a-nul', 'policy/rewrite.c',
       '\tif (o->type_before || o->odd_before || o->odd_after)\n',
       '\tif (o->type_before)\n',
       BYTES + "a_rename_excuses_nothing_behind_a_nul[name='w']",
       'want (1,)')

mutant('policy-rename-excuses-a-type', 'policy/rewrite.c',
       '\tif (o->type_before || o->odd_before || o->odd_after)\n',
       '\tif (o->odd_before || o->odd_after)\n',
       BYTES + 'a_rename_excuses_no_type_in_another_case', 'want (1,)')

mutant('policy-name-ends-at-a-nul', 'policy/judge_schema.c',
       '\tif (o->odd_name)\n', '\tif (0 && o->odd_name)\n',
       BYTES + 'a_name_that_goes_on_where_sqlite_stops_is_named_by_nothing'
       '[a name with a NUL]', 'want (1,)')

mutant('policy-odd-before-alone-is-told', 'verify/delta.c',
       '\tif ((b && !b->plain) || (a && !a->plain)) {\n',
       '\tif (b && !b->plain) {\n',
       BYTES + 'a_text_that_goes_on_where_sqlite_stops_is_another_text'
       '[behind the NUL of a trigger]', 'KeyError')

mutant('policy-columns-paired-by-what-is-shown', 'helper/op_diff.c',
       '\t\trc = S_text(w, name[i], f);\n',
       '\t\trc = S_text(w, name[i][0] == \'c\' ? "c?" : name[i], f);\n',
       BYTES + 'columns_whose_names_look_alike_are_not_taken_for_each_other',
       'AssertionError')

RENAMES = 'test_policy_renames: '

mutant('policy-rename-excuses-any-qualifier', 'policy/rewrite_words.c',
       '\treturn !at->behind_dot || S_may_have(w, &at->of, r->table);\n',
       '\treturn !at->behind_dot || S_may_have(w, b, r->table) || true;\n',
       RENAMES + 'a_rename_excuses_no_word_that_sqlite_would_leave'
       "[another table's column]", 'want (1,)')

mutant('policy-column-left-as-a-string', 'policy/rewrite_words.c',
       '\t\treturn at->verbatim || !S_is_left(w, b, at);\n',
       '\t\treturn at->verbatim || S_is_left(w, b, at) || true;\n',
       RENAMES + 'a_rename_excuses_no_word_that_sqlite_would_leave'
       '[a string in place of a column]', 'want (1,)')
