/* Red-black on CUDA, which relaxes both colours in one pass, against the host, which relaxes red and then black. */
#include "twins.h"

static const double shifts[] = {0, 1};

/* Red-black on the finest level: one to three steps, reversed, from zero. */
static void red_black_agrees(const char *name, const gmg_problem *p)
{
  gmg_params q = params_for_cycles();
  static const struct {
    const char *name;
    int steps, from_zero;
    gmg_leg leg;
  } sweeps[] = {{"one step", 1, 0, GMG_LEG_DOWN},          {"two steps", 2, 0, GMG_LEG_DOWN},
                {"three steps", 3, 0, GMG_LEG_DOWN},       {"reversed", 1, 0, GMG_LEG_UP_REVERSED},
                {"two from zero", 2, 1, GMG_LEG_DOWN},     {"three from zero", 3, 1, GMG_LEG_DOWN}};
  q.smoother = gmg_smoother_by_name("red_black"), q.precision = GMG_PRECISION_SAME;
  q.coarse_cells = 2; /* no level above is the coarsest, which has no smoother */
  both b = begin_both(p, &q, name);
  for (int i = 0; i < COUNT(sweeps); i++)
    same_sweeps(name, sweeps[i].name, &b, 0, sweeps[i].steps, sweeps[i].leg, sweeps[i].from_zero, 64);
  end_both(&b);
}

/* On large levels, and on all levels in 1D, both colours are relaxed in one pass: in place, from one field to another, or from
   zero. */
static void fused_red_black_agrees(void **state)
{
  (void)state;
  static const shape s[] = {{3, {80, 82, 84}, GMG_CELL, "dddddd"},  {3, {97, 57, 101}, GMG_CELL, "dnnddr"},
                            {3, {80, 82, 84}, GMG_CELL, "pppppp"},  {3, {91, 89, 70}, GMG_VERTEX, "ddddpp"},
                            {3, {28, 26, 700}, GMG_CELL, "pppppp"}, {3, {500, 400, 3}, GMG_CELL, "ddppdn"},
                            {3, {3, 500, 400}, GMG_CELL, "ddddpp"}, {3, {400, 5, 301}, GMG_VERTEX, "dddddd"},
                            {2, {1000, 601, 1}, GMG_CELL, "dddn"},  {2, {702, 800, 1}, GMG_CELL, "pppp"},
                            {2, {3, 170001, 1}, GMG_CELL, "dddd"},  {2, {100001, 6, 1}, GMG_VERTEX, "ddpp"},
                            {1, {4, 1, 1}, GMG_CELL, "pp"},         {1, {511, 1, 1}, GMG_VERTEX, "dd"}, /* one thread block */
                            {1, {514, 1, 1}, GMG_CELL, "pp"},       {1, {1025, 1, 1}, GMG_CELL, "pp"},  /* the seam of the periodic axis needs phases */
                            {1, {100001, 1, 1}, GMG_CELL, "dn"},    {1, {99998, 1, 1}, GMG_VERTEX, "nr"}};
  for (int g = 0; g < (int)(sizeof s / sizeof *s); g++)
    for (int type = 0; type < 2; type++) {
      gmg_problem p = shaped_problem(&s[g]);
      if (!taken(unknowns(&p))) continue;
      char name[100];
      p.type = (gmg_type)type, p.shift = ROUND_ROBIN(shifts, g);
      snprintf(name, sizeof name, "red_black %dD, grid %d, type %d", p.dim, g, type);
      red_black_agrees(name, &p);
    }
}

/* Red-black in 1D with all kinds of coefficients and stretched axes, in one thread block and in several. */
static void red_black_in_line_agrees(void **state)
{
  (void)state;
  static const shape s[] = {{1, {512, 1, 1}, GMG_CELL, "pp"},    {1, {509, 1, 1}, GMG_VERTEX, "dd"},  {1, {300, 1, 1}, GMG_CELL, "nr"},
                            {1, {2050, 1, 1}, GMG_CELL, "pp"},   {1, {1026, 1, 1}, GMG_VERTEX, "pp"}, {1, {10007, 1, 1}, GMG_CELL, "dn"},
                            {1, {5000, 1, 1}, GMG_VERTEX, "rd"}, {1, {513, 1, 1}, GMG_CELL, "dd"}};
  static const struct {
    const char *name;
    int beta, sigma, faces, stretched;
  } kinds[] = {{"stretched", 0, 0, 0, 1},
               {"beta", 1, 0, 0, 0},
               {"beta, stretched", 1, 0, 0, 1},
               {"sigma", 0, 1, 0, 0},
               {"sigma, stretched", 0, 1, 0, 1},
               {"beta and sigma", 1, 1, 0, 0},
               {"beta and sigma, stretched", 1, 1, 0, 1},
               {"faces", 0, 0, 1, 0},
               {"faces, stretched", 0, 0, 1, 1},
               {"faces and sigma", 0, 1, 1, 0},
               {"faces and sigma, stretched", 0, 1, 1, 1}};
  for (int g = 0; g < COUNT(s); g++)
    for (int k = 0; k < COUNT(kinds); k++)
      for (int type = 0; type < 2; type++) {
        gmg_problem p = shaped_problem(&s[g]);
        if (!taken(unknowns(&p))) continue;
        const size_t n = unknowns(&p);
        const gmg_axis_spec axis = gmg_axis_spec_of(&p, 0);
        const size_t positions = gmg_axis_intervals(&axis) + 1;
        double *x = field(positions, 0);
        char name[100];
        p.type = (gmg_type)type, p.shift = ROUND_ROBIN(shifts, g);
        void *beta = rough(&p, n, 100, 51), *face = rough(&p, n + 1, 100, 54), *sigma = rough(&p, n, 1000, 52);
        for (size_t i = 0; i < positions; i++) x[i] = ((double)i + 0.3 * sin((double)i)) / (double)positions;
        if (kinds[k].stretched) p.coord[0] = x;
        if (kinds[k].beta) p.beta = beta;
        if (kinds[k].faces) p.beta_face[0] = face;
        if (kinds[k].sigma) p.sigma = sigma;
        snprintf(name, sizeof name, "red_black 1D, grid %d, %s, type %d", g, kinds[k].name, type);
        red_black_agrees(name, &p);
        free(x), free(beta), free(face), free(sigma);
      }
}

int main(int argc, char **argv)
{
  only(argc, argv);
  if (without_device()) return SKIPPED;
  const struct CMUnitTest tests[] = {cmocka_unit_test(fused_red_black_agrees), cmocka_unit_test(red_black_in_line_agrees)};
  return run_selected(tests);
}
