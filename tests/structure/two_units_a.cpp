// Includes every header in two translation units of one program: a function that is not inline is
// defined twice.
#include "every_header.hpp"
#include "two_units.hpp"

int main() { return two_units_other(); }
