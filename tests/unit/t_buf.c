/*
 * t_buf.c - a buffer that grows up to its cap
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/buf.h"

static void
bytes_come_back_in_the_order_they_went_in(void **state)
{
	/* 0x1122334455667788, least byte first */
	static const unsigned char want[] = {
		'a', 'b', 7,
		0x88, 0x77, 0x66, 0x55, 0x44, 0x33, 0x22, 0x11, '4', '2',
	};
	struct buf b = BUF_INIT(1024);
	struct fault f = FAULT_INIT;

	(void)state;
	assert_int_equal(buf_append(&b, "ab", 2, &f), 0);
	assert_int_equal(buf_append(&b, NULL, 0, &f), 0);
	assert_int_equal(buf_u8(&b, 7, &f), 0);
	assert_int_equal(buf_u64(&b, 0x1122334455667788ull, &f), 0);
	assert_int_equal(buf_printf(&b, &f, "%d", 42), 0);
	assert_int_equal(b.len, sizeof(want));
	assert_memory_equal(b.data, want, sizeof(want));
	buf_free(&b);
	assert_null(b.data);
	assert_int_equal(b.cap, 1024);
}

static void
the_cap_is_reached_exactly_and_never_passed(void **state)
{
	struct buf b = BUF_INIT(1000);
	struct fault f = FAULT_INIT;
	unsigned char *at;

	(void)state;
	assert_int_equal(buf_extend(&b, 999, &at, &f), 0);
	memset(at, 'x', 999);
	assert_int_equal(buf_append(&b, "yz", 2, &f), -FAULT_CAP);
	assert_int_equal(b.len, 999);
	assert_int_equal(b.data[998], 'x');
	assert_int_equal(buf_append(&b, "y", 1, &f), 0);
	assert_int_equal(b.len, 1000);
	assert_true(b.room <= 1000);
	assert_int_equal(buf_u8(&b, 1, &f), -FAULT_CAP);
	assert_int_equal(buf_extend(&b, SIZE_MAX, &at, &f), -FAULT_CAP);
	buf_free(&b);
}

static void
a_reset_keeps_the_memory(void **state)
{
	struct buf b = BUF_INIT(1 << 20);
	struct fault f = FAULT_INIT;
	size_t room;

	(void)state;
	for (int i = 0; i < 10000; i++)
		assert_int_equal(buf_u64(&b, (uint64_t)i, &f), 0);
	room = b.room;
	buf_reset(&b);
	assert_int_equal(b.len, 0);
	assert_int_equal(b.room, room);
	buf_free(&b);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(bytes_come_back_in_the_order_they_went_in),
		cmocka_unit_test(the_cap_is_reached_exactly_and_never_passed),
		cmocka_unit_test(a_reset_keeps_the_memory),
	};

	return cmocka_run_group_tests_name("buf", tests, NULL, NULL);
}
