/*
 * bootstrap.c - runs a program from a Git object, by descriptor
 */
#include "controls/verbs.h"

int
bootstrap_main(int argc, char **argv)
{
	(void)argc;
	(void)argv;
	return verbs_fail(VERBS_TROUBLE, "bootstrap is not there yet");
}
