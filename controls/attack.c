/*
 * attack.c - shows a command another file under a name
 */
#include "controls/verbs.h"

int
attack_main(int argc, char **argv)
{
	(void)argc;
	(void)argv;
	return verbs_fail(VERBS_TROUBLE, "attack is not there yet");
}
