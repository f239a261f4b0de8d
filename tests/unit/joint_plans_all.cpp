// The programs of joint_plans.cpp, of which CI draws a sample.
// OPTIMIZE: 1
// WHEN: all
#define SHARDTYPE_PROGRAMS 500
#include "joint_plans.cpp"
