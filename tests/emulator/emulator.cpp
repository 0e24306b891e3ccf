/* Runs kernels on the host. A thread of a kernel is a fiber: it has a stack of its own, and runs until it ends or waits. A thread
   block is run by one thread of the host, block after block. Blocks that wait for each other (a cluster, a cooperative launch) are
   run by one thread of the host each. Shared memory is thread-local memory.

   Finds errors that a GPU may hide:
   - a barrier that some threads do not reach: the program ends with a text;
   - reads of shared or device memory that nothing has written: such memory holds NaN;
   - reads of an asynchronous copy before the wait: the old value is still there.
   With GMG_EMULATOR_ORDER=n blocks, warps and lanes run in the n-th order instead of ascending (1: descending). A deterministic
   result that depends on it is a race.

   Calls nothing of gmg. Called by the headers beside it and by runtime.cpp. */
#include "cuda_runtime.h"

#include "runtime.h"

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <mutex>
#include <numeric>
#include <random>
#include <sched.h>
#include <sys/mman.h>
#include <thread>
#include <utility>
#include <vector>

#ifndef __x86_64__
#include <ucontext.h>
#endif

thread_local uint3 threadIdx, blockIdx;
thread_local dim3 blockDim, gridDim;

namespace emulator {

enum { WARP = 32, MAX_THREADS = 1024, STACK = 64 * 1024, MAX_TOGETHER = 2048 };

/* --- fibers ------------------------------------------------------------------------------------------------------------ */

#ifdef __x86_64__
typedef void *context;
extern "C" void emulator_switch(void **from, void *to);
asm(".text\n"
    "emulator_switch:\n"
    "push %rbp\n push %rbx\n push %r12\n push %r13\n push %r14\n push %r15\n"
    "mov %rsp, (%rdi)\n mov %rsi, %rsp\n"
    "pop %r15\n pop %r14\n pop %r13\n pop %r12\n pop %rbx\n pop %rbp\n ret\n");
static void change(context *from, context *to) { emulator_switch(from, *to); }
static void prepare(context *c, char *stack, void (*run)())
{
  void **top = (void **)(stack + STACK) - 3; /* as after a call: 8 bytes beside a multiple of 16 */
  *top = nullptr;
  *--top = (void *)run;
  *c = top - 6;
}
#else
typedef ucontext_t context;
static void change(context *from, context *to) { swapcontext(from, to); }
static void prepare(context *c, char *stack, void (*run)())
{
  getcontext(c);
  c->uc_stack.ss_sp = stack, c->uc_stack.ss_size = STACK, c->uc_link = nullptr;
  makecontext(c, run, 0);
}
#endif

enum state { UNBORN, READY, SPINS, IN_WARP, IN_BLOCK, IN_ALL, ENDED };

struct copy {
  char *to;
  unsigned batch;
  unsigned char bytes;
  char value[16];
};

struct fiber {
  context at;
  char *stack;
  enum state state;
  uint3 thread;
  unsigned number, exchanges, batches;
  std::vector<copy> copies;
};

struct warp {
  unsigned alive, waiting;
  char value[2][WARP][16];
};

struct together;

/* State of a host thread that runs blocks. */
struct worker {
  context scheduler;
  std::vector<fiber> fibers{MAX_THREADS};
  std::vector<char *> stacks;
  std::vector<unsigned> lanes; /* threads of the running warp, in the order in which they run */
  warp warps[MAX_THREADS / WARP];
  unsigned alive, waiting, rank;
  const std::function<void()> *run;
  together *others;
  std::mt19937 random;
};

alignas(128) thread_local char dynamic_shared[227 * 1024];
static thread_local std::unique_ptr<worker> mine;
static thread_local fiber *running;
static thread_local const char *kernel_name = "";

static unsigned order() /* 0: ascending */
{
  static const unsigned n = getenv("GMG_EMULATOR_ORDER") ? (unsigned)atoi(getenv("GMG_EMULATOR_ORDER")) : 0;
  return n;
}

static void shuffle(std::vector<unsigned> &numbers, worker *w)
{
  if (order() == 1) std::reverse(numbers.begin(), numbers.end());
  if (order() > 1) std::shuffle(numbers.begin(), numbers.end(), w->random);
}

static void yield(enum state s)
{
  fiber *f = running;
  f->state = s;
  change(&f->at, &mine->scheduler);
}

static void release_warp(worker *w, unsigned number)
{
  warp *g = &w->warps[number];
  g->waiting = 0;
  for (unsigned l = 0; l < WARP; l++) {
    fiber *f = &w->fibers[number * WARP + l];
    if (f->state == IN_WARP) f->state = READY;
  }
}

static void run_fiber()
{
  (*mine->run)();
  worker *w = mine.get();
  fiber *f = running;
  warp *g = &w->warps[f->number / WARP];
  w->alive--;
  if (--g->alive > 0 && g->waiting == g->alive) release_warp(w, f->number / WARP);
  yield(ENDED);
  abort();
}

static void resume(worker *w, fiber *f)
{
  if (f->state == UNBORN) {
    if (w->stacks.empty()) {
      char *stack = (char *)mmap(NULL, STACK, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
      if (stack == MAP_FAILED) abort();
      w->stacks.push_back(stack);
    }
    f->stack = w->stacks.back();
    w->stacks.pop_back();
    prepare(&f->at, f->stack, run_fiber);
  }
  f->state = READY;
  running = f, threadIdx = f->thread;
  change(&w->scheduler, &f->at);
  if (f->state == ENDED) w->stacks.push_back(f->stack);
}

void wait_for_warp()
{
  worker *w = mine.get();
  const unsigned number = running->number / WARP;
  warp *g = &w->warps[number];
  if (++g->waiting == g->alive) release_warp(w, number);
  else yield(IN_WARP);
}

void wait_for(barrier which) { yield(which == THREAD_BLOCK ? IN_BLOCK : IN_ALL); }
void spin() { yield(SPINS); }
unsigned long long nanoseconds()
{
  const auto now = std::chrono::steady_clock::now().time_since_epoch();
  return (unsigned long long)std::chrono::duration_cast<std::chrono::nanoseconds>(now).count();
}
unsigned lane() { return running->number % WARP; }

void *exchange(const void *x, int from, size_t bytes)
{
  fiber *f = running;
  warp *g = &mine->warps[f->number / WARP];
  char(*value)[16] = g->value[f->exchanges++ % 2];
  memcpy(value[f->number % WARP], x, bytes);
  wait_for_warp();
  return value[from];
}

void copy_later(void *to, const void *from, size_t bytes, size_t read)
{
  fiber *f = running;
  if ((uintptr_t)to % bytes || (uintptr_t)from % bytes) {
    fprintf(stderr, "emulator: a copy of %zu bytes is misaligned\n", bytes);
    abort();
  }
  if (read && is_in_guard(from, read)) {
    fprintf(stderr, "emulator: a copy of %zu bytes reads beside an allocation\n", read);
    abort();
  }
  copy c = {(char *)to, f->batches, (unsigned char)bytes, {}};
  memcpy(c.value, from, read);
  f->copies.push_back(c);
}

void commit_copies() { running->batches++; }

void finish_copies(unsigned all_but)
{
  fiber *f = running;
  size_t done = 0;
  for (; done < f->copies.size() && f->copies[done].batch + all_but < f->batches; done++)
    memcpy(f->copies[done].to, f->copies[done].value, f->copies[done].bytes);
  f->copies.erase(f->copies.begin(), f->copies.begin() + (long)done);
}

/* --- blocks that run together ------------------------------------------------------------------------------------------- */

struct together {
  std::mutex lock;
  std::condition_variable changed;
  unsigned blocks, waiting = 0, round = 0;
  std::vector<char *> anchor; /* of each block's thread-local memory */
};

static void wait_for_others(together *t)
{
  std::unique_lock<std::mutex> held(t->lock);
  const unsigned round = t->round;
  if (++t->waiting == t->blocks) t->waiting = 0, t->round++, t->changed.notify_all();
  else t->changed.wait(held, [&] { return t->round != round; });
}

enum { MIDDLE = 1 << 23 }; /* addresses of 32 bits: 8 of the block's rank, 24 of the distance from dynamic_shared, plus this */

void *in_block(void *p, unsigned rank) { return mine->others->anchor[rank] + ((char *)p - dynamic_shared); }

unsigned address_of(const void *p, unsigned rank)
{
  const long distance = (const char *)p - dynamic_shared + MIDDLE;
  if (distance < 0 || distance >= 1 << 24) {
    fprintf(stderr, "emulator: %s: not in shared memory\n", kernel_name);
    abort();
  }
  return (unsigned)distance | (rank == 0xff ? mine->rank : rank) << 24;
}

void *pointer_to(unsigned address)
{
  char *const anchor = mine->others ? mine->others->anchor[address >> 24] : dynamic_shared;
  return anchor + (long)(address & 0xffffff) - MIDDLE;
}

namespace ptx {
struct mbarrier {
  int bytes;           /* arrivals that are missing */
  short pending, phase; /* arrivals still to come; parity of the phase that is under way */
};
static std::mutex mbarriers;

static mbarrier *barrier_at(unsigned address) { return (mbarrier *)pointer_to(address); }
static void complete(mbarrier *b)
{
  if (b->pending == 0 && b->bytes == 0) b->pending = 1, b->phase ^= 1;
}
void mbarrier_init_shared__cta_b64(unsigned barrier)
{
  std::lock_guard<std::mutex> held(mbarriers);
  *barrier_at(barrier) = {0, 1, 0};
}
void mbarrier_arrive_expect_tx_shared__cta_b64(unsigned barrier, unsigned bytes)
{
  std::lock_guard<std::mutex> held(mbarriers);
  mbarrier *b = barrier_at(barrier);
  b->bytes += (int)bytes, b->pending--;
  complete(b);
}
void mbarrier_bytes(unsigned barrier, unsigned bytes)
{
  std::lock_guard<std::mutex> held(mbarriers);
  mbarrier *b = barrier_at(barrier);
  b->bytes -= (int)bytes;
  complete(b);
}
void mbarrier_try_wait_parity_acquire_cluster_shared__cta_b64(unsigned &done, unsigned barrier, unsigned parity)
{
  {
    std::lock_guard<std::mutex> held(mbarriers);
    done = (unsigned)barrier_at(barrier)->phase != parity;
  }
  if (!done) spin();
}
} // namespace ptx

/* --- a block -------------------------------------------------------------------------------------------------------------- */

[[noreturn]] static void stuck(worker *w)
{
  static const char *const what[] = {"unborn", "ready", "spinning", "at a shuffle or __syncwarp()", "at __syncthreads()",
                                     "at a barrier of blocks", "ended"};
  fprintf(stderr, "emulator: %s: block (%u, %u, %u) is stuck:\n", kernel_name, blockIdx.x, blockIdx.y, blockIdx.z);
  for (unsigned t = 0, from = 0; t < blockDim.x * blockDim.y * blockDim.z; t++) {
    const unsigned next = t + 1 < blockDim.x * blockDim.y * blockDim.z ? w->fibers[t + 1].state : 99;
    if (next == w->fibers[t].state) continue;
    fprintf(stderr, "  threads %u to %u: %s\n", from, t, what[w->fibers[t].state]);
    from = t + 1;
  }
  abort();
}

/* Runs the fibers of a warp until each has ended or waits. Returns whether any ran. */
static int run_warp(worker *w, unsigned number, unsigned threads)
{
  const unsigned first = number * WARP, count = std::min<unsigned>(WARP, threads - first);
  std::vector<unsigned> &lanes = w->lanes;
  lanes.resize(count);
  std::iota(lanes.begin(), lanes.end(), first);
  shuffle(lanes, w);
  int ran = 0;
  for (int again = 1; again; ran |= again) {
    again = 0;
    for (unsigned t : lanes)
      if (w->fibers[t].state <= READY) resume(w, &w->fibers[t]), again = 1;
  }
  return ran;
}

static void run_block(worker *w, uint3 block)
{
  const dim3 d = blockDim;
  const unsigned threads = d.x * d.y * d.z, warps = (threads + WARP - 1) / WARP;
  blockIdx = block;
  w->alive = threads;
  for (unsigned t = 0; t < threads; t++) {
    fiber *f = &w->fibers[t];
    f->state = UNBORN, f->number = t, f->exchanges = f->batches = 0;
    f->thread = {t % d.x, t / d.x % d.y, t / d.x / d.y};
    f->copies.clear();
  }
  for (unsigned g = 0; g < warps; g++) w->warps[g].alive = std::min<unsigned>(WARP, threads - g * WARP), w->warps[g].waiting = 0;
  for (unsigned t = threads; t < warps * WARP; t++) w->fibers[t].state = ENDED;
  std::vector<unsigned> numbers(warps);
  std::iota(numbers.begin(), numbers.end(), 0);
  while (w->alive) {
    int ran = 0;
    unsigned count[ENDED + 1] = {};
    shuffle(numbers, w);
    for (unsigned g : numbers) ran |= run_warp(w, g, threads);
    for (unsigned t = 0; t < threads; t++) count[w->fibers[t].state]++;
    if (!w->alive) break;
    const enum state common = count[IN_BLOCK] ? IN_BLOCK : IN_ALL;
    if (count[common] == w->alive) {
      if (common == IN_ALL && w->others) wait_for_others(w->others);
      for (unsigned t = 0; t < threads; t++)
        if (w->fibers[t].state == common) w->fibers[t].state = READY;
    } else if (count[SPINS]) {
      if (count[SPINS] + count[IN_BLOCK] == w->alive) sched_yield();
      for (unsigned t = 0; t < threads; t++)
        if (w->fibers[t].state == SPINS) w->fibers[t].state = READY;
    } else if (!ran) stuck(w);
  }
}

static worker *begin_worker(const launch &what, const std::function<void()> &thread, together *others, unsigned rank)
{
  if (!mine) mine = std::make_unique<worker>();
  worker *w = mine.get();
  w->run = &thread, w->others = others, w->rank = rank;
  w->random.seed(order() + rank);
  blockDim = what.threads, gridDim = what.blocks;
  return w;
}

static void poison(size_t bytes) { memset(dynamic_shared, 0xff, bytes); }

static uint3 block_of(unsigned long number, dim3 blocks)
{
  return {(unsigned)(number % blocks.x), (unsigned)(number / blocks.x % blocks.y), (unsigned)(number / blocks.x / blocks.y)};
}

/* --- threads of the host for blocks that run together --------------------------------------------------------------------- */

/* Threads are kept for later launches, because their stacks are many pages. */
struct crew {
  std::mutex busy, lock;
  std::condition_variable changed;
  std::vector<std::thread> thread;
  std::vector<unsigned> taken; /* rounds that each thread has begun */
  unsigned round = 0, wanted = 0, left = 0;
  std::function<void(unsigned)> work;

  void run(unsigned count, std::function<void(unsigned)> w)
  {
    std::lock_guard<std::mutex> one(busy);
    std::unique_lock<std::mutex> held(lock);
    work = std::move(w), wanted = left = count, round++;
    taken.resize(std::max<size_t>(taken.size(), count), round - 1);
    while (thread.size() < count) {
      const unsigned me = (unsigned)thread.size();
      thread.emplace_back([this, me] { serve(me); });
    }
    changed.notify_all();
    changed.wait(held, [&] { return left == 0; });
  }

  void serve(unsigned me)
  {
    std::unique_lock<std::mutex> held(lock);
    for (;;) {
      changed.wait(held, [&] { return taken[me] != round; });
      taken[me] = round;
      if (me >= wanted) continue;
      held.unlock();
      work(me);
      held.lock();
      if (--left == 0) changed.notify_all();
    }
  }
};

static crew *the_crew()
{
  static crew *const c = new crew; /* is never destroyed: its threads wait until the process ends */
  return c;
}

void run(const launch &what, const std::function<void()> &thread)
{
  const unsigned long blocks = (unsigned long)what.blocks.x * what.blocks.y * what.blocks.z;
  std::vector<unsigned> numbers(blocks / what.together);
  std::iota(numbers.begin(), numbers.end(), 0);
  if (what.together == 1) {
    worker *w = begin_worker(what, thread, nullptr, 0);
    shuffle(numbers, w);
    for (unsigned b : numbers) poison(what.shared), run_block(w, block_of(b, what.blocks));
    return;
  }
  for (unsigned first : numbers) {
    together t;
    t.blocks = what.together;
    t.anchor.resize(what.together);
    the_crew()->run(what.together, [&](unsigned rank) {
      worker *w = begin_worker(what, thread, &t, rank);
      poison(what.shared);
      t.anchor[rank] = dynamic_shared;
      wait_for_others(&t);
      run_block(w, block_of((unsigned long)first * what.together + rank, what.blocks));
      wait_for_others(&t); /* shared memory of a block that others may still reach */
    });
  }
}

} // namespace emulator
