/* Asynchronous Jacobi iteration on a grid, after Tsai, Nayak, Chow, Anzt, "Implementing asynchronous Jacobi iteration on GPUs"
 * (2022), Algorithms 1 to 3, by blocks of unknowns, and the age of the values that it uses. There is an engine for host threads
 * (stale_host.c), and one for thread blocks of a device (stale_cuda.cu). Both take blocks and their neighbours from here.
 *
 * Age: in its pass p = 1, 2, ... block b reads a neighbour c that has finished q passes. The age is p - q. It is 1 in synchronous
 * Jacobi, 0 in Gauss-Seidel for neighbours before b, and negative if the neighbour is ahead. The paper counts q and gives p. */
#ifndef GMG_STUDY_STALE_H
#define GMG_STUDY_STALE_H

#include <stddef.h>

#ifdef __CUDACC__
#define STALE_BOTH static inline __host__ __device__
#else
#define STALE_BOTH static inline
#endif

/* Assignment of blocks to workers:
 *  sync    Algorithm 1: a barrier after every pass, values from the pass before. It has two buffers instead of a residual, so it
 *          needs one barrier, not two.
 *  static  Algorithm 2: a block belongs to one worker, which does all its passes. Blocks without a worker wait until a worker has
 *          finished.
 *  stride  Algorithm 3, called dynamic in the paper: worker w of W takes blocks w, w + W, ..., and goes on into the next pass.
 *  ticket  A worker takes the next block of the order, and goes on into the next pass. */
enum { STALE_SYNC, STALE_STATIC, STALE_STRIDE, STALE_TICKET, STALE_ASSIGNMENTS };

enum { STALE_SIDES = 7 }; /* the block itself, then its neighbours below and above along each axis */

/* The data of an engine. A device gets it by value as an argument. Its arrays are where the engine runs. */
typedef struct stale_blocks {
  int dim;
  size_t n[3];      /* unknowns along each axis */
  size_t stride[3]; /* strides of x and b, which have a layer of zeros around the unknowns (in 2D none along axis 2) */
  size_t shape[3], count[3], total;
  const int *order;
  const int *behind;   /* [total][STALE_SIDES]: numbers of the block and of its neighbours; -1: a wall */
  double *x[2];        /* sync: values of even and odd passes. Otherwise only x[0] is used */
  const double *b;
  unsigned *done[2];   /* number of passes that a block has finished, for the values in x[0] and x[1] */
  int *age;            /* [stale_rows()][total][STALE_SIDES] */
  int from, to;        /* the ages of passes from .. to - 1 are recorded; from = to: none, and finished passes are not counted */
  int every;           /* every `every`th of these passes is recorded, a power of two, because recording disturbs */
  int assignment;
  int workers;         /* at most as many as blocks, as Algorithm 3 needs; sync and static on a device: one for every block */
} stale_blocks;

/* The first unknown of a block, its size, and the place of its first value. */
typedef struct stale_place {
  size_t at[3], size[3], first;
} stale_place;

STALE_BOTH stale_place stale_place_of(const stale_blocks *s, size_t block)
{
  unsigned number = (unsigned)block; /* a division of 64 bits would take a device as long as the relaxation */
  stale_place p;
  p.first = s->dim == 3 ? s->stride[2] + s->stride[1] + 1 : s->stride[1] + 1; /* after the layer of zeros */
  for (int a = 0; a < 3; a++) {
    const unsigned count = (unsigned)s->count[a], i = number % count;
    number /= count;
    p.at[a] = i * s->shape[a];
    p.size[a] = s->n[a] - p.at[a] < s->shape[a] ? s->n[a] - p.at[a] : s->shape[a];
    p.first += p.at[a] * s->stride[a];
  }
  return p;
}

/* The block on this side; -1: a wall, or no such side. */
STALE_BOTH int stale_behind(const stale_blocks *s, size_t block, int side) { return s->behind[block * STALE_SIDES + (size_t)side]; }

/* Numbers of recorded passes before a pass, and of all; the row of a pass among them, -1: it is not recorded. All blocks record
 * the same passes, so that neighbours are both recorded when they drift apart. */
STALE_BOTH int stale_before(const stale_blocks *s, int pass) { return (pass + s->every - 1) / s->every; }
STALE_BOTH int stale_rows(const stale_blocks *s) { return stale_before(s, s->to) - stale_before(s, s->from); }
STALE_BOTH int stale_row(const stale_blocks *s, int pass)
{
  return pass >= s->from && pass < s->to && (pass & (s->every - 1)) == 0 ? pass / s->every - stale_before(s, s->from) : -1;
}

STALE_BOTH int stale_sides(const stale_blocks *s) { return 1 + 2 * s->dim; }

/* --- on a device (stale_cuda.cu): copies the host's arrays there, does `passes` passes, copies them back. 1 on success --- */
#ifdef __CUDACC__
extern "C" {
#endif
int study_stale_cuda_run(const stale_blocks *on_host, size_t padded, size_t ages, int before, int passes, double *seconds);
int study_stale_cuda_units(void); /* number of multiprocessors */
#ifdef __CUDACC__
}
#endif

#ifndef __CUDACC__
#include "study.h"

/* A grid in blocks. A is the scaled Laplacian: 1 on the diagonal, -1 / (2 dim) beside it. x = 0 at first. */
typedef struct stale_setting {
  int dim;
  size_t n;           /* along each axis */
  size_t block[3];    /* 0: the whole axis. Sizes are made nearly equal, so that no block is thin */
  gmg_block_order order;
  int assignment, workers; /* limited to the number of blocks */
} stale_setting;

typedef struct stale_grid {
  stale_blocks at; /* arrays on the host */
  int *order, *behind;
  double *b;
  size_t padded, ages; /* padded: number of values with their layer of zeros. ages: number of entries of at.age */
  int passes;          /* passes since x was 0 */
} stale_grid;

/* Create and record return 1 on success. A grid of a failed create may be destroyed. b is uniform in (-0.125, 0.125), the same for
   equal sizes. */
int study_stale_create(const stale_setting *w, stale_grid *g);
/* Records the ages of passes from .. to - 1, of every `every`th (a power of two). from = to: of none. */
int study_stale_record(stale_grid *g, int from, int to, int every);
void study_stale_restart(stale_grid *g);
void study_stale_destroy(stale_grid *g);

/* Does more passes. Stores the seconds that they took. Returns 1 on success. */
int study_stale_run_host(stale_grid *g, int passes, double *seconds);
typedef struct stale_norms {
  double residual; /* ||b - A x|| */
  double smooth;   /* ||(I + T) / 2 r||, T = I - A: the residual without its part that alternates from unknown to unknown, which Jacobi does not reduce */
} stale_norms;
stale_norms study_stale_measure(const stale_grid *g);
const double *study_stale_values(const stale_grid *g);

/* --- ages (ages.c) --- */

typedef struct stale_box {
  size_t count;
  double mean, least, q05, q25, median, q75, q95, most;
  double fresh;  /* share of the ages <= 0 */
  double ahead;  /* share of the ages < 0 */
} stale_box;

/* Ages with which blocks that have `target` neighbours read blocks that have `source` neighbours. 0: any number. */
stale_box study_stale_ages(const stale_grid *g, int target, int source);
double study_stale_coupling_age(const stale_grid *g); /* mean over all couplings between unknowns, including those inside blocks */
size_t study_stale_twice(const stale_grid *g);         /* number of recorded passes of a block that began while another worker still had the block */
size_t study_stale_updates(const stale_grid *g);       /* number of block updates, counted by the engine; 0 if nothing is recorded */
#endif
#endif
