/*
 * The one format that the library reads, and run/make-input writes: an HDF5 file that is a valid
 * netCDF-4 file.
 *
 * - A field is a dataset of the root group, under the field's own name. It lies on the field's axes
 *   in the order (z, y, x), x fastest. Levels go from the bottom up, rows from the south.
 * - The numbers are plain: of any integer, floating-point or boolean type, not packed, all written,
 *   and stored in the file itself.
 * - The attribute `units` is that of the table, or absent.
 * - Forcing that changes in time has a leading axis of records, and an attribute `period`, the
 *   seconds after which they begin again.
 * - Values are finite. On water they lie in the field's range; on land they lie in it or are 0.
 * - A mask is 1 on water and 0 on land; `kbot` is 1 + the index of the deepest wet level, 0 on
 * land. No land lies above water. The masks agree with each other: a face is open between cells of
 *   water only.
 * - Attributes of the root group: `halo`, 0 for a file without ghost cells or 2 for a file whose
 *   outer two rings are ghosts; `cyclic_x`, 0 (or absent) or 1; and settings, by their names.
 * - The attribute `southern_wall` of `psi`, `psi_taum1`, `dpsi` and `dpsi_taum1`, in a file without
 *   ghosts: a number for each column, of corners on the southern wall; 0 where it is absent.
 *
 * All else is ignored: other datasets, other attributes, and dimension scales, whose coordinates
 * outputs copy.
 */
#ifndef FORMAT_H
#define FORMAT_H

/* Where a message ends about a file in another layout; it takes the file's path. */
#define TURN_INTO_INPUT "; 'run/make-input %s -o grid.h5' turns such a file into an input"

/* Where a message ends about datasets that are absent; it takes the file's path. */
#define ADD_TO_INPUT                                                                               \
    "; 'run/make-input %s -o grid.h5' adds masks and, by --variable NAME=THEIRS or --default "     \
    "NAME=VALUE, other fields"

/* Where it ends if only a flow is absent, as from an input that starts from rest. */
#define START_FROM_REST "; '-k ocean' or '-k ocean --steps N' starts from rest"

#endif
