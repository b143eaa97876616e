/*
 * How many nodes the quadrature of TEOS-10 takes from the surface to a pressure. It is plain C but
 * for INLINED and `real`, because the tables count flops with it, too.
 */
#ifndef EOS_NODES_H
#define EOS_NODES_H

enum { FEWEST_NODES = 3, MOST_NODES = 16 };

/* The number of nodes for an error of at most 1e-14 of a level's largest value, for salinities up
 * to 42. In saltier water the error reaches 5e-14 at 7000 dbar. */
INLINED int quadrature_nodes(real p)
{
    if (p <= 2800)
        return p <= 400 ? 3 : p <= 1400 ? 4 : 5;
    return p <= 4300 ? 6 : p <= 5700 ? 7 : p <= 7000 ? 8 : p <= 9000 ? 10 : MOST_NODES;
}

/* How many pairs they form about the middle, where an odd number has one node more. */
INLINED int quadrature_pairs(real p)
{
    return quadrature_nodes(p) / 2;
}

#endif
