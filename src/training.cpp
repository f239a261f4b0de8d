// Training.
#include <shardtype/train/token_file.ipp>
