/*
 * t_seen.c - the sandbox in /proc, field by field; where the helper is
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "warden/place.h"
#include "warden/seen.h"

static const struct seen_want nobody = {
	.uid = 65534, .gid = 65534, .root = true, .filters = 1,
	.descriptors = 6
};

#define STATUS(uid, gid, groups, inh, prm, eff, bnd, amb, nnp, mode, n) \
	"Name:\tholdfast-recove\nUid:\t" uid "\nGid:\t" gid "\n" \
	"FDSize:\t64\nGroups:\t" groups "\nCapInh:\t" inh "\nCapPrm:\t" prm \
	"\nCapEff:\t" eff "\nCapBnd:\t" bnd "\nCapAmb:\t" amb "\n" \
	"NoNewPrivs:\t" nnp "\nSeccomp:\t" mode "\nSeccomp_filters:\t" n "\n"
#define IDS "65534\t65534\t65534\t65534"
#define NO "0000000000000000"
#define SETUID "0000000000000080"

static const struct {
	const char *text;
	const char *says;	/* NULL: it stands */
} statuses[] = {
	{ STATUS(IDS, IDS, "", NO, NO, NO, NO, NO, "1", "2", "2"), NULL },
	{ STATUS("65534\t65534\t0\t65534", IDS, "", NO, NO, NO, NO, NO, "1",
		 "2", "2"), "Uid" },
	{ STATUS("65534\t65534\t65534\t0", IDS, "", NO, NO, NO, NO, NO, "1",
		 "2", "2"), "Uid" },
	{ STATUS("65534\t65534\t65534", IDS, "", NO, NO, NO, NO, NO, "1", "2",
		 "2"), "Uid" },
	{ STATUS(IDS, "65534\t0\t65534\t65534", "", NO, NO, NO, NO, NO, "1",
		 "2", "2"), "Gid" },
	{ STATUS(IDS, IDS, "0 ", NO, NO, NO, NO, NO, "1", "2", "2"),
	  "Groups" },
	{ STATUS(IDS, IDS, "", SETUID, NO, NO, NO, NO, "1", "2", "2"),
	  "CapInh" },
	{ STATUS(IDS, IDS, "", NO, SETUID, NO, NO, NO, "1", "2", "2"),
	  "CapPrm" },
	{ STATUS(IDS, IDS, "", NO, NO, SETUID, NO, NO, "1", "2", "2"),
	  "CapEff" },
	{ STATUS(IDS, IDS, "", NO, NO, NO, SETUID, NO, "1", "2", "2"),
	  "CapBnd" },
	{ STATUS(IDS, IDS, "", NO, NO, NO, NO, SETUID, "1", "2", "2"),
	  "CapAmb" },
	{ STATUS(IDS, IDS, "", NO, NO, NO, NO, NO, "0", "2", "2"),
	  "NoNewPrivs" },
	{ STATUS(IDS, IDS, "", NO, NO, NO, NO, NO, "1", "0", "0"),
	  "Seccomp must be 2" },
	{ STATUS(IDS, IDS, "", NO, NO, NO, NO, NO, "1", "1", "1"),
	  "Seccomp must be 2" },
	{ STATUS(IDS, IDS, "", NO, NO, NO, NO, NO, "1", "2", "1"),
	  "more than our own 1" },
	{ "", "Uid must be 65534 four times and is not shown" },
};

static void
each_field_that_is_off_is_named(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(statuses) / sizeof(statuses[0]); i++) {
		struct fault f = FAULT_INIT;
		struct warden_seen s = { 0 };
		int rc = seen_status(statuses[i].text, &nobody, &s, &f);

		if (!statuses[i].says) {
			assert_int_equal(rc, 0);
			assert_int_equal(s.threads, 1);
			assert_int_equal(s.filters, 2);
			continue;
		}
		assert_int_equal(rc, -FAULT_SANDBOX);
		if (!strstr(f.text, statuses[i].says))
			fail_msg("\"%s\" does not name %s", f.text,
				 statuses[i].says);
	}
}

static void
an_ordinary_caller_may_keep_groups_and_bounding_set(void **state)
{
	const struct seen_want us = { .uid = 1000, .gid = 1000, .filters = -1 };
	struct fault f = FAULT_INIT;
	struct warden_seen s = { 0 };
	const char *text =
		STATUS("1000\t1000\t1000\t1000", "1000\t1000\t1000\t1000",
		       "4 20 1000 ", NO, NO, NO, "000001ffffffffff", NO, "1",
		       "2", "1");

	(void)state;
	assert_int_equal(seen_status(text, &us, &s, &f), 0);
	assert_int_equal(s.groups, 3);
	assert_int_equal(s.held, 0);
	assert_true(s.capabilities == 0x1ffffffffffull);
}

static void
the_helper_is_found_beside_our_own_binary(void **state)
{
	struct fault f = FAULT_INIT;
	char path[64];

	(void)state;
	assert_int_equal(place_beside("/usr/bin/holdfast", path, sizeof(path),
				      &f), 0);
	assert_string_equal(path, "/usr/" PLACE_HELPER);
	assert_int_equal(place_beside("/bin/holdfast", path, sizeof(path), &f),
			 0);
	assert_string_equal(path, "/" PLACE_HELPER);
	assert_int_equal(place_beside("/holdfast", path, sizeof(path), &f),
			 -FAULT_TROUBLE);
	assert_int_equal(place_beside("holdfast", path, sizeof(path), &f),
			 -FAULT_TROUBLE);
	assert_int_equal(place_beside("/usr/bin/holdfast", path, 20, &f),
			 -FAULT_TROUBLE);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_field_that_is_off_is_named),
		cmocka_unit_test(
			an_ordinary_caller_may_keep_groups_and_bounding_set),
		cmocka_unit_test(the_helper_is_found_beside_our_own_binary),
	};

	return cmocka_run_group_tests_name("seen", tests, NULL, NULL);
}
