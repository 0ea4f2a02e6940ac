//! The one table of names: functions that belong to a mechanism, whatever else differs between two variants. A function is
//! here if it takes part in nothing else, because a wrong name moves its whole difference to the wrong cause. `*` in a
//! pattern stands for anything.

use super::files::base;
use super::result::Allocator;

/// Whether a name is of this pattern, which has at most one `*`.
fn is_like(name: &str, pattern: &str) -> bool {
    match pattern.split_once('*') {
        None => name == pattern,
        Some((start, end)) => name.len() >= start.len() + end.len() && name.starts_with(start) && name.ends_with(end),
    }
}

/// Whether a name is of one of these patterns, which have spaces between them.
fn is_any(name: &str, patterns: &str) -> bool {
    patterns.split(' ').any(|pattern| is_like(name, pattern))
}

/// What every allocator is called by, so that stubs with these names lead to one. Operators of C++ only call it.
const ENTRIES: &str = "malloc free calloc realloc reallocarray memalign aligned_alloc posix_memalign valloc pvalloc cfree \
    malloc_usable_size _Znw* _Zna* _Zdl* _Zda*";

/// Inside the C library: glibc's ptmalloc, then musl's old and new allocator.
const IN_LIBC: &str = "__libc_malloc* __libc_free* __libc_calloc* __libc_realloc* __libc_memalign* _int_malloc _int_free* \
    _int_realloc _int_memalign _mid_memalign malloc_consolidate unlink_chunk* sysmalloc* systrim* \
    heap_trim grow_heap shrink_heap new_heap alloc_new_heap arena_get* get_free_list tcache_* \
    ptmalloc_init* mremap_chunk munmap_chunk alloc_perturb free_perturb malloc_printerr __malloc_* \
    __default_morecore __glibc_morecore __expand_heap __bin_chunk __libc_malloc_impl default_malloc \
    alloc_slot alloc_group nontrivial_free";

/// Libraries that are an allocator, by the beginning of their names.
const LIBRARIES: &[(&str, Allocator)] =
    &[("libjemalloc", Allocator::Jemalloc), ("libtcmalloc", Allocator::Tcmalloc), ("libmimalloc", Allocator::Mimalloc)];

/// Allocators that are linked into a program, by their prefixes.
const LINKED: &[(&str, Allocator)] = &[
    ("je_* _rjem_*", Allocator::Jemalloc),
    ("tc_malloc* tc_free* tc_calloc tc_realloc tc_new* tc_delete* _ZN8tcmalloc*", Allocator::Tcmalloc),
    ("_mi_* mi_malloc* mi_free* mi_calloc* mi_realloc* mi_heap_* mi_page_* mi_segment*", Allocator::Mimalloc),
];

/// Names that only glibc's has, where it is linked statically.
const LINKED_LIBC: &str =
    "_int_malloc _int_free* _int_realloc __libc_malloc* __libc_free* malloc_consolidate sysmalloc*";

/// Perl's own allocator (malloc.c), and the wrappers through which Perl calls whichever it has.
const IN_PERL: &str = "Perl_malloc Perl_mfree Perl_realloc Perl_calloc Perl_safesys* Perl_malloced_size \
    Perl_malloc_good_size Perl_get_mstats S_morecore S_getpages* S_get_from_* S_add_to_chain \
    S_emergency_sbrk";

/// Keeps `errno` while memory is freed; everything else uses it too. It belongs to the allocator if that calls it most.
pub(super) const ERRNO: &str = "__errno_location";

/// In musl's one file: the loader's part. Everything else there is the C library.
const MUSL_LOADER: &str = "_dlstart* __dls* do_relocs reloc_all find_sym* gnu_lookup* sysv_lookup load_library load_deps \
    load_preload map_library decode_dyn decode_vec do_init_fini prepare_lazy";

/// Names and source files of what compiles inside an interpreter. Names of the sources tell of static functions.
struct Interpreter {
    /// How its programs and libraries begin.
    files: &'static [&'static str],
    names: &'static str,
    sources: &'static str,
}

const INTERPRETERS: &[Interpreter] = &[
    Interpreter {
        files: &["perl", "libperl"],
        names: "Perl_yyparse Perl_yylex Perl_yyerror* Perl_scan_* Perl_lex_* Perl_new*OP Perl_newSTATEOP \
            Perl_newLOOPEX Perl_newATTRSUB* Perl_newPROG Perl_newANON* Perl_new*REF Perl_op_append_* \
            Perl_op_prepend_* Perl_op_lvalue* Perl_op_convert_list Perl_ck_* Perl_rpeep Perl_scalar \
            Perl_list Perl_localize Perl_block_start Perl_block_end Perl_pad_add* Perl_pad_alloc \
            Perl_pad_findmy* Perl_pad_tidy Perl_keyword S_yylex* yyl_* S_scan_* S_skipspace* S_force_* \
            S_tokeq S_intuit_* S_new_logop S_optimize_op* S_finalize_op*",
        sources: "toke.c perly.c peep.c",
    },
    Interpreter {
        files: &["python", "libpython"],
        names: "_PyPegen_* _PyAST_* _PyCompile_* _PyTokenizer_* _PyParser_* _PySymtable_* _PyST_*",
        sources: "pegen.c parser.c tokenizer.c compile.c codegen.c assemble.c flowgraph.c symtable.c ast.c \
            ast_opt.c Python-ast.c action_helpers.c string_parser.c",
    },
    Interpreter { files: &["lua", "liblua"], names: "luaX_* luaY_* luaK_* llex", sources: "llex.c lparser.c lcode.c" },
    Interpreter {
        files: &["ruby", "libruby"],
        names: "ruby_yyparse rb_parser_* parser_yylex yylex yyparse iseq_compile_* pm_*",
        sources: "parse.c parse.y compile.c prism.c prism_compile.c",
    },
];

/// Whether it is one of what programs call an allocator by.
pub(super) fn is_entry_of_allocator(name: &str) -> bool {
    is_any(name, ENTRIES)
}

/// Whether it belongs to the allocator of the C library that defines it.
pub(super) fn is_allocator_of_libc(name: &str) -> bool {
    is_any(name, ENTRIES) || is_any(name, IN_LIBC)
}

/// The allocator that a library is.
pub(super) fn allocator_of_library(file: &str) -> Option<Allocator> {
    let name = base(file);
    LIBRARIES.iter().find(|(start, _)| name.starts_with(start)).map(|(_, allocator)| *allocator)
}

/// The allocator to which a function of the program belongs.
pub(super) fn allocator_of_program(name: &str, source: Option<&str>, file: &str) -> Option<Allocator> {
    let is_perl = INTERPRETERS[0].files.iter().any(|start| base(file).starts_with(start));
    if is_perl && (is_any(name, IN_PERL) || (source == Some("malloc.c") && !is_any(name, IN_LIBC))) {
        return Some(Allocator::Perl);
    }
    let linked = LINKED.iter().find(|(patterns, _)| is_any(name, patterns)).map(|(_, allocator)| *allocator);
    linked
        .or_else(|| is_any(name, LINKED_LIBC).then_some(Allocator::Libc))
        .or_else(|| is_any(name, ENTRIES).then_some(Allocator::Program))
}

/// Whether a function of musl's file is the loader's.
pub(super) fn is_loader_of_musl(name: &str) -> bool {
    is_any(name, MUSL_LOADER)
}

/// Whether a function compiles inside the interpreter that the file belongs to.
pub(super) fn is_compiling(name: &str, source: Option<&str>, file: &str) -> bool {
    let file = base(file);
    let mut of_file = INTERPRETERS.iter().filter(|known| known.files.iter().any(|start| file.starts_with(start)));
    of_file.any(|known| is_any(name, known.names) || source.is_some_and(|source| is_any(source, known.sources)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_of_their_mechanisms() {
        assert!(is_allocator_of_libc("_int_free") && is_allocator_of_libc("malloc"));
        assert!(!is_allocator_of_libc("memcpy") && !is_allocator_of_libc("__errno_location"));
        let of = |name| allocator_of_program(name, None, "$PREFIX/bin/perl");
        assert_eq!(of("Perl_safesysfree"), Some(Allocator::Perl));
        assert_eq!(of("je_malloc"), Some(Allocator::Jemalloc));
        assert_eq!(of("_int_malloc"), Some(Allocator::Libc));
        assert_eq!(of("Perl_sv_clear"), None);
        assert_eq!(allocator_of_program("free", None, "$PREFIX/bin/x"), Some(Allocator::Program));
        assert_eq!(allocator_of_library("/usr/lib/libmimalloc.so.2.0"), Some(Allocator::Mimalloc));
        assert!(is_compiling("Perl_newBINOP", None, "$PREFIX/lib/libperl.so"));
        assert!(is_compiling("S_anything", Some("toke.c"), "/usr/bin/perl5.36.0"));
        assert!(!is_compiling("Perl_newBINOP", None, "$PREFIX/bin/other"));
        assert!(!is_compiling("Perl_newSVpvn", None, "perl") && is_compiling("luaK_code", None, "lua"));
    }
}
