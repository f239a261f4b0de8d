#pragma once

int two_units_other();
