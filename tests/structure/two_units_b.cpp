#include "every_header.hpp"
#include "two_units.hpp"

int two_units_other() { return 0; }
