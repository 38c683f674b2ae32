# Holdfast. "make help" lists the targets. Objects go under build/.

PREFIX ?= /usr/local
DESTDIR ?=
CC ?= cc
BUILD ?= build
PKG_CONFIG ?= pkg-config
PYTHON ?= python3

VERSION := 0.1.0

CFLAGS ?= -O2 -g
CPPFLAGS ?= -D_FORTIFY_SOURCE=2
WARN := -Wall -Wextra -Wconversion -Wshadow -Wstrict-prototypes \
	-Wmissing-prototypes -Wformat=2 -Wvla
HARDEN := -fPIE -fstack-protector-strong -fstack-clash-protection
ALL_CFLAGS = -std=gnu11 -D_GNU_SOURCE -D_FILE_OFFSET_BITS=64 -I. \
	-I$(BUILD) -DHOLDFAST_VERSION='"$(VERSION)"' $(WARN) $(HARDEN) \
	-pthread -MMD -MP $(CPPFLAGS) $(CFLAGS)
ALL_LDFLAGS = -pie -pthread -Wl,-z,relro,-z,now,-z,noexecstack \
	-Wl,--as-needed $(LDFLAGS)

FRONT_LIBS = $(shell $(PKG_CONFIG) --libs libcjson libcrypto)
HELPER_LIBS = $(shell $(PKG_CONFIG) --libs sqlite3 libseccomp libcrypto)
TEST_LIBS = $(shell $(PKG_CONFIG) --libs cmocka) $(FRONT_LIBS) $(HELPER_LIBS)

sources = $(sort $(wildcard $(1)/*.c))
objects = $(patsubst %.c,$(BUILD)/%.o,$(call sources,$(1)))

COMMON := $(call objects,base) $(call objects,reply)
FRONT := $(call objects,cli) $(call objects,capture) $(call objects,warden)
HELPER := $(call objects,helper) $(call objects,recover) $(call objects,verify)

HOLDFAST := $(BUILD)/bin/holdfast
RECOVER := $(BUILD)/libexec/holdfast/holdfast-recover

.PHONY: all
all: $(HOLDFAST) $(RECOVER)

$(HOLDFAST): $(FRONT) $(COMMON)
	@mkdir -p $(@D)
	$(CC) $(ALL_LDFLAGS) -o $@ $^ $(FRONT_LIBS)

$(RECOVER): $(HELPER) $(COMMON)
	@mkdir -p $(@D)
	$(CC) $(ALL_LDFLAGS) -o $@ $^ $(HELPER_LIBS)

$(BUILD)/%.o: %.c Makefile
	@mkdir -p $(@D)
	$(CC) $(ALL_CFLAGS) -c -o $@ $<

# Every unit test is one program; it links all parts but the two mains.
PARTS := $(filter-out $(BUILD)/cli/main.o $(BUILD)/helper/main.o, \
	$(FRONT) $(HELPER) $(COMMON))
UNIT := $(patsubst %.c,$(BUILD)/%,$(call sources,tests/unit))

$(BUILD)/libparts.a: $(PARTS)
	@rm -f $@
	$(AR) rcs $@ $^

$(BUILD)/tests/unit/%: $(BUILD)/tests/unit/%.o $(BUILD)/libparts.a
	$(CC) $(ALL_LDFLAGS) -o $@ $^ $(TEST_LIBS)

.PHONY: unit
unit: $(UNIT)

.PHONY: clean
clean:
	rm -rf $(BUILD)

-include $(shell [ -d $(BUILD) ] && find $(BUILD) -name '*.d')
