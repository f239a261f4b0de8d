// Includes every header under gnu++20, then uses names that a macro could replace (<complex.h>
// defines I).
#include "every_header.hpp"

struct I;
struct X;
struct J;
struct K;
struct Y;
