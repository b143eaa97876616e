/*
 * Gauss-Legendre quadrature over pressure, from the surface to p, for the integrals of TEOS-10.
 */
#ifndef EOS_QUADRATURE_H
#define EOS_QUADRATURE_H

#include "directives.h"
#include "variant.h"

/* One pair of nodes on [0, 1], x and 1 - x, which share their weight. */
struct node_pair {
    double x, weight;
};

enum { MOST_PAIRS = 8 };

/* The rule with 2, 3, 4, 5 or 8 pairs. `pairs` is a literal, so the whole rule is known when a loop
 * is compiled. */
INLINED const struct node_pair *quadrature_rule(int pairs)
{
    static const struct node_pair rules[][MOST_PAIRS] = {
        {{0.069431844202973712388, 0.17392742256872692869},
         {0.33000947820757186760, 0.32607257743127307131}},
        {{0.033765242898423986094, 0.085662246189585172520},
         {0.16939530676686774317, 0.18038078652406930378},
         {0.38069040695840154568, 0.23395696728634552369}},
        {{0.019855071751231884158, 0.050614268145188129576},
         {0.10166676129318663020, 0.11119051722668723527},
         {0.23723379504183550709, 0.15685332293894364367},
         {0.40828267875217509753, 0.18134189168918099148}},
        {{0.013046735741414139961, 0.033335672154344068797},
         {0.067468316655507744634, 0.074725674575290296573},
         {0.16029521585048779688, 0.10954318125799102200},
         {0.28330230293537640460, 0.13463335965499817755},
         {0.42556283050918439456, 0.14776211235737643509}},
        {{0.0052995325041750337019, 0.013576229705877047426},
         {0.027712488463383711961, 0.031126761969323946431},
         {0.067184398806084128060, 0.047579255841246392405},
         {0.12229779582249848305, 0.062314485627766936026},
         {0.19106187779867812578, 0.074797994408288366041},
         {0.27099161117138630683, 0.084578259697501269095},
         {0.35919822461037054338, 0.091301707522461794433},
         {0.45249374508118127991, 0.094725305227534248143}},
    };
    return rules[pairs < 6 ? pairs - 2 : 4];
}

/* How many pairs leave an error of at most 1e-14 of a level's largest value at this pressure, for
 * salinities to 42. Saltier water takes the error to 5e-14 at 7000 dbar. */
INLINED int quadrature_pairs(real p)
{
    return p <= 1400 ? 2 : p <= 4300 ? 3 : p <= 7000 ? 4 : p <= 9000 ? 5 : 8;
}

#endif
