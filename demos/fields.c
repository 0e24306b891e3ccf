/* Fields as HDF5 datasets [n2][n1][n0] with the attributes h, origin (position of the first unknown; both in the order
 * of the axes) and centering, and an XDMF file that tells ParaView how to read them. XDMF lists axes slowest first.
 * Cell-centred fields are attributes of cells, vertex-centred ones of nodes. The XDMF grid always has three axes, one
 * thin cell or one node along missing axes, because ParaView's reader turns 2D uniform grids into the y-z plane,
 * seen edge-on. A 1D field becomes a row of cells around its unknowns. */
#include "demo.h"
#include "ranks.h"

#if defined DEMO_MPI
#include <mpi.h>
#endif

#include <hdf5.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int write_numbers(hid_t owner, const char *name, const double *value, hsize_t count)
{
  const hid_t space = H5Screate_simple(1, &count, NULL);
  const hid_t attribute = H5Acreate2(owner, name, H5T_NATIVE_DOUBLE, space, H5P_DEFAULT, H5P_DEFAULT);
  const int ok = attribute >= 0 && H5Awrite(attribute, H5T_NATIVE_DOUBLE, value) >= 0;
  if (attribute >= 0) H5Aclose(attribute);
  if (space >= 0) H5Sclose(space);
  return ok;
}

static int write_text(hid_t owner, const char *name, const char *value)
{
  const hid_t type = H5Tcopy(H5T_C_S1), space = H5Screate(H5S_SCALAR);
  const int sized = type >= 0 && H5Tset_size(type, strlen(value) + 1) >= 0;
  const hid_t attribute = sized ? H5Acreate2(owner, name, type, space, H5P_DEFAULT, H5P_DEFAULT) : -1;
  const int ok = attribute >= 0 && H5Awrite(attribute, type, value) >= 0;
  if (attribute >= 0) H5Aclose(attribute);
  if (space >= 0) H5Sclose(space);
  if (type >= 0) H5Tclose(type);
  return ok;
}

/* With parallel HDF5 several processes write one file together. Otherwise the first writes what the others send. */
#if defined H5_HAVE_PARALLEL && defined DEMO_MPI
static int all_write(void) { return demo_ranks() > 1; }

static hid_t create_file(const char *path)
{
  const hid_t access = H5Pcreate(H5P_FILE_ACCESS);
  if (all_write() && H5Pset_fapl_mpio(access, MPI_COMM_WORLD, MPI_INFO_NULL) < 0) return -1;
  const hid_t file = H5Fcreate(path, H5F_ACC_TRUNC, H5P_DEFAULT, access);
  H5Pclose(access);
  return file;
}
#else
static int all_write(void) { return 0; }
static hid_t create_file(const char *path) { return H5Fcreate(path, H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT); }
#endif

static int writes(void) { return demo_rank() == 0 || all_write(); }

/* Datasets are of the processes' own type: float or double. */
static hid_t type_of(const gmg_problem *p) { return p->type == GMG_F32 ? H5T_NATIVE_FLOAT : H5T_NATIVE_DOUBLE; }

static int write_box(hid_t set, const gmg_problem *p, const demo_box *box, const void *data)
{
  hsize_t first[3], n[3];
  for (int a = 0; a < p->dim; a++) first[p->dim - 1 - a] = box->first[a], n[p->dim - 1 - a] = box->n[a];
  const hid_t here = H5Screate_simple(p->dim, n, NULL), there = H5Dget_space(set);
  const int ok = here >= 0 && there >= 0 && H5Sselect_hyperslab(there, H5S_SELECT_SET, first, NULL, n, NULL) >= 0 &&
                 H5Dwrite(set, type_of(p), here, there, H5P_DEFAULT, data) >= 0;
  if (here >= 0) H5Sclose(here);
  if (there >= 0) H5Sclose(there);
  return ok;
}

/* Writes this process's box, and in the first process those that the others send. They send even after a failure. */
static int write_boxes(hid_t set, const gmg_problem *p, const demo_box *mine, const void *data, void *room)
{
  int ok = !writes() || (set >= 0 && write_box(set, p, mine, data));
  for (int r = 1; r < demo_ranks() && !all_write(); r++) {
    demo_box box;
    demo_ranks_bring(r, mine, data, p->type == GMG_F32 ? sizeof(float) : sizeof(double), &box, room);
    if (demo_rank() == 0) ok = ok && write_box(set, p, &box, room);
  }
  return ok;
}

static hid_t create_dataset(hid_t file, const gmg_problem *p, const char *name)
{
  hsize_t shape[3];
  double origin[3];
  for (int a = 0; a < p->dim; a++) {
    shape[p->dim - 1 - a] = p->n[a];
    origin[a] = demo_position(p, a, 0);
  }
  const hid_t space = H5Screate_simple(p->dim, shape, NULL);
  const hid_t set = H5Dcreate2(file, name, type_of(p), space, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
  int ok = set >= 0;
  ok = ok && write_numbers(set, "h", p->h, (hsize_t)p->dim) && write_numbers(set, "origin", origin, (hsize_t)p->dim);
  ok = ok && write_text(set, "centering", demo_word_of(demo_centering_words, (int)p->centering));
  if (space >= 0) H5Sclose(space);
  if (ok || set < 0) return set;
  H5Dclose(set);
  return -1;
}

static int write_hdf5(const char *path, const gmg_problem *p, const demo_box *mine, const demo_named_field *field, size_t count,
                      void *room)
{
  H5Eset_auto2(H5E_DEFAULT, NULL, NULL); /* the caller prints one line about the error */
  const hid_t file = writes() ? create_file(path) : -1;
  int ok = !writes() || file >= 0;
  for (size_t i = 0; i < count; i++) {
    if (!field[i].data) continue;
    const hid_t set = file >= 0 ? create_dataset(file, p, field[i].name) : -1;
    ok &= write_boxes(set, p, mine, field[i].data, room);
    if (set >= 0) H5Dclose(set);
  }
  if (file >= 0) ok &= H5Fclose(file) >= 0;
  return ok;
}

/* "name.h5" -> "name.xdmf"; without the ending the new one is appended. */
static char *sidecar_path(const char *path)
{
  const size_t length = strlen(path), stem = length > 3 && !strcmp(path + length - 3, ".h5") ? length - 3 : length;
  char *sidecar = malloc(stem + sizeof ".xdmf");
  if (sidecar) sprintf(sidecar, "%.*s.xdmf", (int)stem, path);
  return sidecar;
}

/* One grid axis of the XDMF file: nodes, position of the first node, spacing; on a stretched axis the number of the axis. */
typedef struct line {
  size_t nodes;
  double origin, spacing;
  int axis;
} line;

/* Fills lines, the slowest axis first. Returns 1 for values on cells, 0 for values on nodes. */
static int grid_lines(const gmg_problem *p, line lines[3])
{
  const int on_cells = p->centering == GMG_CELL || p->dim == 1;
  for (int a = 0; a < 3; a++) {
    line *l = &lines[2 - a];
    if (a < p->dim)
      *l = (line){p->n[a] + (size_t)on_cells, demo_position(p, a, 0) - (on_cells ? 0.5 * p->h[a] : 0), p->h[a], a};
    else /* one thin cell, or one node */
      *l = (line){1 + (size_t)on_cells, 0, 0.02 * demo_length(p, 0), a};
  }
  return on_cells;
}

static void print_values(FILE *file, const line lines[3], const char *name, int spacing)
{
  fprintf(file, "        <DataItem Name=\"%s\" Dimensions=\"3\" NumberType=\"Float\" Precision=\"8\" Format=\"XML\">",
          name);
  for (int i = 0; i < 3; i++) fprintf(file, "%s%.17g", i ? " " : "", spacing ? lines[i].spacing : lines[i].origin);
  fprintf(file, "</DataItem>\n");
}

/* Positions of the nodes along an axis. On stretched axes cells lie between the positions of coord. */
static void print_nodes(FILE *file, const gmg_problem *p, const line *l)
{
  const double *x = p->coord[l->axis];
  fprintf(file, "        <DataItem Dimensions=\"%zu\" NumberType=\"Float\" Precision=\"8\" Format=\"XML\">", l->nodes);
  for (size_t i = 0; i < l->nodes; i++) {
    const double uniform = l->origin + (double)i * l->spacing;
    fprintf(file, "%s%.17g", i ? " " : "", !x ? uniform : p->centering == GMG_CELL ? x[i] : demo_position(p, l->axis, i));
  }
  fprintf(file, "</DataItem>\n");
}

static void print_geometry(FILE *file, const gmg_problem *p, const line lines[3])
{
  const int stretched = p->coord[0] || p->coord[1] || p->coord[2];
  fprintf(file, "      <Topology TopologyType=\"%s\" Dimensions=\"%zu %zu %zu\"/>\n", stretched ? "3DRectMesh" : "3DCoRectMesh",
          lines[0].nodes, lines[1].nodes, lines[2].nodes);
  fprintf(file, "      <Geometry GeometryType=\"%s\">\n", stretched ? "VXVYVZ" : "ORIGIN_DXDYDZ");
  if (stretched)
    for (int i = 2; i >= 0; i--) print_nodes(file, p, &lines[i]);
  else
    print_values(file, lines, "Origin", 0), print_values(file, lines, "Spacing", 1);
  fprintf(file, "      </Geometry>\n");
}

static void print_attribute(FILE *file, const gmg_problem *p, const char *name, const char *data_file, int on_cells)
{
  const char *where = on_cells ? "Cell" : "Node";
  fprintf(file, "      <Attribute Name=\"%s\" AttributeType=\"Scalar\" Center=\"%s\">\n", name, where);
  fprintf(file, "        <DataItem Dimensions=\"%zu %zu %zu\" NumberType=\"Float\" Precision=\"%d\" Format=\"HDF\">",
          p->n[2], p->n[1], p->n[0], p->type == GMG_F32 ? 4 : 8);
  fprintf(file, "%s:/%s</DataItem>\n      </Attribute>\n", data_file, name);
}

static int write_xdmf(const char *path, const char *data_path, const gmg_problem *p, const demo_named_field *field,
                      size_t count)
{
  const char *slash = strrchr(data_path, '/'), *data_file = slash ? slash + 1 : data_path;
  line lines[3];
  const int on_cells = grid_lines(p, lines);
  FILE *file = fopen(path, "w");
  if (!file) return 0;
  fprintf(file, "<?xml version=\"1.0\" ?>\n<Xdmf Version=\"2.0\">\n  <Domain>\n"
                "    <Grid Name=\"gmg\" GridType=\"Uniform\">\n");
  print_geometry(file, p, lines);
  for (size_t i = 0; i < count; i++)
    if (field[i].data) print_attribute(file, p, field[i].name, data_file, on_cells);
  fprintf(file, "    </Grid>\n  </Domain>\n</Xdmf>\n");
  const int ok = !ferror(file);
  return (fclose(file) == 0) & ok;
}

int demo_fields_write_boxes(const demo_options *o, const gmg_problem *p, const demo_box *mine, const demo_named_field *field,
                            size_t count)
{
  char *sidecar = sidecar_path(o->output);
  const int brings = demo_ranks() > 1 && !all_write();
  const size_t largest = brings ? demo_ranks_largest(mine) : 1;
  void *room = malloc(largest * sizeof(double));
  int failed = sidecar && room ? 0 : demo_fail(o, "--output %s: out of memory", o->output);
  failed = demo_ranks_agree(o, failed);
  if (!failed && !write_hdf5(o->output, p, mine, field, count, room))
    failed = demo_fail(o, "--output %s: could not be written", o->output);
  if (!failed && demo_rank() == 0 && !write_xdmf(sidecar, o->output, p, field, count))
    failed = demo_fail(o, "%s: could not be written", sidecar);
  free(sidecar), free(room);
  return demo_ranks_agree(o, failed);
}

int demo_fields_write(const demo_options *o, const gmg_problem *p, const demo_named_field *field, size_t count)
{
  const demo_box all = {{0}, {p->n[0], p->n[1], p->n[2]}};
  return demo_fields_write_boxes(o, p, &all, field, count);
}
