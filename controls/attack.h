/*
 * attack.h - other files under a command's very opens
 *
 * Runs any command, stops it at its opens of named files, lets it get a
 * substitute, and has all names as before when it looks again.
 */
#ifndef CONTROLS_ATTACK_H
#define CONTROLS_ATTACK_H

/* What is not the command's own status (128 + n: it died of signal n). */
enum attack_exit {
	ATTACK_NOT_HERE = 96,	/* no user notification by this kernel */
	ATTACK_NEVER = 97,	/* it ended, and was not attacked */
	ATTACK_DEADLINE = 124,	/* it took too long and was ended */
	ATTACK_TROUBLE = 125,	/* usage, or our own failure */
	ATTACK_NOT_RUN = 126,	/* it could not be run */
	ATTACK_NOT_FOUND = 127,	/* there is no such command */
};

/* The verb; argv[0] is "attack". Returns the exit status. */
int
attack_main(int argc, char **argv);

/* One line on standard error, with the verb's name in front. */
void
attack_say(const char *text, ...) __attribute__((format(printf, 1, 2)));

#endif
