// Training.
#include <shardtype/train/mapped_file.ipp>
#include <shardtype/train/token_file.ipp>
