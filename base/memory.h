/*
 * memory.h - how much memory may be had without harm
 */
#ifndef BASE_MEMORY_H
#define BASE_MEMORY_H

#include <stdint.h>

/* Bytes that may be had without pushing others out; 0: not known. */
uint64_t
memory_available(void);

#endif
