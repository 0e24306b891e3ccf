/* Asynchronous Jacobi iteration on a grid, after Tsai, Nayak, Chow, Anzt, "Implementing asynchronous Jacobi iteration on GPUs" (2022),
 * Algorithms 1 to 3, by blocks of unknowns, and the age of the values that it uses. One engine for host threads (stale_host.c), one
 * for thread blocks of a device (stale_cuda.cu); what a block is, and which are its neighbours, both take from here.
 *
 * Age: block b, in its pass p = 1, 2, ..., reads its neighbour c, which has finished q passes: the age is p - q. 1: what synchronous
 * Jacobi uses. 0: what Gauss-Seidel uses of those before it. Below 0: the neighbour is ahead. The paper counts q and names p. */
#ifndef GMG_STUDY_STALE_H
#define GMG_STUDY_STALE_H

#include <stddef.h>

#ifdef __CUDACC__
#define STALE_BOTH static inline __host__ __device__
#else
#define STALE_BOTH static inline
#endif

/* Who relaxes which block in which pass.
 *  sync    Algorithm 1: a barrier after every pass, values of the pass before (two buffers instead of a residual: one barrier, not two)
 *  static  Algorithm 2: a block belongs to one worker, which does all its passes; blocks without a worker wait until one is done
 *  stride  Algorithm 3, there called dynamic: worker w of W takes blocks w, w + W, ..., on into the next pass
 *  ticket  the next block of the order to whoever comes, on into the next pass */
enum { STALE_SYNC, STALE_STATIC, STALE_STRIDE, STALE_TICKET, STALE_ASSIGNMENTS };

enum { STALE_SIDES = 7 }; /* the block itself, then below and above along each axis */

/* What the engines need, as a plain value: a device gets it as an argument. Arrays lie where the engine runs. */
typedef struct stale_blocks {
  int dim;
  size_t n[3];      /* unknowns along each axis */
  size_t stride[3]; /* in x and b, which have a layer of zeros around the unknowns (in 2D: none along axis 2) */
  size_t shape[3], count[3], total;
  const int *order;
  const int *behind;   /* [total][STALE_SIDES]: the block itself, then those beside it; -1: a wall */
  double *x[2];        /* sync: values of even and odd passes; else x[0] alone */
  const double *b;
  unsigned *done[2];   /* passes that a block has finished: of the values in x[0] and x[1] */
  int *age;            /* [stale_rows()][total][STALE_SIDES] */
  int from, to;        /* passes whose ages are recorded; from = to: nothing is, and passes are not counted either */
  int every;           /* of these one in so many is recorded, a power of two: looking disturbs */
  int assignment;
  int workers;         /* no more than blocks, which Algorithm 3 asks for; sync and static on a device: one to every block */
} stale_blocks;

/* Where a block begins, how large it is, and its first value. */
typedef struct stale_place {
  size_t at[3], size[3], first;
} stale_place;

STALE_BOTH stale_place stale_place_of(const stale_blocks *s, size_t block)
{
  unsigned number = (unsigned)block; /* dividing 64 bits takes a device as long as relaxing */
  stale_place p;
  p.first = s->dim == 3 ? s->stride[2] + s->stride[1] + 1 : s->stride[1] + 1; /* behind the layer of zeros */
  for (int a = 0; a < 3; a++) {
    const unsigned count = (unsigned)s->count[a], i = number % count;
    number /= count;
    p.at[a] = i * s->shape[a];
    p.size[a] = s->n[a] - p.at[a] < s->shape[a] ? s->n[a] - p.at[a] : s->shape[a];
    p.first += p.at[a] * s->stride[a];
  }
  return p;
}

/* The block behind a side; -1: there is a wall, or no such side. */
STALE_BOTH int stale_behind(const stale_blocks *s, size_t block, int side) { return s->behind[block * STALE_SIDES + (size_t)side]; }

/* Passes that are recorded, and which of them one is (-1: it is not): the same of all blocks, so that of two that drift apart both are
 * heard. */
STALE_BOTH int stale_before(const stale_blocks *s, int pass) { return (pass + s->every - 1) / s->every; }
STALE_BOTH int stale_rows(const stale_blocks *s) { return stale_before(s, s->to) - stale_before(s, s->from); }
STALE_BOTH int stale_row(const stale_blocks *s, int pass)
{
  return pass >= s->from && pass < s->to && (pass & (s->every - 1)) == 0 ? pass / s->every - stale_before(s, s->from) : -1;
}

STALE_BOTH int stale_sides(const stale_blocks *s) { return 1 + 2 * s->dim; }

/* --- on a device (stale_cuda.cu), for arrays of the host: copies them there, goes on for so many passes, copies them back. 1 on success --- */
#ifdef __CUDACC__
extern "C" {
#endif
int study_stale_cuda_run(const stale_blocks *on_host, size_t padded, size_t ages, int before, int passes, double *seconds);
int study_stale_cuda_units(void); /* multiprocessors */
#ifdef __CUDACC__
}
#endif

#ifndef __CUDACC__
#include "study.h"

/* A grid in blocks, ready to run. Scaled Laplacian: 1 on the diagonal, -1 / (2 dim) beside it; x = 0 at first. */
typedef struct stale_setting {
  int dim;
  size_t n;           /* along each axis */
  size_t block[3];    /* 0: the whole axis; evened out so that none is thin */
  gmg_block_order order;
  int assignment, workers; /* more workers than blocks: as many as blocks */
} stale_setting;

typedef struct stale_grid {
  stale_blocks at; /* arrays on the host */
  int *order, *behind;
  double *b;
  size_t padded, ages; /* values with their layer of zeros; places in at.age */
  int passes;          /* done since x was 0 */
} stale_grid;

/* Both return 1 on success; what is destroyed may be half made. b is uniform in (-0.125, 0.125), the same for the same size. */
int study_stale_create(const stale_setting *w, stale_grid *g);
/* Ages of passes from .. to - 1, of one in `every` (a power of two); from = to: of none. */
int study_stale_record(stale_grid *g, int from, int to, int every);
void study_stale_restart(stale_grid *g);
void study_stale_destroy(stale_grid *g);

/* Goes on for so many passes. Where it can, says how long it took. Returns 1 on success. */
int study_stale_run_host(stale_grid *g, int passes, double *seconds);
typedef struct stale_norms {
  double residual; /* ||b - A x|| */
  double smooth;   /* ||(I + T) / 2 r||, T = I - A: without what changes its sign from one unknown to the next, which Jacobi leaves alone */
} stale_norms;
stale_norms study_stale_measure(const stale_grid *g);
const double *study_stale_values(const stale_grid *g);

/* --- ages (ages.c) --- */

typedef struct stale_box {
  size_t count;
  double mean, least, q05, q25, median, q75, q95, most;
  double fresh;  /* share of ages <= 0 */
  double ahead;  /* share of ages < 0 */
} stale_box;

/* Of blocks with `target` neighbours that read blocks with `source` of them; 0: any. */
stale_box study_stale_ages(const stale_grid *g, int target, int source);
double study_stale_coupling_age(const stale_grid *g); /* mean over all couplings between unknowns, those inside blocks with it */
size_t study_stale_twice(const stale_grid *g);         /* recorded passes of a block that another worker still had */
size_t study_stale_updates(const stale_grid *g);       /* of blocks, counted by the engine; 0 where nothing is recorded */
#endif
#endif
