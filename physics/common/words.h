/*
 * The directives of a variant as texts. A generated file, words_of_NAME.c, defines
 *   WORDS               words_of_NAME
 *   PHYSICS_DIRECTIVES  the variant's header
 * and includes this. A word that the variant leaves empty has the text "".
 */
#define PRAGMA(...) PRAGMA_OF(__VA_ARGS__)
#define PRAGMA_OF(...) "#pragma " #__VA_ARGS__ "\n"
#define TWO_WAVES

#include PHYSICS_DIRECTIVES

extern const char *const WORDS[];

/* Pairs of a word and its text; NULL ends them. */
const char *const WORDS[] = {
    "PARALLEL_ROWS",
    "" PARALLEL_ROWS,
    "PARALLEL_ROWS_SUM(s, turns)",
    "" PARALLEL_ROWS_SUM(s, turns),
    "PARALLEL_COLUMNS",
    "" PARALLEL_COLUMNS,
    "ALONG_X",
    "" ALONG_X,
    "ALONG_X_SUM(s)",
    "" ALONG_X_SUM(s),
    "ONCE",
    "" ONCE,
    0,
};
