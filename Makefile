# What people type. The targets install the Debian packages that are missing (as root; otherwise they print the
# command), and need besides them a Rust toolchain and access to package registries. What a study needs beyond that may
# stand in its file `packages`.

CARGO ?= cargo
ARGS  ?=
# BAKEOFF=FILE is used in place of the release.
PROGRAM = $(or $(BAKEOFF),$(CARGO) run --release --locked --quiet --bin bakeoff --)

.PHONY: run install tarball deb pages book test bench fuzz soak long

# Builds Bakeoff and compares two commands, in a second. With STUDY=studies/NAME it runs that study.
run:
	@sh tools/need-packages gcc libc6-dev $(if $(STUDY),binutils $$(cat $(STUDY)/packages 2> /dev/null))
ifndef BAKEOFF
	$(CARGO) build --release --locked --bin bakeoff
endif
ifdef STUDY
	$(PROGRAM) run $(STUDY) $(ARGS)
else
	$(PROGRAM) compare 'sleep 0.01' 'sleep 0.02' $(ARGS)
	@echo "next: make run STUDY=studies/perl-options builds Perl in six variants and compares them; that takes minutes"
endif

# The program, its manual, its documents, and completions for bash, fish and zsh, below PREFIX; DESTDIR comes before it, for
# packages.
PREFIX ?= /usr/local
install:
	$(CARGO) build --release --locked --bin bakeoff
	sh tools/install "$(DESTDIR)$(PREFIX)"

# The same as archives that need only a kernel: unpack one below /usr/local, or anywhere. They are in target/packages, with
# SHA256SUMS. MACHINES="x86_64 aarch64" makes both.
MACHINES ?= $(shell uname -m)
tarball:
	@sh tools/need-packages gcc libc6-dev
	@for machine in $(MACHINES); do sh tools/tarball "$$machine" || exit; done

# The same as a package for Debian, in the same folder.
deb:
	@sh tools/need-packages gcc libc6-dev dpkg-dev
	@sh tools/deb

# The pages of the studies in docs/parcels, in target/pages.
pages:
	@sh tools/need-packages gcc libc6-dev
	sh tools/pages $(BAKEOFF)

# The documents as a book with a search, in target/book; it compiles mdBook first, if there is none.
book:
	@sh tools/book --install

# BOLT is in the package archive for amd64 only; without it, its tests are skipped.
test:
	@sh tools/need-packages gcc g++ libc6-dev binutils make xz-utils patch git curl perl-base mount util-linux clang llvm libclang-rt-dev ccache sccache meson cmake libtool-bin dpkg-dev ministat strace valgrind faketime r-base-core python3 python3-venv go=golang-go qemu-system-x86_64=qemu-system-x86 seabios busybox-static chromium chromium-driver python3-selenium slurm-wlm munge openssh-server
	@sh tools/need-packages bolt-22 libbolt-22-dev || :
	@sh tools/oracles
	@sh tools/axe
	@sh tools/kernels
	$(CARGO) test --workspace --locked

# Ratios beside other tools, in randomised blocks; nothing else should be executing. benchstat needs Go and its proxy.
# hyperfine and megafine are built by cargo, of their registry. perf is in the package linux-perf; without it, it is
# skipped: not every kernel has one.
bench:
	@sh tools/need-packages gcc libc6-dev binutils ministat python3 python3-venv
	@sh tools/need-packages linux-perf || :
	@sh tools/oracles
	$(CARGO) bench --locked -p bakeoff --bench launch
	$(CARGO) bench --locked -p bakeoff --bench looks
	$(CARGO) bench --locked -p bakeoff --bench peers
	$(CARGO) bench --locked -p bakeoff --bench facts
	$(CARGO) bench --locked -p bakeoff --bench analysis
	@sh tools/need-packages chromium chromium-driver python3-selenium
	$(CARGO) bench --locked -p bakeoff --bench page

# Guided by coverage, without an end but this one: seconds for each target, of all or of TARGET.
SECONDS ?= 60
fuzz:
	@sh tools/need-packages gcc g++ libc6-dev binutils
	sh tools/fuzz $(SECONDS) $(TARGET)

# A study to which everything happens that can, over and over, for so many seconds; SEED=N does the same again.
soak:
	@sh tools/need-packages gcc libc6-dev binutils perl-base mount faketime
	BAKEOFF_SOAK=$(SECONDS) $(CARGO) test --locked --workspace --test soak -- --nocapture

# What takes longer than CI allows: PART=soak, fuzz, calibrate, gate, screens, starter, layouts, same-code, why, matches, cluster, search, bisect, release or studies; see tools/long.
long:
	@sh tools/long $(PART)
