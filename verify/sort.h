/*
 * sort.h - sorting in place, without a system call
 *
 * glibc's qsort asks the kernel how much memory there is, which the sandbox
 * answers with SIGSYS, and may allocate as much as it sorts.
 */
#ifndef VERIFY_SORT_H
#define VERIFY_SORT_H

#include <stddef.h>

/* size <= SORT_ITEM_MAX. n log n at worst; equal items in any order. */
#define SORT_ITEM_MAX 256
void
sort_items(void *base, size_t n, size_t size,
	   int (*order)(const void *a, const void *b));

#endif
