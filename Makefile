# Holdfast. "make help" lists the targets. Objects go under $(BUILD).

PREFIX ?= /usr/local
DESTDIR ?=
BUILD ?= build
PKG_CONFIG ?= pkg-config
PYTHON ?= python3
INSTALL ?= install
# Options of tests/run: make check ARGS="--only capture". The program splits
# them itself: no shell sees a pattern.
ARGS ?=
export HOLDFAST_ARGS = $(value ARGS)
# Non-empty: the sanitizer build, which cannot be installed (see check-san).
SAN ?=

VERSION := 0.1.0

CFLAGS ?= -O2 -g
CPPFLAGS ?= -D_FORTIFY_SOURCE=2
WARN := -Wall -Wextra -Wconversion -Wshadow -Wstrict-prototypes \
	-Wmissing-prototypes -Wformat=2 -Wvla
HARDEN := -fPIE -fstack-protector-strong -fstack-clash-protection

# The sanitizers need calls that the shipped filter kills for: their helper
# links a wider filter and goes by another name, which no other build looks
# for and which install refuses.
RECOVER_NAME := holdfast-recover$(if $(SAN),-san)

ALL_CFLAGS = -std=gnu11 -D_GNU_SOURCE -D_FILE_OFFSET_BITS=64 -I. \
	-I$(BUILD) -DHOLDFAST_VERSION='"$(VERSION)"' \
	-DHOLDFAST_RECOVER_NAME='"$(RECOVER_NAME)"' $(WARN) $(HARDEN) \
	-pthread -MMD -MP $(CPPFLAGS) $(CFLAGS)
HARDEN_LINK = -pthread -Wl,-z,relro,-z,now,-z,noexecstack \
	-Wl,--as-needed $(CFLAGS) $(LDFLAGS)
ALL_LDFLAGS = -pie $(HARDEN_LINK)

# Of libcrypto only SHA-256 is used. To load and relocate all of it takes
# longer than a small capture, so where its archive is installed only what is
# used is linked; CRYPTO_LIBS=-lcrypto takes the shared one.
CRYPTO_LIBS ?= $(or \
	$(wildcard $(shell $(PKG_CONFIG) --variable=libdir libcrypto)/libcrypto.a),\
	$(shell $(PKG_CONFIG) --libs libcrypto))
FRONT_LIBS = $(shell $(PKG_CONFIG) --libs libcjson) $(CRYPTO_LIBS)
HELPER_LIBS = $(shell $(PKG_CONFIG) --libs sqlite3 libseccomp) $(CRYPTO_LIBS)
# Where the archives are installed the helper is one file: it gets ready in
# little more than half the time, and no library or preload of the machine
# comes between the evidence and what reads it. It then takes a new SQLite
# when it is built again. SHARED=1 takes the shared libraries.
SHARED ?=
HELPER_ARCHIVES := $(foreach lib,sqlite3 seccomp crypto m c,\
	$(wildcard $(shell $(CC) -print-file-name=lib$(lib).a)))
ifeq ($(words $(HELPER_ARCHIVES))$(SHARED)$(SAN),5)
RECOVER_LINK := -static-pie $(foreach loader,open sym close error,\
	-Wl,--wrap=dl$(loader))
RECOVER_LIBS := -lsqlite3 -lseccomp -lcrypto -lm
else
RECOVER_LINK := -pie
RECOVER_LIBS = $(HELPER_LIBS)
endif
LEASE_LIBS = $(shell $(PKG_CONFIG) --libs sqlite3 libcjson)
CONTROLS_LIBS = $(shell $(PKG_CONFIG) --libs sqlite3 libcjson libcrypto libseccomp)
TEST_LIBS = $(shell $(PKG_CONFIG) --libs cmocka) $(FRONT_LIBS) $(HELPER_LIBS)

sources = $(sort $(wildcard $(1)/*.c))
objects = $(patsubst %.c,$(BUILD)/%.o,$(call sources,$(1)))

COMMON := $(call objects,base) $(call objects,reply)
FRONT := $(call objects,cli) $(call objects,capture) $(call objects,packet) \
	$(call objects,warden) $(call objects,json) $(call objects,policy)
HELPER := $(call objects,helper) $(call objects,recover) $(call objects,verify)
# No libcrypto here: loading it would cost more than a lease does.
LEASE := $(call objects,lease)
LEASE_COMMON := $(patsubst %,$(BUILD)/%.o,base/buf base/clock base/fault \
	base/io base/utf8 cli/escape json/base64_encode json/write)
ifneq ($(SAN),)
HELPER := $(filter-out $(BUILD)/recover/filter.o \
	$(BUILD)/helper/noload.o,$(HELPER)) $(call objects,tests/san)
endif

HOLDFAST := $(BUILD)/bin/holdfast
RECOVER := $(BUILD)/libexec/holdfast/$(RECOVER_NAME)
LEASE_PROGRAM := $(BUILD)/libexec/holdfast/holdfast-lease
CONTROLS_PROGRAM := $(BUILD)/bin/holdfast-controls

.PHONY: all
all: $(HOLDFAST) $(RECOVER) $(LEASE_PROGRAM) $(CONTROLS_PROGRAM) ## the programs (the default)

$(HOLDFAST): $(FRONT) $(COMMON)
	@mkdir -p $(@D)
	$(CC) $(ALL_LDFLAGS) -o $@ $^ $(FRONT_LIBS)

$(RECOVER): $(HELPER) $(COMMON)
	@mkdir -p $(@D)
	$(CC) $(RECOVER_LINK) $(HARDEN_LINK) -o $@ $^ $(RECOVER_LIBS)

$(LEASE_PROGRAM): $(LEASE) $(LEASE_COMMON)
	@mkdir -p $(@D)
	$(CC) $(ALL_LDFLAGS) -o $@ $^ $(LEASE_LIBS)

# Nothing of the other rooms: what judges them must not share their faults.
CONTROLS := $(call objects,controls)

$(CONTROLS_PROGRAM): $(CONTROLS)
	@mkdir -p $(@D)
	$(CC) $(ALL_LDFLAGS) -o $@ $^ $(CONTROLS_LIBS)

# The schema as one string literal.
$(BUILD)/lease/schema.inc: lease/schema.sql
	@mkdir -p $(@D)
	sed -e 's/\\/&&/g' -e 's/"/\\"/g' -e 's/.*/"&\\n"/' $< > $@

$(BUILD)/lease/schema.o: $(BUILD)/lease/schema.inc

$(BUILD)/%.o: %.c Makefile $(BUILD)/flags
	@mkdir -p $(@D)
	$(CC) $(ALL_CFLAGS) -c -o $@ $<

# Changes only when the compiler or its flags do, and then rebuilds all.
$(BUILD)/flags: FORCE
	@mkdir -p $(@D)
	@echo '$(subst ','\'',$(CC) $(ALL_CFLAGS) $(ALL_LDFLAGS) $(RECOVER_LINK) $(RECOVER_LIBS))' > $@.new
	@if cmp -s $@.new $@; then rm $@.new; else mv $@.new $@; fi

.PHONY: FORCE
FORCE:

# Every unit test is one program; it links all parts but the two mains.
PARTS := $(filter-out $(BUILD)/cli/main.o $(BUILD)/helper/main.o \
	$(BUILD)/helper/noload.o $(BUILD)/lease/main.o, $(FRONT) $(HELPER) $(LEASE) $(COMMON))
UNIT := $(patsubst %.c,$(BUILD)/%,$(call sources,tests/unit))

$(BUILD)/libparts.a: $(PARTS)
	@rm -f $@
	$(AR) rcs $@ $^

$(BUILD)/tests/unit/%: $(BUILD)/tests/unit/%.o $(BUILD)/libparts.a
	$(CC) $(ALL_LDFLAGS) -o $@ $^ $(TEST_LIBS)

# The controls link none of the parts, and their test none but theirs; it has
# a registry of its own.
$(BUILD)/tests/unit/t_controls: $(BUILD)/tests/unit/t_controls.o \
		$(filter-out $(BUILD)/controls/main.o \
		$(BUILD)/controls/registry.o,$(CONTROLS))
	$(CC) $(ALL_LDFLAGS) -o $@ $^ $(TEST_LIBS)

# Load and speed of leases in process, for tests of whole programs too.
LEASE_LOAD := $(BUILD)/tests/load/lease

$(LEASE_LOAD): $(LEASE_LOAD).o $(BUILD)/libparts.a
	$(CC) $(ALL_LDFLAGS) -o $@ $^ $(TEST_LIBS)

# Fuzz targets: with libFuzzer, and with any compiler for the tests.
FUZZ := $(patsubst %.c,$(BUILD)/%,$(filter tests/fuzz/f_%, \
	$(call sources,tests/fuzz)))
FUZZ_PLAIN := $(patsubst $(BUILD)/tests/fuzz/%,$(BUILD)/tests/fuzz/plain/%, \
	$(FUZZ))

$(BUILD)/tests/fuzz/plain/f_%: $(BUILD)/tests/fuzz/f_%.o \
		$(BUILD)/tests/fuzz/standalone.o $(BUILD)/libparts.a
	@mkdir -p $(@D)
	$(CC) $(ALL_LDFLAGS) -o $@ $^ $(FRONT_LIBS) $(HELPER_LIBS)

.PHONY: unit
unit: $(UNIT) $(LEASE_LOAD) $(FUZZ_PLAIN) ## the unit test programs, without running them

RUN = HOLDFAST_BUILD=$(BUILD) $(PYTHON) tests/run$(if $(SAN), --slow 4)

.PHONY: check check-unit check-e2e check-long check-san
check: all unit ## every test that belongs to a change
	$(RUN)

check-unit: all unit ## the unit tests alone
	$(RUN) --unit

check-e2e: all $(LEASE_LOAD) $(FUZZ_PLAIN) ## the tests of whole programs alone
	$(RUN) --e2e

check-long: all unit ## check, and what takes longer than a change can wait
	$(RUN) --long
	$(MAKE) fuzz

SANITIZE := -fsanitize=address,undefined -fno-sanitize-recover=undefined \
	-fno-omit-frame-pointer

check-san: ## the tests under AddressSanitizer and UBSan
	$(MAKE) BUILD=build/san SAN=1 CPPFLAGS= CFLAGS="-O1 -g $(SANITIZE)" \
		check

# libFuzzer comes with clang.
FUZZ_CC ?= clang
FUZZ_SECONDS ?= 60
$(BUILD)/tests/fuzz/f_%: $(BUILD)/tests/fuzz/f_%.o $(BUILD)/libparts.a
	$(CC) $(ALL_LDFLAGS) -fsanitize=fuzzer -o $@ $^ $(FRONT_LIBS) \
		$(HELPER_LIBS)

.PHONY: fuzz fuzz-programs
fuzz-programs: $(FUZZ)

fuzz: all ## each decoder under libFuzzer for FUZZ_SECONDS (needs clang)
	$(MAKE) BUILD=build/fuzz CC="$(FUZZ_CC)" CPPFLAGS= \
		CFLAGS="-O1 -g -fsanitize=fuzzer-no-link $(SANITIZE)" \
		fuzz-programs
	HOLDFAST_BUILD=$(BUILD) $(PYTHON) tests/fuzz/run \
		build/fuzz/tests/fuzz $(FUZZ_SECONDS)

.PHONY: demo bench mutants
demo: all ## the whole path, shown on a real writer
	HOLDFAST_BUILD=$(BUILD) $(PYTHON) tools/demo.py

bench: all $(LEASE_LOAD) ## speed and memory against floors and peers (BENCH_MB="100 1000")
	HOLDFAST_BUILD=$(BUILD) CC="$(CC)" $(PYTHON) tests/bench/run

mutants: all unit ## small faults in the sources, each found by a named test
	HOLDFAST_BUILD=$(BUILD) $(PYTHON) tests/mutants/run

BINDIR = $(DESTDIR)$(PREFIX)/bin
LIBEXECDIR = $(DESTDIR)$(PREFIX)/libexec/holdfast
MANDIR = $(DESTDIR)$(PREFIX)/share/man/man1
DOCDIR = $(DESTDIR)$(PREFIX)/share/doc/holdfast
MAN := $(wildcard man/*.1)
TOP_DOCS := README.md LICENSE CHANGELOG.md SECURITY.md
DOCS := $(wildcard docs/*.md)
EXAMPLES := $(wildcard docs/examples/*/*)

.PHONY: install uninstall
install: all ## under DESTDIR and PREFIX
	@if [ -n "$(SAN)" ] || grep -q __asan_init $(HOLDFAST) $(RECOVER); then \
		echo "install: a sanitizer build is not installed:" \
		     "its sandbox is wider" >&2; exit 1; fi
	$(INSTALL) -d $(BINDIR) $(LIBEXECDIR) $(MANDIR) $(DOCDIR)/docs
	$(INSTALL) -m 755 $(HOLDFAST) $(BINDIR)/holdfast
	$(INSTALL) -m 755 $(CONTROLS_PROGRAM) $(BINDIR)/holdfast-controls
	$(INSTALL) -m 755 $(RECOVER) $(LIBEXECDIR)/holdfast-recover
	$(INSTALL) -m 755 $(LEASE_PROGRAM) $(LIBEXECDIR)/holdfast-lease
	$(INSTALL) -m 644 $(MAN) $(MANDIR)
	$(INSTALL) -m 644 $(TOP_DOCS) $(DOCDIR)
	$(INSTALL) -m 644 $(DOCS) $(DOCDIR)/docs
	for f in $(EXAMPLES); do \
		$(INSTALL) -D -m 644 $$f $(DOCDIR)/$$f || exit 1; done

uninstall: ## what install put there
	rm -f $(BINDIR)/holdfast $(BINDIR)/holdfast-controls \
		$(LIBEXECDIR)/holdfast-recover \
		$(LIBEXECDIR)/holdfast-lease \
		$(addprefix $(MANDIR)/,$(notdir $(MAN))) \
		$(addprefix $(DOCDIR)/,$(TOP_DOCS) $(DOCS) $(EXAMPLES))
	-rmdir $(LIBEXECDIR) $(addprefix $(DOCDIR)/,$(sort $(dir $(EXAMPLES)))) \
		$(DOCDIR)/docs/examples $(DOCDIR)/docs $(DOCDIR) 2>/dev/null

.PHONY: clean help
clean: ## removes $(BUILD)
	rm -rf $(BUILD)

help: ## this list
	@sed -n 's/^\([a-z0-9-]*\):.*## /\1\t/p' $(firstword $(MAKEFILE_LIST)) | \
		expand -t 14

-include $(shell [ -d $(BUILD) ] && find $(BUILD) -name '*.d')
