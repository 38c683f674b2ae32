/*
 * csv.h - rows as comma-separated values
 *
 * Format: RFC 4180, lines end in CR LF. NULL is an empty field, an empty
 * text is "". Blobs are x'hex'; integers and reals are exact; text is
 * quoted where it must be, and its bytes stay as they are (CELLS_EXACT).
 */
#ifndef CLI_CSV_H
#define CLI_CSV_H

#include <stdio.h>

#include "base/cell.h"
#include "cli/cells.h"

void
csv_row(FILE *to, const struct cell *cells, size_t n, enum cells_text how);

#endif
