/*
 * noload.c - nothing can be loaded into the helper that is one file
 *
 * The linker puts these where SQLite calls the loader (ld --wrap). With
 * nothing behind them there is nothing to gain for a database that got past
 * the switch by which extensions are off as well.
 */
#include <stddef.h>

void *
__wrap_dlopen(const char *file, int mode);
void *
__wrap_dlsym(void *handle, const char *name);
int
__wrap_dlclose(void *handle);
char *
__wrap_dlerror(void);

void *
__wrap_dlopen(const char *file, int mode)
{
	(void)file;
	(void)mode;
	return NULL;
}

void *
__wrap_dlsym(void *handle, const char *name)
{
	(void)handle;
	(void)name;
	return NULL;
}

int
__wrap_dlclose(void *handle)
{
	(void)handle;
	return -1;
}

char *
__wrap_dlerror(void)
{
	static char none[] = "the helper loads no libraries";

	return none;
}
