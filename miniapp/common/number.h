/* Numbers in small text files, such as those in /proc and /sys. */
#ifndef NUMBER_H
#define NUMBER_H

/* The number in the first line that matches `format`, which is scanf's and has one %lf; NAN if no
 * line does or there is no such file. */
double number_in(const char *path, const char *format);

#endif
