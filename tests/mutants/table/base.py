"""What is left behind."""

mutant('packet-left-on-failure', 'base/publish.c',
       '\tif (!p->force)\n\t\t(void)unlinkat(p->dir, p->name, 0);\n',
       '',
       'test_faults: a_failing_call_gives_a_documented_status_and_leaves_'
       'nothing[fsync]',
       'left by fsync')
