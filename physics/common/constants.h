/* Constants of an ocean that has one reference density, in SI units. */
#ifndef CONSTANTS_H
#define CONSTANTS_H

#define RHO_0 1024
#define GRAVITY 9.81
#define HEAT_CAPACITY 3991.86795711963 /* TEOS-10's cp0, of Conservative Temperature */

#endif
