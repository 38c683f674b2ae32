/*
 * leftovers.h - processes and files that should be gone
 */
#ifndef CONTROLS_LEFTOVERS_H
#define CONTROLS_LEFTOVERS_H

/*
 * Ends every child of this process, which is a subreaper, and their
 * children, until there is none. A child that ends by itself within a grace
 * of seconds is no leftover; each other one is told first, by id and name.
 * tell may be NULL.
 */
void
leftovers_end(void (*tell)(void *arg, const char *what), void *arg);

/* Removes the folder and all in it; tells what could not be removed. */
void
leftovers_remove(const char *path, void (*tell)(void *arg, const char *what),
		 void *arg);

#endif
