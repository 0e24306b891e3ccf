/* The operator of a level: three axes put into exec's memory. */
#include "stencil.h"

static const gmg_stencil_ops *const backends[][2] = {
    [GMG_BACKEND_HOST] = {&gmg_stencil_host_f32, &gmg_stencil_host_f64},
};

const gmg_stencil_ops *gmg_stencil_of(const gmg_exec *e) { return backends[e->backend][e->type]; }

gmg_status gmg_operator_create(gmg_exec *e, int dim, const gmg_axis axis[3], double shift, gmg_operator *A)
{
  *A = (gmg_operator){.type = e->type, .centering = axis[0].spec.centering, .dim = dim, .cells = 1, .shift = shift};
  for (int a = 0; a < 3; a++) {
    const gmg_axis *x = &axis[a];
    A->n[a] = x->n;
    A->cells *= x->n;
    A->h[a] = x->h;
    A->wraps[a] = gmg_axis_periodic(x) && x->n > 1;
    A->coupling[a] = x->n > 1 ? 1 / (x->h * x->h) : 0;
    if (x->n == 1) A->lone += x->diag[0];
    const struct {
      const double *from;
      const void **to;
    } reals[] = {{x->lo, &A->lo[a]}, {x->hi, &A->hi[a]}, {x->diag, &A->diag[a]}, {x->weight, &A->weight[a]}};
    for (int i = 0; i < 4; i++) {
      void *p = NULL;
      GMG_TRY(gmg_exec_reals(e, "axis coefficients", x->n, reals[i].from, &p));
      *reals[i].to = p;
    }
    void *below = NULL, *above = NULL;
    GMG_TRY(gmg_exec_ints(e, "axis neighbours", x->n, x->below, &below));
    A->below[a] = below;
    GMG_TRY(gmg_exec_ints(e, "axis neighbours", x->n, x->above, &above));
    A->above[a] = above;
  }
  return GMG_OK;
}

void gmg_operator_destroy(gmg_exec *e, gmg_operator *A)
{
  for (int a = 0; a < 3; a++) {
    const size_t reals = A->n[a] * e->real_size, ints = A->n[a] * sizeof(int);
    gmg_exec_release(e, (void *)A->lo[a], reals);
    gmg_exec_release(e, (void *)A->hi[a], reals);
    gmg_exec_release(e, (void *)A->diag[a], reals);
    gmg_exec_release(e, (void *)A->weight[a], reals);
    gmg_exec_release(e, (void *)A->below[a], ints);
    gmg_exec_release(e, (void *)A->above[a], ints);
  }
  *A = (gmg_operator){0};
}

double gmg_operator_sink(const gmg_operator *A) { return A->lone + A->shift; }

double gmg_remove_mean(const gmg_exec *e, const gmg_operator *A, double volume, void *x)
{
  const double mean = gmg_stencil_of(e)->dot(e, A, x, NULL) / volume;
  e->vector->add(e, A->cells, -mean, x);
  return mean;
}
