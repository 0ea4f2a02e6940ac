/* blockcount: a tool for valgrind that counts how often each run of instructions is executed, by file and offset, in every
 * process. It knows no function, and judges nothing: who reads its files has the programs. Licensed like the rest of
 * Bakeoff (MIT or Apache-2.0); what is linked of it and valgrind is a work under valgrind's licence, and is not given on.
 *
 * A run is a sequence of instructions that follow one another and are left only at its end. Where it begins, one number
 * is increased. A process has a file from its start, so that one that is killed is missed. It writes its numbers there when
 * it ends and before it becomes another program:
 *
 *   process PID PARENT KIND     KIND: started, or forked (it executes what its parent did); with a further word `resumed` if
 *                               it could not become another program: what it counted until then is in the file before
 *   program PATH
 *   file NUMBER INODE PATH      a file that code was mapped from
 *   run NUMBER OFFSET N COUNT   N instructions from that offset of it on, executed COUNT times
 *   unnamed COUNT               instructions of no file
 *   end exit                    or: end exec, before it became another program
 *
 * With --during=FILE it counts while that file exists, as far as it can tell: it looks when a process calls the kernel and
 * when a signal reaches it. What begins meanwhile is counted until its end.
 */
#include "pub_tool_basics.h"
#include "pub_tool_aspacemgr.h"
#include "pub_tool_clientstate.h"
#include "pub_tool_libcassert.h"
#include "pub_tool_libcbase.h"
#include "pub_tool_libcfile.h"
#include "pub_tool_libcprint.h"
#include "pub_tool_libcproc.h"
#include "pub_tool_machine.h"
#include "pub_tool_mallocfree.h"
#include "pub_tool_options.h"
#include "pub_tool_tooliface.h"
#include "pub_tool_vki.h"
#include "pub_tool_vkiscnums.h"

/* Of this many runs is a piece of memory: numbers may not move, because translated code has their addresses. */
#define RUNS 4096
#define FILES 1024
#define NO_FILE FILES
#define MOST_DUMPS 10000

typedef struct {
   ULong count;
   ULong offset;
   UInt n;
   UInt file;
} Run;

typedef struct Piece_ {
   struct Piece_* before;
   UInt used;
   Run runs[RUNS];
} Piece;

static Piece* last_piece;
static HChar* files[FILES];
static ULong inodes[FILES];
static UInt known_files;
static ULong unnamed;
static Bool is_forked;
static Bool is_resumed;
static const HChar* into;
static const HChar* during;
static enum { BEFORE, DURING, TO_THE_END, AFTER } phase = TO_THE_END;
/* The file of this process, open from its start: a process that becomes another user or changes its root can write it. */
static Int own_file = -1;

/* Moves a file to a number that the program can neither see nor close. No header for tools has it; all libraries do. */
extern Int VG_(safe_fd)(Int fd);

static HChar* copy_of(const HChar* text)
{
   HChar* copy = VG_(malloc)("blockcount.name", VG_(strlen)(text) + 1);
   VG_(strcpy)(copy, text);
   return copy;
}

/* The number of the file that the code at an address comes from, and how far it is from its offset in there. */
static UInt file_of(Addr address, ULong* offset)
{
   const NSegment* segment = VG_(am_find_nsegment)(address);
   const HChar* name = segment ? VG_(am_get_filename)(segment) : NULL;
   if (!name)
      return NO_FILE;
   *offset = (ULong)(address - segment->start) + (ULong)segment->offset;
   for (UInt i = 0; i < known_files; i++)
      if (inodes[i] == segment->ino && VG_STREQ(files[i], name))
         return i;
   if (known_files == FILES)
      return NO_FILE;
   files[known_files] = copy_of(name);
   inodes[known_files] = segment->ino;
   return known_files++;
}

static Run* new_run(UInt file, ULong offset)
{
   if (!last_piece || last_piece->used == RUNS) {
      Piece* piece = VG_(malloc)("blockcount.piece", sizeof *piece);
      piece->before = last_piece;
      piece->used = 0;
      last_piece = piece;
   }
   Run* run = &last_piece->runs[last_piece->used++];
   run->count = 0;
   run->offset = offset;
   run->n = 0;
   run->file = file;
   return run;
}

/* Adds `by` to the number there whenever this place of the block is reached. */
static void add(IRSB* block, ULong* number, ULong by)
{
   IRExpr* where = mkIRExpr_HWord((HWord)number);
   IRTemp old = newIRTemp(block->tyenv, Ity_I64);
   IRTemp new = newIRTemp(block->tyenv, Ity_I64);
   addStmtToIRSB(block, IRStmt_WrTmp(old, IRExpr_Load(Iend_LE, Ity_I64, where)));
   addStmtToIRSB(block, IRStmt_WrTmp(new, IRExpr_Binop(Iop_Add64, IRExpr_RdTmp(old), IRExpr_Const(IRConst_U64(by)))));
   addStmtToIRSB(block, IRStmt_Store(Iend_LE, where, IRExpr_RdTmp(new)));
}

static IRSB* instrument(VgCallbackClosure* closure, IRSB* in, const VexGuestLayout* layout, const VexGuestExtents* extents,
                        const VexArchInfo* host, IRType guest_word, IRType host_word)
{
   IRSB* out = deepCopyIRSBExceptStmts(in);
   Run* run = NULL;
   Addr next = 0;
   for (Int i = 0; i < in->stmts_used; i++) {
      IRStmt* statement = in->stmts[i];
      if (statement->tag == Ist_IMark) {
         Addr here = statement->Ist.IMark.addr;
         ULong offset = 0;
         if (!run || here != next) {
            UInt file = file_of(here, &offset);
            if (file == NO_FILE) {
               /* Made while the program runs: there may be any number of these. */
               add(out, &unnamed, 1);
               run = NULL;
               addStmtToIRSB(out, statement);
               continue;
            }
            run = new_run(file, offset);
            add(out, &run->count, 1);
         }
         run->n++;
         next = here + statement->Ist.IMark.len;
      }
      addStmtToIRSB(out, statement);
      if (statement->tag == Ist_Exit)
         run = NULL;
   }
   return out;
}

static void forget(void)
{
   unnamed = 0;
   for (Piece* piece = last_piece; piece; piece = piece->before)
      for (UInt i = 0; i < piece->used; i++)
         piece->runs[i].count = 0;
}

static HChar lines[1 << 16];
static UInt filled;

static void flush(Int fd)
{
   for (UInt done = 0; done < filled;) {
      Int written = VG_(write)(fd, lines + done, filled - done);
      if (written <= 0)
         break;
      done += written;
   }
   filled = 0;
}

static void line(Int fd, const HChar* format, ...) __attribute__((format(printf, 2, 3)));

static void line(Int fd, const HChar* format, ...)
{
   va_list values;
   if (filled + 8192 > sizeof lines)
      flush(fd);
   va_start(values, format);
   filled += VG_(vsnprintf)(lines + filled, sizeof lines - filled, format, values);
   va_end(values);
}

/* Creates the next file of this process. */
static void reserve(void)
{
   HChar name[4096];
   Int fd = -1;
   if (!into)
      return;
   /* The number of a process stays when it becomes another program, and may be used again by another process. */
   for (Int number = 0; fd < 0 && number < MOST_DUMPS; number++) {
      VG_(snprintf)(name, sizeof name, "%s.%d.%d", into, VG_(getpid)(), number);
      fd = VG_(fd_open)(name, VKI_O_CREAT | VKI_O_EXCL | VKI_O_WRONLY, 0600);
   }
   if (fd < 0)
      VG_(umsg)("blockcount: cannot create %s\n", name);
   else
      own_file = VG_(safe_fd)(fd);
}

/* Writes all numbers into the file of this process, and begins again from zero. */
static void dump(const HChar* why)
{
   Int fd = own_file;
   if (fd < 0)
      return;
   own_file = -1;
   line(fd, "process %d %d %s%s\n", VG_(getpid)(), VG_(getppid)(), is_forked ? "forked" : "started",
        is_resumed ? " resumed" : "");
   line(fd, "program %s\n", VG_(args_the_exename));
   for (UInt i = 0; i < known_files; i++)
      line(fd, "file %u %llu %s\n", i, inodes[i], files[i]);
   for (Piece* piece = last_piece; piece; piece = piece->before)
      for (UInt i = 0; i < piece->used; i++) {
         Run* run = &piece->runs[i];
         if (run->count)
            line(fd, "run %u %llu %u %llu\n", run->file, run->offset, run->n, run->count);
      }
   line(fd, "unnamed %llu\n", unnamed);
   line(fd, "end %s\n", why);
   flush(fd);
   VG_(close)(fd);
   forget();
}

/* What is counted outside of the time in question is nothing. */
static void look(void)
{
   struct vg_stat found;
   if (phase != BEFORE && phase != DURING)
      return;
   Bool is_there = !sr_isError(VG_(stat)(during, &found));
   if (phase == BEFORE) {
      forget();
      if (is_there)
         phase = DURING;
   } else if (!is_there) {
      dump("exit");
      phase = AFTER;
   }
}

static void dump_what_counts(const HChar* why)
{
   if (phase == BEFORE || phase == AFTER)
      forget();
   dump(why);
}

static void finish(Int status)
{
   dump_what_counts("exit");
}

static void in_child(ThreadId thread)
{
   look();
   if (phase == DURING)
      phase = TO_THE_END;
   is_forked = True;
   is_resumed = False;
   if (own_file >= 0)
      VG_(close)(own_file);
   own_file = -1;
   forget();
   reserve();
}

static Bool is_exec(UInt number)
{
#ifdef __NR_execveat
   if (number == __NR_execveat)
      return True;
#endif
   return number == __NR_execve;
}

/* What a process did before it becomes another program would be lost with it. */
static void before_call(ThreadId thread, UInt number, UWord* arguments, UInt count)
{
   look();
   if (is_exec(number))
      dump_what_counts("exec");
}

static void after_call(ThreadId thread, UInt number, UWord* arguments, UInt count, SysRes result)
{
   look();
   if (!is_exec(number))
      return;
   is_resumed = True;
   reserve();
}

/* A signal may end the call that a process waits in. */
static void before_signal(ThreadId thread, Int number, Bool has_own_stack)
{
   look();
}

static Bool option(const HChar* word)
{
   return VG_STR_CLO(word, "--counts", into) || VG_STR_CLO(word, "--during", during);
}

static void usage(void)
{
   VG_(printf)("    --counts=FILE             begin the names of files with this\n");
   VG_(printf)("    --during=FILE             count while this file exists\n");
}

static void begin(void)
{
   struct vg_stat found;
   if (during && sr_isError(VG_(stat)(during, &found)))
      phase = BEFORE;
   reserve();
}

static void describe(void)
{
   VG_(details_name)("blockcount");
   VG_(details_version)("1");
   VG_(details_description)("counts executed instructions by file and offset");
   VG_(details_copyright_author)("Part of Bakeoff.");
   VG_(details_bug_reports_to)("the authors of Bakeoff");
   VG_(basic_tool_funcs)(begin, instrument, finish);
   VG_(needs_command_line_options)(option, usage, usage);
   VG_(needs_syscall_wrapper)(before_call, after_call);
   VG_(track_pre_deliver_signal)(before_signal);
   VG_(atfork)(NULL, NULL, in_child);
}

VG_DETERMINE_INTERFACE_VERSION(describe)
