/*
 * scan.h - is it JSON, to the letter?
 *
 * Rules, beyond RFC 8259's grammar:
 *  1. exactly one value, white space around it, nothing else;
 *  2. strings are strictly valid UTF-8, without U+0000 in any spelling;
 *  3. \u escapes of surrogates come in pairs;
 *  4. a number is at most SCAN_NUMBER_MAX bytes (cJSON reads no more);
 *  5. the caps of struct json_rules hold.
 */
#ifndef JSON_SCAN_H
#define JSON_SCAN_H

#include <stddef.h>

#include "base/fault.h"
#include "json/json.h"

#define SCAN_NUMBER_MAX 60u

/* 0, or a fault of rules->code that names line and column. */
int
scan_json(const void *bytes, size_t n, const struct json_rules *rules,
	  struct fault *f);

#endif
