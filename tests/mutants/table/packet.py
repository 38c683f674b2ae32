"""Packet: what its room may know."""

mutant('packet-includes-capture', 'packet/writers.c',
       '#include <stdlib.h>\n',
       '#include <stdlib.h>\n\n#include "capture/holders.h"\n',
       'test_layout: headers_are_included_from_the_right_only',
       'packet/writers.c includes capture/holders.h')
