// Every header under gnu++20, then names that a careless macro would eat (<complex.h> defines I).
#include "every_header.hpp"

struct I;
struct X;
struct J;
struct K;
struct Y;
