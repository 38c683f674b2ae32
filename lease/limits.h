/*
 * limits.h - how much may be asked for
 */
#ifndef LEASE_LIMITS_H
#define LEASE_LIMITS_H

#define LIMITS_TTL_S 900		/* of a lease that names none */
#define LIMITS_TTL_MAX_S 31536000	/* a year */
#define LIMITS_PATHS 1000u		/* of one acquire */
#define LIMITS_SHOWN 16			/* blockers that an answer names */

#endif
