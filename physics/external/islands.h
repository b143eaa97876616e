/*
 * The land masses of an ocean, each with its coast: corners of which some cells are water and some
 * are this land. The streamfunction is constant along a coast; that of the northern wall is 0.
 * Masses that touch at a corner are one.
 */
#ifndef PHYSICS_ISLANDS_H
#define PHYSICS_ISLANDS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A corner's kind: in water, inside land, or, from 1 on, the number of the mass whose coast it is
 * on. */
enum { IN_WATER = -1, IN_LAND = 0 };

/* Cells of a grid of nx x ny, or their north-eastern corners, and a ring of land around them: cell
 * (i, j), with i from 1 to nx, lies at j * stride + i. */
struct land_map {
    ptrdiff_t nx, ny, stride;
    const double *water; /* cells: not 0 */
    bool is_cyclic;
    int32_t *mass; /* of a cell of land, from 1; 0 in water */
    ptrdiff_t *stack;
    int32_t masses;
};

/* The element of a neighbouring cell, or -1 beyond the ring. */
static inline ptrdiff_t beside(const struct land_map *m, ptrdiff_t o, ptrdiff_t di, ptrdiff_t dj)
{
    const ptrdiff_t nx = m->nx, ny = m->ny, stride = m->stride;
    const ptrdiff_t j = o / stride + dj;
    ptrdiff_t i = o % stride + di;
    if (m->is_cyclic)
        i = (i + nx - 1) % nx + 1;
    return i < 0 || i > nx + 1 || j < 0 || j > ny + 1 ? -1 : j * stride + i;
}

/* Gives a number to all land that hangs together with a cell. */
static inline void number_mass(struct land_map *m, ptrdiff_t from, int32_t number)
{
    ptrdiff_t waiting = 0;
    m->mass[from] = number;
    m->stack[waiting++] = from;
    while (waiting > 0) {
        const ptrdiff_t o = m->stack[--waiting];
        for (ptrdiff_t n = 0; n < 9; n++) {
            const ptrdiff_t other = beside(m, o, n % 3 - 1, n / 3 - 1);
            if (other < 0 || m->water[other] != 0 || m->mass[other] > 0)
                continue;
            m->mass[other] = number;
            m->stack[waiting++] = other;
        }
    }
}

/* From north to south, then from west to east. The northern wall is the first, as in Veros; other
 * numbers show nowhere but in the order of sums, and may be others than Veros's, which has ghost
 * columns in the west, and so begins with what lies in the far east of a cyclic ocean. */
static inline void number_masses(struct land_map *m)
{
    const ptrdiff_t first = m->is_cyclic ? 1 : 0;
    for (ptrdiff_t j = m->ny + 1; j >= 0; j--)
        for (ptrdiff_t i = first; i <= m->nx + 1 - first; i++) {
            const ptrdiff_t o = j * m->stride + i;
            if (m->water[o] == 0 && m->mass[o] == 0)
                number_mass(m, o, ++m->masses);
        }
}

/* The kind of the corner to the north-east of a cell. */
static inline int32_t kind_of_corner(const struct land_map *m, ptrdiff_t o)
{
    int32_t land = 0;
    ptrdiff_t water = 0;
    for (ptrdiff_t n = 0; n < 4; n++) {
        const ptrdiff_t cell = beside(m, o, n % 2, n / 2);
        land = m->mass[cell] > 0 ? m->mass[cell] : land;
        water += m->mass[cell] == 0;
    }
    return water == 4 ? IN_WATER : water > 0 ? land : IN_LAND;
}

#endif
